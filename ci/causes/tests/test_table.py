"""The table itself, and what it refuses."""

import tempfile
import tomllib
import unittest
from pathlib import Path

import table

HEAD = """
[cause]
task = { steps = ["task"], codes = ["preempted"], culprit = true }
"""


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.toml"
        path.write_text(HEAD + text, encoding="utf-8")
        return table.read(path)


class Shipped(unittest.TestCase):
    def test_it_is_large_enough(self):
        cases, _ = table.read()
        quiet = [c for c in cases if c["kind"] == "quiet"]
        self.assertGreaterEqual(len(cases) - len(quiet), 48)
        self.assertGreaterEqual(sum(c["runs"] for c in quiet), 20)
        self.assertGreaterEqual(len({c["setup"]["model"] for c in quiet}), 5)
        self.assertGreaterEqual(len({c["setup"]["build"] for c in quiet}), 3)
        self.assertGreaterEqual(sum(c["kind"] == "small" for c in cases), 12)

    def test_every_cause_has_a_case(self):
        with open(table.HERE / "cases.toml", "rb") as file:
            causes = set(tomllib.load(file)["cause"])
        self.assertEqual({c["cause"] for c in table.read()[0] if c["kind"] != "quiet"}, causes)


class Refused(unittest.TestCase):
    def refused(self, text):
        with self.assertRaises(table.Bad):
            read(text)

    def test_a_remedy_that_changes_nothing(self):
        self.refused('[[case]]\nname = "a"\ncause = "task"\nremedied = { threads = 1 }')

    def test_an_unknown_key(self):
        self.refused('[[case]]\nname = "a"\ncause = "task"\ncpu = "0"\nplant = [{ do = "busy" }]')

    def test_an_unknown_cause(self):
        self.refused('[[case]]\nname = "a"\ncause = "heat"\nplant = [{ do = "busy" }]')

    def test_two_of_a_name(self):
        self.refused('[[case]]\nname = "a"\ncause = "task"\nplant = [{ do = "busy" }]\n' * 2)

    def test_a_quiet_case_with_a_plant(self):
        self.refused('[[case]]\nname = "a"\nkind = "quiet"\nruns = 2\nplant = [{ do = "busy" }]')


class Filled(unittest.TestCase):
    def test_without_a_remedy_only_the_plant_goes(self):
        case = read('[[case]]\nname = "a"\ncause = "task"\nthreads = 2\nplant = [{ do = "busy" }]')[0][0]
        self.assertEqual(case["remedied"], case["setup"] | {"plant": []})
