"""Engines and agents for life.py."""

import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

AGENT = os.environ["PROFINFER_AGENT"]
ANALYZE = os.environ.get("PROFINFER_ANALYZE") or os.path.join(os.path.dirname(AGENT), "analyze")
ENGINE = Path(os.environ["PROFINFER_ENGINE_DIR"])
MODEL = os.environ["LIFE_MODEL"]
TOOLS = Path(os.environ["LIFE_TOOLS"])  # preload.so and unload
DIRECT = ["--probes", "direct", "--levels", "token,graph,op"]
folder = Path(tempfile.mkdtemp(dir=TOOLS))


def until(what, done, limit=60):
    """Waits. Counts steps instead of time, because everything may be stopped in between."""
    for _ in range(limit * 100):
        got = done()
        if got:
            return got
        time.sleep(0.01)
    raise AssertionError(what)


class Engine:
    """A driver that decodes all the time."""

    number = 0
    all = []

    def __init__(self, *options, threads=2, engine=ENGINE, **env):
        Engine.number += 1
        self.out = folder / f"calls.{Engine.number}"
        program = [engine / "nodes"]
        command = [*program, "-m", MODEL, "-t", str(threads), "-p", "5", "-n", "40", "-c", "512", "--fresh", "-r", "1000000"]
        with open(self.out, "w") as out:
            self.process = subprocess.Popen(
                [*command, *options], stdout=out, stderr=subprocess.DEVNULL, env={**os.environ, **env})
        self.pid = self.process.pid
        Engine.all.append(self)
        self.goes_on()

    def goes_on(self):
        size = self.out.stat().st_size
        until("the engine does not go on", lambda: self.out.stat().st_size > size or self.process.poll() is not None)
        assert self.process.poll() is None, f"the engine is gone: {self.process.returncode}"

    def end(self):
        self.process.kill()
        self.process.wait()


def check_tokens(path):
    """Checks that every token equals that of an undisturbed run. Returns their number."""
    calls = [line.split("\t") for line in open(path) if line.startswith("decode") and line.endswith("\n")]
    for call in calls:
        expected = alone[int(call[1]) % len(alone)]
        assert (call[3], call[6]) == expected, f"call {call[1]} of {path}: {call[6]} instead of {expected[1]}"
    return len(calls)


def undisturbed():
    command = [ENGINE / "nodes", "-m", MODEL, "-t", "1", "-p", "5", "-n", "40", "-c", "512", "--fresh", "-r", "1"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [(c[3], c[6]) for c in (line.split("\t") for line in lines) if c[0] == "decode"]


alone = undisturbed()


def differences(pid):
    """Code pages of a process that differ from its files: the file, the address of the page, its bytes, those of the file."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps.read().splitlines():
            fields = line.split(None, 5)
            if fields[1] != "r-xp" or len(fields) < 6 or not fields[5].startswith("/"):
                continue
            start, end = (int(x, 16) for x in fields[0].split("-"))
            memory.seek(start)
            code = memory.read(end - start)
            with open(f"/proc/{pid}/map_files/{fields[0]}", "rb") as file:
                file.seek(int(fields[2], 16))
                original = file.read(end - start).ljust(end - start, b"\0")
            for at in range(0, len(code), 4096):
                if code[at : at + 4096] != original[at : at + 4096]:
                    yield fields[5], start + at, code[at : at + 4096], original[at : at + 4096]


def changed(pid):
    """Where the code of a process differs from its files. Breakpoints of uprobes do not count."""
    for name, address, is_page, has_page in differences(pid):
        differ = [n for n, (a, b) in enumerate(zip(is_page, has_page)) if a not in (b, 0xCC)]
        if differ:
            n = differ[0]
            return f"{name} at {address + n:#x}: {is_page[n : n + 8].hex()} instead of {has_page[n : n + 8].hex()}"
    return None


# Numbers of "probes used" in docs/wire-format.md: why direct probes were not installed.
TRACER, NOT_ALLOWED, DOES_NOT_STOP, JOB_CONTROL, CHANGED, OTHER_AGENT = 6, 7, 8, 9, 16, 18


class Agent:
    number = 0

    def __init__(self, *options, probes=DIRECT, out=None, by=(), stdin=None):
        """`by` is a command that executes the agent."""
        Agent.number += 1
        self.out = out or folder / f"{Agent.number}.pfi"
        self.log, self.json = folder / f"{Agent.number}.log", folder / f"{Agent.number}.json"
        with open(self.log, "w") as log, open(self.json, "w") as result:
            command = [*by, AGENT, "record", "--full", "--format", "json", "--out", self.out, *probes, *map(str, options)]
            self.process = subprocess.Popen(command, stdin=stdin, stdout=result, stderr=log)

    def said(self):
        """Standard error, for a person."""
        return self.log.read_text()

    def result(self):
        """The object of an agent that has ended; None if it printed none."""
        text = self.json.read_text()
        return json.loads(text) if text else None

    def records(self, more=60_000):
        before = self.out.stat().st_size if self.out.exists() else 0
        grown = lambda: self.out.exists() and self.out.stat().st_size > before + more
        until("nothing is recorded", lambda: grown() or self.process.poll() is not None)
        assert grown(), self.said()

    def records_or_ends(self):
        size = lambda: self.out.stat().st_size if self.out.exists() else 0
        until("it neither records nor ends", lambda: size() > 60_000 or self.process.poll() is not None)

    def why(self):
        """Why direct probes were not installed, by the recording so far; None if it does not say."""
        found = subprocess.run([ANALYZE, "inspect", "--format", "json", self.out], capture_output=True, check=False)
        frames = json.loads(found.stdout)["frames"] if found.returncode == 0 else []
        used = [frame["content"]["why"] for frame in frames if frame.get("record") == "ProbesUsed"]
        return used[-1] if used else None

    def until_why(self, why):
        until(f"not {why}: {self.said()}", lambda: self.why() is not None or self.process.poll() is not None)
        assert self.why() == why, (self.why(), self.said())

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        until("the agent does not end", lambda: self.process.poll() is not None)
        assert self.process.returncode == 0, (self.process.returncode, self.said())
        return self.result()


def run_repair(pid):
    """`repair`: its exit status, and the process in its object."""
    done = subprocess.run([AGENT, "repair", "--format", "json", "--pid", str(pid)], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)["processes"][0]


def repair(pid):
    """Repairs, and returns how many places were put back."""
    status, process = run_repair(pid)
    assert status == 0 and process["places_left"] == 0, process
    assert not changed(pid), changed(pid)
    return process["places_put_back"]


def attached(pid):
    until("its code is not changed", lambda: changed(pid))
