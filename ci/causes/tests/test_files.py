"""The stand-in for /proc/stat."""

import unittest

import files

TEXT = "cpu  10 0 5 100 0 0 0 3 0 0\ncpu0 5 0 2 50 0 0 0 1 0 0\ncpu1 5 0 3 50 0 0 0 2 0 0\nintr 7 1 2\n"


class Stolen(unittest.TestCase):
    def test_each_cpu_and_their_sum(self):
        steal = [line.split()[files.STEAL] for line in files.stolen(TEXT, 10).splitlines()[:3]]
        self.assertEqual(steal, ["23", "11", "12"])

    def test_nothing_else_changes(self):
        self.assertEqual(files.stolen(TEXT, 0).split(), TEXT.split())
