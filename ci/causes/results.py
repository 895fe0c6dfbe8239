"""Results of cases: one line of JSON per case, in a folder per commit of what records, so that a battery goes on where it was ended."""

import json
import subprocess
from pathlib import Path

#: What a recording depends on: the agent, and what it is built from. A change of anything else leaves the recordings as good as they were.
RECORDER = ("Cargo.lock", "Cargo.toml", "agent-static", "boards", "bpf", "cli", "engine", "scratch", "secure", "wire", ":(exclude,glob)**/tests/**")
#: What a verdict depends on: also `analyze`, but not the report page.
ANALYZER = (*RECORDER, "host-analyzer", ":(exclude)host-analyzer/views/page")


def commit(repo, paths):
    """The last commit that changed these paths; with changes of the working tree, also a hash of them: their results are those of no commit."""
    def git(*words, **options):
        return subprocess.run(["git", "-C", repo, *words], check=True, stdout=subprocess.PIPE, **options).stdout

    name = git("log", "-1", "--format=%h", "--abbrev=12", "HEAD", "--", *paths, text=True).strip()
    changes = git("diff", "HEAD", "--", *paths)
    if changes:
        name += "-" + git("hash-object", "--stdin", input=changes).decode()[:8]
    return name


class Results:
    """The folder of one recorder, with the recordings of its results. `analyzer`: the commit whose verdicts count."""

    def __init__(self, folder, analyzer):
        self.folder, self.analyzer = Path(folder), analyzer
        self.recordings, self.trials = self.folder / "recordings", self.folder / "trials"
        for path in (self.recordings, self.trials):
            path.mkdir(parents=True, exist_ok=True)

    @classmethod
    def current(cls, root, repo):
        """Those of the working tree, in the folder of all results."""
        return cls(Path(root) / commit(repo, RECORDER), commit(repo, ANALYZER))

    def path(self, name):
        return self.folder / f"{name}.json"

    def write(self, result):
        """Keeps a result whose verdicts are of the current analyzer."""
        # Complete or absent, whenever the battery is ended.
        part = self.path(result["name"]).with_suffix(".part")
        part.write_text(json.dumps(result | {"analyzer": self.analyzer}, separators=(",", ":")) + "\n", encoding="utf-8")
        part.rename(self.path(result["name"]))

    def read(self, case):
        """The result of this case, None without one or if the case was another one then."""
        try:
            result = json.loads(self.path(case["name"]).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return result if result["case"] == json.loads(json.dumps(case)) else None

    def judged(self, case):
        """The result of this case, None if its verdicts are of another analyzer."""
        result = self.read(case)
        return result if result and result["analyzer"] == self.analyzer else None
