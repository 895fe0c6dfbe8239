"""Another tracer of the engine, before or during the recording."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from common import Skipped, accounted, agent, breakpoints, unharmed, wait
import support
from support import Engine, folder, until


def need(program):
    if not shutil.which(program):
        raise Skipped(f"there is no {program}")


def start(name, command):
    """A tracer; its output goes into a file."""
    log = folder / f"{name}.log"
    with open(log, "w") as told:
        return subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=told, stderr=subprocess.STDOUT), log


def traced(engine):
    """The tracer of its first thread."""
    return int(re.search(r"TracerPid:\t(\d+)", Path(f"/proc/{engine.pid}/status").read_text())[1])


def library(engine):
    """The engine's library that has `llama_decode`."""
    for line in Path(f"/proc/{engine.pid}/maps").read_text().splitlines():
        if re.search(r"/libllama\.so", line):
            return line.split(None, 5)[5]
    raise Skipped("this engine has no libllama.so")


def gdb_command(engine, stop_at=None):
    """Continues at once; a breakpoint prints a line and continues."""
    script = ["set pagination off", "set confirm off"]
    if stop_at:
        script += [f"break {stop_at}", "commands", "silent", "printf \"hit\\n\"", "continue", "end"]
    path = folder / "gdb.script"
    path.write_text("\n".join([*script, "continue"]) + "\n")
    return ["gdb", "-q", "-nx", "-iex", "set debuginfod enabled off", "-p", engine.pid, "-x", path]


def leaves(tracer, engine):
    """It detaches from the engine, as when a user ends it."""
    tracer.send_signal(signal.SIGINT)
    wait(0.5)
    if tracer.poll() is None:
        tracer.terminate()
    tracer.wait(30)
    until("the engine is traced still", lambda: traced(engine) == 0)


def gdb():
    """gdb is attached before the agent, with a breakpoint where the agent has a probe; then it attaches
    during the recording. Where a probe already is, gdb's breakpoint would not be reached: Linux takes
    the trap for the probe's."""
    need("gdb")
    said = []
    for before, stop_at in ((True, "llama_decode"), (False, "llama_memory_clear")):
        engine = Engine()
        recorder = None if before else agent(engine)
        tracer, log = start("gdb", gdb_command(engine, stop_at))
        until("gdb does not come", lambda: traced(engine) == tracer.pid)
        until("gdb's breakpoint is not reached", lambda: "hit" in log.read_text())
        recorder = recorder or agent(engine)
        recorder.records()
        recorder.end()
        engine.goes_on()
        # gdb removes its breakpoint on detach; if killed, it would leave it.
        os.kill(tracer.pid, signal.SIGINT)
        tracer.stdin.write(b"delete\ndetach\nquit\n")
        tracer.stdin.flush()
        tracer.wait(60)
        said.append(f"{'before' if before else 'after'}: {log.read_text().count('hit')} stops, {unharmed(engine)}, {accounted(recorder.out)}")
    return "; ".join(said)


def strace():
    """The same with strace -f."""
    need("strace")
    said = []
    for before in (True, False):
        engine = Engine()
        recorder = None if before else agent(engine)
        tracer, log = start("strace", ["strace", "-f", "-p", engine.pid])
        until("strace does not come", lambda: traced(engine) == tracer.pid)
        recorder = recorder or agent(engine)
        recorder.records()
        recorder.end()
        leaves(tracer, engine)
        lines = len(log.read_text().splitlines())
        assert lines > 10, log.read_text()
        said.append(f"{'before' if before else 'after'}: {lines} lines, {unharmed(engine)}, {accounted(recorder.out)}")
    return "; ".join(said)


def perf():
    """perf samples the engine and has its own uprobe where the agent has one: both count all calls."""
    need("perf")
    engine = Engine()
    name = f"faults{os.getpid()}"
    added = subprocess.run(["perf", "probe", "-q", "-x", library(engine), "--add", f"{name}=llama_decode"], capture_output=True, text=True)
    if added.returncode != 0:
        engine.end()
        raise Skipped(f"perf inserts no probe: {added.stderr.strip()}")
    try:
        event = re.search(r"(probe_\w+:\w+)", subprocess.run(["perf", "probe", "-l"], capture_output=True, text=True).stdout)[1]
        first, before = start("perf", ["perf", "stat", "-x", ",", "-e", event, "-p", engine.pid])
        wait(0.5)
        recorder = agent(engine)
        second, sampled = start("perf-record", ["perf", "record", "-q", "-e", "cpu-clock", "-o", folder / "perf.data", "-p", engine.pid])
        recorder.records()
        recorder.end()
        engine.goes_on()
        for tracer in (first, second):
            tracer.send_signal(signal.SIGINT)
            tracer.wait(30)
        calls = int(before.read_text().splitlines()[-1].split(",")[0])
        assert calls > 10, before.read_text()
        assert (folder / "perf.data").stat().st_size > 10_000, sampled.read_text()
    finally:
        subprocess.run(["perf", "probe", "-q", "--del", "*"], check=False)
    return f"{calls} calls counted by perf, {unharmed(engine)}, {accounted(recorder.out)}"


def bpftrace():
    """The same with bpftrace."""
    need("bpftrace")
    engine = Engine()
    tracer, log = start("bpftrace", ["bpftrace", "-p", engine.pid, "-e", f"uprobe:{library(engine)}:llama_decode {{ @calls = count(); }}"])
    until("bpftrace does not come", lambda: "Attaching" in log.read_text() or tracer.poll() is not None)
    wait(1)
    recorder = agent(engine)
    recorder.records()
    recorder.end()
    engine.goes_on()
    tracer.send_signal(signal.SIGINT)
    tracer.wait(60)
    counted = re.search(r"@calls: (\d+)", log.read_text())
    assert counted and int(counted[1]) > 10, log.read_text()
    return f"{counted[1]} calls counted by bpftrace, {unharmed(engine)}, {accounted(recorder.out)}"


def direct():
    """Direct probes are not inserted into an engine with an attached debugger: uprobes record it."""
    need("gdb")
    engine = Engine()
    tracer, _ = start("gdb-direct", gdb_command(engine))
    until("gdb does not come", lambda: traced(engine) == tracer.pid)
    recorder = agent(engine, probes=["--probes", "direct", "--levels", "token,graph,op"])
    recorder.end()
    assert recorder.why() in (support.TRACER, support.NOT_ALLOWED), recorder.said()
    leaves(tracer, engine)
    assert breakpoints(engine.pid) == 0
    return f"{unharmed(engine)}, {accounted(recorder.out)}"
