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
