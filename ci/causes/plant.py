"""Plants causes in and next to a run of the engine.

A plant is a table with `do`, and:
  at, until   starts after that many calls of the engine, ends after so many (tool `nodes` only); default: before it starts, and with it
  cpu, nice, rt   affinity, niceness, SCHED_FIFO priority of a planted program
do = "busy", "storm", "bandwidth"     programs of ci/causes/programs, with `args`
     "reader"      reads a large file from disk
     "stop"        stops the engine for args[0] ms of every args[1] ms; `thread = true`: only its second thread
     "engine"      another engine, with `threads`, and the model of the case or `model`
     "narrow"      sets the affinity of all of the engine's threads to `cpus`
     "group"       writes `value` to `file` of the run's group of `controller`
"""

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ("busy", "storm", "bandwidth", "reader", "stop")


def ended(process):
    """Ends a program that was planted, kindly: one that stops others lets them go on."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def placed(spec):
    """Words that set place and priority of a program, and then become it: the process ID stays."""
    words = []
    if "cpu" in spec:
        words += ["taskset", "-c", spec["cpu"]]
    if "nice" in spec:
        words += ["nice", "-n", str(spec["nice"])]
    if "rt" in spec:
        words += ["chrt", "-f", str(spec["rt"])]
    return words


def second_thread(pid):
    """The first thread of the engine's team after the main thread."""
    return sorted(int(name) for name in os.listdir(f"/proc/{pid}/task") if int(name) != pid)[0]


class Plants:
    """What is planted in one run. `progress(calls)` starts and ends what waits for the engine; `close()` ends all."""

    def __init__(self, specs, tools, groups, setup):
        self.tools, self.groups, self.setup = tools, groups, setup
        self.waiting = [spec for spec in specs if spec.get("at", 0) > 0 or spec["do"] == "stop"]
        self.running, self.pids, self.names, self.narrowed = [], [], set(), []
        for spec in specs:
            if spec not in self.waiting:
                self.start(spec, None)

    def words(self, spec, pid):
        """Command of a planted program."""
        do, args = spec["do"], [str(a) for a in spec.get("args", [])]
        if do == "engine":
            setup = self.setup | {"threads": spec["threads"], "tokens": 100000, "prompt": 8, "args": ["-c", "0"], "cpus": self.setup["cpus"]}
            return [*self.tools.allocation(setup), *self.tools.command(setup | {"model": spec.get("model", self.setup["model"])})]
        if do == "reader":
            return [self.tools.program("reader"), self.tools.large_file()]
        if do == "stop":
            thread = [str(second_thread(pid))] if spec.get("thread") else []
            return [self.tools.program("stopper"), str(pid), *args, *thread]
        return [self.tools.program(do), *args]

    def start(self, spec, pid):
        do = spec["do"]
        if do == "narrow":
            subprocess.run(["taskset", "-a", "-p", "-c", spec["cpus"], str(pid)], check=True, stdout=subprocess.DEVNULL)
            return
        if do == "group":
            self.groups.set(spec["controller"], spec["file"], spec["value"])
            return
        everywhere = {"cpu": self.setup["cpus"]} if do != "stop" else {}
        words = [*placed(everywhere | spec), *self.words(spec, pid)]
        # A file, because somebody would have to read a pipe, who would take time from the engine.
        out = tempfile.TemporaryFile()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
        self.running.append((spec, process))
        self.pids.append(process.pid)
        self.names.add(Path(words[-1]).name if do == "engine" else "stopper" if do == "stop" else do)
        # The first text of an engine: it has loaded its model, and computes.
        while do == "engine" and process.poll() is None and not os.fstat(out.fileno()).st_size:
            time.sleep(0.05)
        if do != "engine" and pid is None:
            time.sleep(0.3)

    def progress(self, calls, pid):
        """The engine with this process ID has made so many calls."""
        due = [spec for spec in self.waiting if calls >= spec.get("at", 0)]
        for spec in due:
            self.waiting.remove(spec)
            self.start(spec, pid)
        over = [one for one in self.running if "until" in one[0] and calls >= one[0]["until"]]
        for one in over:
            ended(one[1])
            self.running.remove(one)

    def watching(self):
        """Does anything still start or end with a call?"""
        return bool(self.waiting) or any("until" in spec for spec, _ in self.running)

    def planted(self):
        """What the product can blame: process IDs, and names of short processes."""
        return {"pids": self.pids, "names": sorted(self.names & {"storm"})}

    def close(self):
        for _, process in self.running:
            ended(process)
        self.running = []
