"""Results of cases: one line of JSON per case, in a folder per commit, so that a battery goes on where it was ended."""

import json
import subprocess
from pathlib import Path


#: What the programs are made of. A change of a document or of the battery itself does not make results worthless.
PROGRAMS = ("Cargo.lock", "Cargo.toml", "agent-static", "boards", "bpf", "cli", "engine", "host-analyzer", "scratch", "secure", "wire",
            ":(exclude,glob)**/tests/**")


def commit(repo):
    """The last commit that changed the programs; with changes of the working tree, also a hash of them: their results are those of no commit."""
    def git(*words, **options):
        return subprocess.run(["git", "-C", repo, *words], check=True, stdout=subprocess.PIPE, **options).stdout

    name = git("log", "-1", "--format=%h", "--abbrev=12", "HEAD", "--", *PROGRAMS, text=True).strip()
    changes = git("diff", "HEAD", "--", *PROGRAMS)
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
