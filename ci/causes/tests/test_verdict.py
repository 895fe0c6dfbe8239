"""What is read from a summary."""

import unittest

import verdict

SUMMARY = {
    "findings": {
        "found": [
            {"code": "preempted", "remedy": {"kind": "move_tasks", "tasks": [[42, "busy"]]}, "effects": [
                {"question": "decode", "gain": {"of": "token", "low_ns": 1, "high_ns": 3, "likely_ns": 2}, "steps": [0]},
                {"question": "prompt", "gain": None, "steps": [2, 3]}]},
            {"code": "prefix", "remedy": {"kind": "cache_prompt"},
             "effects": [{"question": "prompt", "gain": {"of": "request", "low_ns": 1, "high_ns": 3}, "steps": []}]},
            {"code": "migrations", "gain": None, "effects": [], "remedy": {"kind": "pin_threads"},
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
        self.assertEqual([f["code"] for f in found], ["preempted", "preempted", "prefix", "migrations"])
        self.assertEqual([f["questions"] for f in found], [["decode"], ["prompt", "first_token"], ["prompt", "first_token"], ["decode"]])
        self.assertEqual([f["gain"] and f["gain"]["likely"] for f in found], [2, None, 2, None])
        self.assertEqual([f["steps"] for f in found], [[0], [2, 3], [], []])
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
