"""Results of cases: one line of JSON per case, in a folder per commit, so that a battery goes on where it was ended."""

import json
import subprocess
from pathlib import Path


def commit(repo):
    """The commit of the working tree; with changes, also a hash of them: their results are those of no commit."""
    def git(*words, **options):
        return subprocess.run(["git", "-C", repo, *words], check=True, stdout=subprocess.PIPE, **options).stdout

    name = git("rev-parse", "--short=12", "HEAD", text=True).strip()
    # The battery's own files are left out: a new case does not make the others' results worthless.
    changes = git("diff", "HEAD", "--", ".", ":!ci", ":!docs")
    if changes:
        name += "-" + git("hash-object", "--stdin", input=changes).decode()[:8]
    return name


class Results:
    """The folder of one commit."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        return self.folder / f"{name}.json"

    def write(self, result):
        # Complete or absent, whenever the battery is ended.
        part = self.path(result["name"]).with_suffix(".part")
        part.write_text(json.dumps(result, separators=(",", ":")) + "\n", encoding="utf-8")
        part.rename(self.path(result["name"]))

    def read(self, case):
        """The result of this case, None without one or if the case was another one then."""
        try:
            result = json.loads(self.path(case["name"]).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return result if result["case"] == json.loads(json.dumps(case)) else None
