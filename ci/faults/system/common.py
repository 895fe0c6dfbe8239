"""Shared by the cases: engines and agents of ci/kills/life/support.py, control groups, and the checks afterwards."""

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

import support
from support import Agent, Engine, check_tokens, folder, until

ANALYZE = os.environ["PROFINFER_ANALYZE"]
UPROBES = ["--levels", "token,graph,op"]
GROUPS = Path("/sys/fs/cgroup")


class Skipped(Exception):
    """A case cannot run on this machine; the reason."""


def breakpoints(pid):
    """Number of bytes of the engine's code that are an instruction of a uprobe or of a debugger. Nothing else may differ from the files."""
    assert not support.changed(pid), support.changed(pid)
    pages = support.differences(pid)
    return sum(a != b for _, _, is_page, has_page in pages for a, b in zip(is_page, has_page))


def agent(engine, *options, probes=UPROBES):
    """An agent that is recording this engine."""
    started = Agent("--pid", engine.pid, *options, probes=probes)
    started.records()
    return started


def unharmed(engine):
    """Checks the engine: it continues, no thread is stopped or traced, its code equals its files, every token equals that of an undisturbed run. Then ends it."""
    # The kernel takes a second or two to release the uprobes of an agent that was killed.
    until("probes are left in the engine's code", lambda: breakpoints(engine.pid) == 0)
    for task in Path(f"/proc/{engine.pid}/task").iterdir():
        status = (task / "status").read_text()
        assert "TracerPid:\t0\n" in status, status
    engine.goes_on()
    engine.end()
    return f"{check_tokens(engine.out)} calls right"


def read(path):
    """The health of a recording."""
    return summary(path)["health"]


def summary(path):
    """The output of `analyze` for a recording."""
    out = folder / f"{path.stem}.read"
    done = subprocess.run([ANALYZE, path, "--out", out], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return json.loads((out / "summary.json").read_text())


def accounted(path, lost=False):
    """Checks a complete recording: every operator that the kernel saw is in it, or is counted."""
    found = read(path)
    s = found["spans"]
    assert not found["cut_short"] and not found["damaged"], found
    assert s["received"] + s["dropped"] + s["left_out"] + s["no_start"] == s["kernel"] and s["unaccounted"] == 0, s
    assert s["received"] > 1000, s
    assert (s["dropped"] > 0) == lost, s
    return f"{s['kernel']} spans = {s['received']} received + {s['dropped']} dropped + {s['left_out'] + s['no_start']} left out"


def cut_short(path):
    """Checks a recording without an end: readable up to the cut, nothing damaged."""
    found = read(path)
    assert found["cut_short"] and not found["damaged"], found
    return f"{found['spans']['received']} spans up to the cut"


@contextlib.contextmanager
def group(controller):
    """A new control group (version 1): a function that moves a process there, and one that sets a value."""
    if not (GROUPS / controller).is_dir():
        raise Skipped(f"no control groups of the kind {controller}")
    path = GROUPS / controller / f"faults-{os.getpid()}"
    path.mkdir()

    def put(name, value):
        (path / name).write_text(str(value))

    try:
        yield lambda pid: put("cgroup.procs", pid), put
    finally:
        for pid in (path / "cgroup.procs").read_text().split():
            (GROUPS / controller / "cgroup.procs").write_text(pid)
        until("the group stays", lambda: not (path / "cgroup.procs").read_text())
        path.rmdir()


def ended(started, patience=60):
    """The agent has ended by itself: its status."""
    until("the agent does not end", lambda: started.process.poll() is not None, patience)
    return started.process.returncode


def explained(started):
    """An agent that failed printed what it tried, what the system answered, and what to do. Returns the answer."""
    status, result = ended(started), started.result()
    assert status not in (0, None) and status > 0, f"status {status}: {started.said()}"
    assert result and result["error"] and all(result["error"].values()), (result, started.said())
    return result["error"]["answer"]


def wait(seconds):
    time.sleep(seconds)
