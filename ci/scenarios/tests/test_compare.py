"""The comparison finds what is planted, and nothing else."""
import unittest

from compare import CLOSE, Comparison, difference, near
from figures import Request, Run
from table import SCENARIOS

ENGINE = [Request(0, 40, 8, 0, 20.0, 50.0), Request(39, 1, 8, 0, 5.0, 50.0)]


def compared(listed, slots=(), engine=ENGINE, gap=None, **guesses):
    return Comparison("name", Run(list(engine)), Run(list(listed), **guesses), Run(list(slots)), gap)


class Compare(unittest.TestCase):
    def test_equal_counts_in_any_order(self):
        self.assertTrue(compared(reversed(ENGINE), ENGINE).equal())

    def test_other_times_are_shown_and_equal(self):
        found = compared([Request(0, 40, 8, 0, 25.0, 50.0), ENGINE[1]])
        self.assertTrue(found.equal())
        self.assertIn("20.0 ms by the engine, 25.0 ms", str(found))

    def test_one_token_too_many(self):
        self.assertFalse(compared([ENGINE[0], Request(39, 1, 9)]).equal())

    def test_a_request_is_missing_or_listed_twice(self):
        self.assertFalse(compared(ENGINE[:1]).equal())
        self.assertFalse(compared([*ENGINE, ENGINE[0]]).equal())

    def test_only_the_slots_may_have_unknown_counts(self):
        unknown = [Request(0, 40, 8), Request(None, 1, 8)]
        self.assertFalse(compared(unknown).equal())
        found = compared(ENGINE, unknown)
        self.assertTrue(found.equal() and found.notes)
        self.assertFalse(compared(ENGINE, [Request(0, 40, 8), Request(None, 2, 8)]).equal())

    def test_a_wrong_slot(self):
        engine = [Request(0, 40, 8, 0), Request(0, 40, 9, 1)]
        self.assertTrue(compared(engine, engine, engine).equal())
        self.assertFalse(compared(engine, [Request(0, 40, 8, 1), Request(0, 40, 9, 0)], engine).equal())

    def test_what_the_engine_does_not_report_is_not_compared(self):
        self.assertTrue(compared([Request(3, 40, 8)], engine=[Request(None, 40, 8)]).equal())

    def test_guesses_that_nobody_made(self):
        self.assertFalse(compared(ENGINE, guesses=144, accepted=3).equal())
        self.assertTrue(compared(ENGINE, guesses=None, accepted=None).equal())

    def test_a_gap_must_be_one(self):
        self.assertTrue(compared(ENGINE).as_expected() and compared(ENGINE[:1], gap="why").as_expected())
        self.assertFalse(compared(ENGINE, gap="why").as_expected() or compared(ENGINE[:1]).as_expected())

    def test_near(self):
        self.assertTrue(near(100, 102) and near(3, 4))
        self.assertFalse(near(100, 103) or near(3, 5))

    def test_the_median_of_times_is_limited(self):
        self.assertEqual(difference([]), (None, 0))
        # Times that are too short for 2 % to show do not count.
        self.assertEqual(difference([(20, 25), (40, 41)]), (None, 0))
        close, far = [(100, 101), (200, 197), (50, 60)], [(100, 103), (200, 193), (50, 50)]
        self.assertAlmostEqual(difference(close)[0], 0.015)
        self.assertLessEqual(difference(close)[0], CLOSE)
        self.assertGreater(difference(far)[0], CLOSE)

    def test_quiet_scenarios_have_one_request_at_a_time(self):
        names = ("one-slot", "bench", "one-slot-queue", "cancelled", "cancelled-prompt", "four-slots")
        self.assertEqual([SCENARIOS[name].quiet for name in names], [True, True, False, False, False, False])


if __name__ == "__main__":
    unittest.main()
