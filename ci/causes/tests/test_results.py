"""Results belong to the commit that last changed the programs."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import results


class Commits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repo = Path(folder.name)
        self.git("init", "-q")

    def git(self, *words):
        author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", "-C", self.repo, *author, *words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def commit(self, path, text):
        file = self.repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "-q", "-m", path)
        return self.git("rev-parse", "--short=12", "HEAD")

    def analyzer(self):
        return results.commit(self.repo, results.ANALYZER)

    def recorder(self):
        return results.commit(self.repo, results.RECORDER)

    def test_documents_and_tests_keep_results(self):
        first = self.commit("wire/src/lib.rs", "one")
        for path in ("docs/a.md", "ci/causes/cases.toml", "wire/tests/a.rs", "host-analyzer/analysis/tests/results/a.rs", "host-analyzer/views/page/src/a.ts", "README.md"):
            self.commit(path, "text")
            self.assertEqual((self.recorder(), self.analyzer()), (first, first), path)

    def test_another_agent_has_new_recordings(self):
        self.commit("docs/a.md", "text")
        for path in ("wire/src/lib.rs", "agent-static/src/a.rs", "Cargo.lock", "bpf/a.c"):
            made = self.commit(path, "one")
            self.assertEqual((self.recorder(), self.analyzer()), (made, made), path)

    def test_another_analysis_keeps_recordings(self):
        first = self.commit("wire/src/lib.rs", "one")
        for path in ("host-analyzer/analysis/src/a.rs", "host-analyzer/views/src/a.rs"):
            made = self.commit(path, "one")
            self.assertEqual((self.recorder(), self.analyzer()), (first, made), path)

    def test_uncommitted_programs_are_of_no_commit(self):
        first = self.commit("wire/src/lib.rs", "one")
        (self.repo / "README.md").write_text("text", encoding="utf-8")
        self.assertEqual(self.recorder(), first)
        (self.repo / "wire/src/lib.rs").write_text("two", encoding="utf-8")
        changed = self.recorder()
        self.assertRegex(changed, f"^{first}-[0-9a-f]{{8}}$")
        (self.repo / "wire/src/lib.rs").write_text("three", encoding="utf-8")
        self.assertNotEqual(self.recorder(), changed)


class Kept(unittest.TestCase):
    def test_verdicts_of_another_analyzer_do_not_count(self):
        case = {"name": "a"}
        with tempfile.TemporaryDirectory() as folder:
            results.Results(folder, "one").write({"name": "a", "case": case})
            other = results.Results(folder, "two")
            self.assertIsNone(other.judged(case))
            self.assertEqual(other.read(case)["analyzer"], "one")
            other.write(other.read(case))
            self.assertEqual(other.judged(case)["analyzer"], "two")


if __name__ == "__main__":
    unittest.main()
