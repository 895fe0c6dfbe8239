"""Which remedies are tried, and what is done again with kept recordings."""

import unittest

import battery


def run(*found):
    return {"verdict": {"found": [{"code": code, "questions": ["decode"], "gain": gain} for code, gain in found]}, "recording": "r", "pid": 1, "planted": {}}


class Runner:
    """Judges recordings; records nothing."""

    def __init__(self, *found):
        self.found = found

    def verdict(self, one, _places):
        return run(*self.found)["verdict"] | {"of": one["recording"]}


class Options:
    analyze, pairs = True, 0


class Pairs(unittest.TestCase):
    CASE = {"name": "p", "kind": "host", "pairs": 5, "shows": {}}

    def lacks(self, *gains, kind="host"):
        pairs = [{"planted_ns": 100 + gain, "remedied_ns": 100} for gain in gains]
        return battery.lacks_pairs(self.CASE | {"kind": kind}, pairs, Options)

    def test_pairs_go_on_until_they_agree(self):
        self.assertTrue(self.lacks(50, 50, 50, 50))
        self.assertFalse(self.lacks(45, 50, 50, 50, 55))
        self.assertTrue(self.lacks(40, 50, 50, 50, 55))
        # The interval of more pairs leaves the extremes out.
        self.assertFalse(self.lacks(40, 50, 50, 50, 55, 50, 50, 50, 50))

    def test_pairs_end_where_they_never_agree(self):
        self.assertTrue(self.lacks(*[10, 90] * 7))
        self.assertFalse(self.lacks(*[10, 90] * 7, 10))
        self.assertFalse(self.lacks(10, 90, 10, 90, 10, kind="guest"))

    def test_a_number_that_was_asked_for_is_exact(self):
        class Asked:
            pairs = 6

        pairs = [{"planted_ns": 150, "remedied_ns": 100}] * 5
        self.assertTrue(battery.lacks_pairs(self.CASE, pairs, Asked))
        self.assertFalse(battery.lacks_pairs(self.CASE, [*pairs, {"planted_ns": 100, "remedied_ns": 100}], Asked))


class Quiet(unittest.TestCase):
    def test_remedies_of_promises_are_tried_once(self):
        result = {"runs": [run(("a", 1), ("b", None), ("c", 1)), run(("a", 1), ("d", 1))], "tried": {"c/decode": []}}
        self.assertEqual(battery.untried(result, {"a": {}, "b": {}, "c": {}}), [("a", "decode")])

    def test_kept_recordings_have_new_verdicts(self):
        case = {"name": "q", "kind": "quiet", "shows": {}}
        result = battery.again(Runner(("new", 1)), case, {"runs": [run(("old", 1))], "tried": {}}, {"new": {}}, Options)
        self.assertEqual([f["code"] for f in result["runs"][0]["verdict"]["found"]], ["new"])
        # Nothing was recorded, so the remedy is still to be tried.
        self.assertEqual(battery.untried(result, {"new": {}}), [("new", "decode")])

    def test_a_recording_that_is_gone_is_an_error(self):
        class Gone:
            def verdict(self, one, _places):
                raise battery.Failed(one["recording"])

        case = {"name": "p", "kind": "host", "shows": {}}
        self.assertEqual(battery.again(Gone(), case, {"pairs": [run()]}, {}, Options)["error"], "r")


if __name__ == "__main__":
    unittest.main()
