"""What is read from a summary."""

import unittest

import verdict

SUMMARY = {
    "findings": {
        "found": [
            {"code": "preempted", "gain": {"of": "token", "low_ns": 1, "high_ns": 3, "likely_ns": 2}, "remedy": {"kind": "move_tasks", "tasks": [[42, "busy"]]}},
            {"code": "prefix", "gain": {"of": "request", "low_ns": 1, "high_ns": 3}, "remedy": {"kind": "cache_prompt"}},
            {"code": "migrations", "gain": None, "question": "prompt", "steps": [1], "remedy": {"kind": "pin_threads"},
             "evidence": [{"key": "moves", "value": 7}]},
        ],
        "ruled_out": [{"code": "quota"}],
    },
    "ladders": [{"question": "decode", "pid": 7, "units": 5, "measured_ns": 10, "steps": [{"kind": "program", "ns": 10, "culprit": {"pid": 42, "tid": 43, "name": "busy"}}]},
                {"question": "decode", "pid": 8, "units": 5, "measured_ns": 10, "steps": []}],
    "health": {"perfect": True},
}


class Reduced(unittest.TestCase):
    def test_findings(self):
        found = verdict.reduced(SUMMARY)["found"]
        self.assertEqual([f["questions"] for f in found], [["decode"], ["prompt", "first_token"], ["prompt"]])
        self.assertEqual([f["gain"] and f["gain"]["likely"] for f in found], [2, 2, None])
        self.assertEqual([f["steps"] for f in found], [None, None, [1]])
        self.assertEqual(found[0]["tasks"], [{"id": 42, "name": "busy"}])

    def test_only_the_ladders_of_the_engine(self):
        self.assertEqual([one["pid"] for one in verdict.reduced(SUMMARY, 7)["ladders"]], [7])

    def test_a_summary_without_ladders(self):
        self.assertEqual(verdict.reduced({**SUMMARY, "ladders": None})["ladders"], [])

    def test_places(self):
        self.assertEqual(verdict.at(SUMMARY, "findings.found.code=migrations.evidence.key=moves.value"), 7)
        self.assertEqual(verdict.at(SUMMARY, "ladders.1.pid"), 8)
        for absent in ("ladders.2.pid", "findings.found.code=heat.gain", "health.perfect.more"):
            self.assertIsNone(verdict.at(SUMMARY, absent))
