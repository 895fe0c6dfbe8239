"""Scripts for boards."""

import shlex
import subprocess
import unittest

import onboard
import table

CASES = [c for c in table.read()[0] if c["kind"] in ("board", "guest")]


class Scripts(unittest.TestCase):
    def test_every_script_is_one_of_a_shell(self):
        for case in CASES:
            for side in ("setup", "remedied"):
                done = subprocess.run(["sh", "-n"], input=onboard.script(case[side]), text=True, capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), case["name"])

    def test_masks(self):
        self.assertEqual([onboard.mask(cpus) for cpus in ("0", "1,2", "2,3")], ["1", "6", "c"])

    def test_a_plant_that_waits_becomes_its_program(self):
        text = onboard.plant({"do": "busy", "args": [3, 10], "cpu": "2", "rt": 10, "at": 4}, "2,3")
        self.assertIn("-ge 4", text)
        self.assertIn("exec taskset 4 /tmp/realtime 10 /tmp/busy 3 10", text)

    def test_twelve_cases_of_boards(self):
        self.assertGreaterEqual(sum(c["kind"] == "board" for c in CASES), 12)

    def test_a_plant_gets_its_niceness_without_the_command_nice(self):
        command = onboard.niced(5, ["python3", "-c", "import os; print(os.nice(0))"])
        done = subprocess.run(["sh", "-c", " ".join(map(shlex.quote, command))], text=True, capture_output=True, check=True)
        self.assertEqual(done.stdout, "5\n")
        self.assertIn("renice -n -5", onboard.program({"do": "busy", "cpu": "2", "nice": -5}, "2"))
