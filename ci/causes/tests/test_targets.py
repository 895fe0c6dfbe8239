"""The summary is met by a battery that is right, and by nothing less."""

import unittest

import score
import targets
from tests.examples import EXPECTED, result, verdict


def rows():
    """A complete battery of a product that is right: 40 large and middle, 12 small, 12 on the board, 20 quiet runs."""
    right = score.planted_case(EXPECTED, result()) | {"off_cpu": True, "model": "m", "build": "b"}
    out = [right | {"name": f"large-{i}", "kind": "host"} for i in range(20)]
    out += [right | {"name": f"middle-{i}", "kind": "host", "band": "middle"} for i in range(20)]
    out += [right | {"name": f"small-{i}", "kind": "small", "band": "small", "runs": 10, "found_in": 8} for i in range(12)]
    out += [right | {"name": f"board-{i}", "kind": "board"} for i in range(12)]
    quiet = score.quiet_case({"runs": [{"verdict": verdict() | {"found": []}}] * 4, "tried": {}}) | {"kind": "quiet", "off_cpu": True}
    return out + [quiet | {"name": f"quiet-{i}", "model": f"m{i}", "build": f"b{i % 3}"} for i in range(5)]


def missed(changed):
    return [row["measure"] for row in targets.table(changed, len(rows())) if not row["met"]]


class Targets(unittest.TestCase):
    def test_a_right_battery_meets_all(self):
        self.assertEqual(missed(rows()), [])

    def test_no_battery_meets_none(self):
        self.assertTrue(all(not row["met"] for row in targets.table([], 0)))

    def test_each_measure_can_be_missed(self):
        def each(changes):
            out = rows()
            for index, change in changes:
                out[index] = out[index] | change
            return missed(out)

        self.assertEqual(missed(rows()[1:])[0], "cases that ran")
        self.assertEqual(each([(0, {"shown": False})]), ["planted cause costs time in every case"])
        self.assertEqual(each([(i, {"solved": False}) for i in range(3)]), ["cause first, 90 % of the loss under it"])
        self.assertEqual(each([(0, {"ruled_out": True})]), ["planted cause ruled out"])
        self.assertEqual(each([(i, {"inside": False}) for i in range(6)]), ["truth inside the interval"])
        self.assertEqual(each([(i, {"width": 1.4}) for i in range(11)]), ["width, median, large loss"])
        self.assertEqual(each([(20 + i, {"width": 2.1}) for i in range(11)]), ["width, median, middle loss"])
        self.assertEqual(each([(i, {"band": "middle"}) for i in range(9)]), ["cases with a large loss"])
        self.assertEqual(each([(40, {"found_in": 7})]), ["a loss of 5 % is found"])
        self.assertEqual(each([(-1, {"runs": 3})]), ["quiet runs; models; builds"])
        self.assertEqual(each([(-1, {"alarms": ["heat"]})]), ["quiet runs with a finding that does not hold"])
        self.assertEqual(each([(0, {"unexplained": 0.11})]), ["unexplained, worst"])
        self.assertEqual(each([(i, {"unexplained": 0.04}) for i in range(40)]), ["unexplained, median"])
        self.assertEqual(each([(0, {"sums": False})]), ["ladders whose steps sum to the measured time"])
        self.assertEqual(each([(-6, {"kind": "guest"})]), ["cases on the emulated board"])

    def test_wide_intervals_of_guests_and_boards_count_for_no_width(self):
        out = [r | ({"width": float("inf")} if r["kind"] == "board" else {}) for r in rows()]
        self.assertEqual(missed(out), [])

    def test_the_worst_case_comes_first(self):
        bad = rows()[3] | {"ruled_out": True}
        self.assertGreater(targets.badness(bad), targets.badness(rows()[3] | {"solved": False}))
        self.assertGreater(targets.badness(rows()[3] | {"inside": False}), targets.badness(rows()[3]))
