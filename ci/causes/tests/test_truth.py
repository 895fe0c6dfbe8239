"""Intervals of medians by order statistics, bands, and the recording that is scored."""

import random
import statistics
import unittest

import truth


class Interval(unittest.TestCase):
    def test_five_values_need_both_extremes(self):
        self.assertEqual(truth.interval([5, 1, 4, 2, 3]), {"low": 1, "median": 3, "high": 5})

    def test_ten_values_leave_one_out_at_each_end(self):
        self.assertEqual(truth.interval(range(10)), {"low": 1, "median": 4.5, "high": 8})

    def test_four_values_are_too_few(self):
        with self.assertRaises(ValueError):
            truth.interval([1, 2, 3, 4])

    def test_it_contains_the_median_as_often_as_stated(self):
        draw = random.Random(1)
        for count in (5, 7, 10):
            hits = 0
            for _ in range(2000):
                found = truth.interval([draw.gauss(0, 1) for _ in range(count)])
                hits += found["low"] <= 0 <= found["high"]
            self.assertGreaterEqual(hits / 2000, truth.COVERAGE - 0.02)


class Pairs(unittest.TestCase):
    def test_the_gain_is_of_differences_within_pairs(self):
        # The machine becomes slower from pair to pair; the gain does not.
        pairs = [(100 + 50 * i + 10, 100 + 50 * i) for i in range(5)]
        self.assertEqual(truth.gain(pairs), {"low": 10, "median": 10, "high": 10})

    def test_bands(self):
        self.assertEqual([truth.band(times) for times in (2.01, 2.0, 1.2, 1.19)], ["large", "middle", "middle", "small"])

    def test_the_typical_pair_has_the_median_time(self):
        pairs = [(9, 1), (3, 1), (7, 1), (1, 1), (8, 1)]
        self.assertEqual(pairs[truth.typical(pairs)][0], statistics.median(p for p, _ in pairs))
