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

    def test_documents_and_tests_keep_results(self):
        first = self.commit("wire/src/lib.rs", "one")
        for path in ("docs/a.md", "ci/causes/cases.toml", "wire/tests/a.rs", "host-analyzer/analysis/tests/results/a.rs", "README.md"):
            self.commit(path, "text")
            self.assertEqual(results.commit(self.repo), first, path)

    def test_programs_have_new_results(self):
        self.commit("docs/a.md", "text")
        for path in ("wire/src/lib.rs", "host-analyzer/analysis/src/a.rs", "Cargo.lock", "bpf/a.c"):
            made = self.commit(path, "one")
            self.assertEqual(results.commit(self.repo), made, path)

    def test_uncommitted_programs_are_of_no_commit(self):
        first = self.commit("wire/src/lib.rs", "one")
        (self.repo / "README.md").write_text("text", encoding="utf-8")
        self.assertEqual(results.commit(self.repo), first)
        (self.repo / "wire/src/lib.rs").write_text("two", encoding="utf-8")
        changed = results.commit(self.repo)
        self.assertRegex(changed, f"^{first}-[0-9a-f]{{8}}$")
        (self.repo / "wire/src/lib.rs").write_text("three", encoding="utf-8")
        self.assertNotEqual(results.commit(self.repo), changed)


if __name__ == "__main__":
    unittest.main()
