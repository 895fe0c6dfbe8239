"""The stand-in for /proc/stat."""

import tempfile
import unittest
from pathlib import Path

import files

TEXT = "cpu  10 0 5 100 0 0 0 3 0 0\ncpu0 5 0 2 50 0 0 0 1 0 0\ncpu1 5 0 3 50 0 0 0 2 0 0\nintr 7 1 2\n"


class Stolen(unittest.TestCase):
    def test_each_cpu_and_their_sum(self):
        steal = [line.split()[files.STEAL] for line in files.stolen(TEXT, 10).splitlines()[:3]]
        self.assertEqual(steal, ["23", "11", "12"])

    def test_nothing_else_changes(self):
        self.assertEqual(files.stolen(TEXT, 0).split(), TEXT.split())


class Tree(unittest.TestCase):
    def test_nothing_of_the_run_before_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            cpus = Path(folder) / "cpu"
            files.tree(cpus, {"cpu_capacity": ["1024", "512"]})
            self.assertEqual((cpus / "cpu1/cpu_capacity").read_text(), "512\n")
            files.tree(cpus, {"cpufreq/scaling_governor": ["performance"]})
            names = sorted(str(p.relative_to(cpus)) for p in cpus.rglob("*") if p.is_file())
            self.assertEqual(names, ["cpu0/cpufreq/scaling_governor", "online", "possible", "present"])
