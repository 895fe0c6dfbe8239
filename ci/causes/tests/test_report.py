"""Results are kept per case, and tables show the worst case first."""

import tempfile
import unittest

import report
import results
import targets
from tests.examples import EXPECTED, result

SETUP = {"model": "m", "build": "b"}


def case(name, kind="host"):
    return {"name": name, "kind": kind, "question": "decode", "setup": SETUP, "expected": EXPECTED | {"off_cpu": True}}


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.kept = results.Results(self.folder.name, "analyzer")

    def write(self, name, change=lambda out: None):
        out = {"name": name, "case": case(name), "busy": 0.0} | result()
        change(out)
        self.kept.write(out)

    def test_the_worst_case_comes_first(self):
        self.write("good")
        self.write("bad", lambda out: [pair["verdict"]["found"].clear() for pair in out["pairs"]])
        scores, failed = report.rows([case("good"), case("bad")], self.kept)
        lines = report.cases_text(scores, failed).splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["case", "bad", "good"])
        self.assertTrue(lines[2].endswith("ok") and "not-first" in lines[1])

    def test_a_case_that_failed_or_did_not_run_has_no_score(self):
        self.write("failed", lambda out: out.update(error="the engine does not start"))
        scores, failed = report.rows([case("failed"), case("absent")], self.kept)
        self.assertEqual((scores, failed), ([], [("failed", "the engine does not start")]))
        self.assertFalse(targets.table(scores, 2)[0]["met"])

    def test_a_result_of_another_case_by_this_name_is_none(self):
        self.write("changed")
        self.assertIsNotNone(self.kept.read(case("changed")))
        self.assertIsNone(self.kept.read(case("changed") | {"question": "prompt"}))
