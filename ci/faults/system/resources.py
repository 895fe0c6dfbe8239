"""Scarce resources of the agent: space in its buffers and on its disk, memory, descriptors, processes, CPU time."""

import contextlib
import errno
import os
import signal
import subprocess
import time

from common import (UPROBES, Skipped, accounted, agent, breakpoints, cut_short, ended, explained, group, read, unharmed, wait)
from support import AGENT, Agent, Engine, check_tokens, folder, until


def overflow():
    """The agent cannot read for some time: the kernel's buffer overflows, and the lost records are counted."""
    engine = Engine(threads=1)
    recorder = agent(engine, "--ring", "1M")
    os.kill(recorder.process.pid, signal.SIGSTOP)
    decodes(engine, 1500)
    os.kill(recorder.process.pid, signal.SIGCONT)
    recorder.records()
    recorder.end()
    return f"{unharmed(engine)}, {accounted(recorder.out, lost=True)}"


def decodes(engine, calls):
    """Waits for this many more decode calls, of about sixty operators each: 700 of them fill a buffer of 1 MB."""
    def done():
        return engine.out.read_text().count("\ndecode\t")
    before = done()
    until("the engine is held up", lambda: wait(0.1) or done() > before + calls)


@contextlib.contextmanager
def disk(*options):
    """A small file system in memory."""
    place = folder / f"disk-{time.monotonic_ns()}"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(["size=256k", *options]), "tmpfs", place], check=False)
    if mounted.returncode != 0:
        raise Skipped("no file system can be mounted")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def disk_full():
    """The recording is complete up to the full disk, and the agent reports the error."""
    engine = Engine()
    with disk() as place:
        recorder = Agent("--pid", engine.pid, probes=UPROBES, out=place / "full.pfi")
        answer = explained(recorder)
        assert os.strerror(errno.ENOSPC) in answer, answer
        return f"{unharmed(engine)}, {cut_short(place / 'full.pfi')}"


def disk_read_only():
    """The agent reports it before it inserts a probe; the engine is not touched."""
    engine = Engine()
    with disk("ro") as place:
        recorder = Agent("--pid", engine.pid, probes=UPROBES, out=place / "none.pfi")
        answer = explained(recorder)
        assert os.strerror(errno.EROFS) in answer, answer
    return unharmed(engine)


def disk_slow():
    """A reader takes 10 kB per second: the agent drops and counts the rest, the engine is not delayed, and Ctrl-C ends the agent."""
    engine = Engine(threads=1)
    pipe, taken = folder / "slow", folder / "slow.pfi"
    os.mkfifo(pipe)
    slow = subprocess.Popen(["python3", "-c", SLOWLY, pipe, taken])
    recorder = Agent("--pid", engine.pid, "--ring", "1M", probes=UPROBES, out=pipe)
    until("nothing is written", lambda: taken.exists() and taken.stat().st_size > 20_000)
    decodes(engine, 2500)
    asked = time.monotonic()
    recorder.process.send_signal(signal.SIGINT)
    slow.send_signal(signal.SIGUSR1)
    status = ended(recorder)
    took = time.monotonic() - asked
    assert status == 0, recorder.said()
    slow.wait(60)
    return f"{unharmed(engine)}, {accounted(taken, lost=True)}, ended after {took:.1f} s"


# Reads a pipe slowly until a signal makes it fast.
SLOWLY = """
import signal, sys, time
slow = [True]
signal.signal(signal.SIGUSR1, lambda *_: slow.clear())
with open(sys.argv[1], 'rb', 0) as pipe, open(sys.argv[2], 'wb', 0) as taken:
    while data := pipe.read(1000):
        taken.write(data)
        if slow: time.sleep(0.1)
"""


def limits():
    """Under limits of a shell the agent either works or reports what it needs; nothing is left in the engine."""
    engine = Engine()
    works, refused = [], []
    for limit in ("--nofile=8", "--nofile=24", "--nofile=64", "--as=16777216", "--as=67108864", "--as=268435456", "--memlock=0",
                  "--nproc=1", "--fsize=100000"):
        recorder = Agent("--pid", engine.pid, probes=UPROBES, by=["prlimit", limit], stdin=subprocess.DEVNULL)
        recorder.records_or_ends()
        process = recorder.process
        if process.poll() is None:
            if not limit.startswith("--fsize"):
                process.send_signal(signal.SIGINT)
            process.wait(60)
        if process.returncode == 0:
            accounted(recorder.out)
            works.append(limit[2:])
        elif process.returncode == -signal.SIGABRT and "memory allocation" in recorder.said():
            # The standard library's message: nothing more can be allocated for a better one.
            refused.append(limit[2:])
        else:
            try:
                explained(recorder)
            except AssertionError as e:
                raise AssertionError(f"{limit}: {e}") from e
            refused.append(limit[2:])
        until("probes are left", lambda: breakpoints(engine.pid) == 0)
    return f"{unharmed(engine)}; works with {', '.join(works)}; reports its need with {', '.join(refused)}"


def out_of_memory():
    """The kernel kills the agent for lack of memory at several moments of its start: nothing of it is left in the engine."""
    engine = Engine()
    killed = []
    with group("memory") as (join, put):
        for megabytes in range(1, 16):
            put("memory.limit_in_bytes", megabytes << 20)
            recorder = agent_within(join, engine)
            if recorder.process.poll() is None:
                recorder.end()
                break
            # The kernel killed it, or the agent reported that an allocation failed.
            if ended(recorder) != -signal.SIGKILL:
                explained(recorder)
            killed.append(megabytes)
            until("probes are left", lambda: breakpoints(engine.pid) == 0)
    assert killed, "1 MB was enough"
    return f"killed with {', '.join(map(str, killed))} MB, works with {megabytes}: {unharmed(engine)}"


def agent_within(join, engine):
    """An agent that is in a group from its first page on. It is recording or gone."""
    script = 'import os, sys; sys.stdin.read(1); os.execv(sys.argv[1], sys.argv[1:])'
    recorder = Agent("--pid", engine.pid, probes=UPROBES, by=["python3", "-c", script], stdin=subprocess.PIPE)
    join(recorder.process.pid)
    recorder.process.stdin.close()
    recorder.records_or_ends()
    return recorder


def killed_for_memory():
    """The kernel kills the agent while it records, and then the engine, because another process in their group takes memory."""
    engine = Engine()
    recorder = agent(engine)
    with group("memory") as (join, put):
        take_memory(join, put, recorder.process)
    said = f"the agent: {cut_short(recorder.out)}"
    recorder = agent(engine)
    with group("memory") as (join, put):
        take_memory(join, put, engine.process)
        status = ended(recorder)
    assert status == 0, recorder.said()
    return f"{said}; the engine: {check_tokens(engine.out)} calls right, {accounted(recorder.out)}"


def take_memory(join, put, victim):
    """A process takes more than the group's limit; the kernel kills the victim first."""
    join(victim.pid)
    with open(f"/proc/{victim.pid}/oom_score_adj", "w") as score:
        score.write("1000")
    put("memory.limit_in_bytes", 32 << 20)
    script = "import sys, time; sys.stdin.read(); taken = bytearray(64 << 20); time.sleep(60)"
    other = subprocess.Popen(["python3", "-c", script], stdin=subprocess.PIPE)
    join(other.pid)
    other.stdin.close()
    until("the kernel kills nobody", lambda: victim.poll() is not None)
    assert victim.returncode == -signal.SIGKILL, victim.returncode
    other.kill()
    other.wait()


def no_time():
    """The agent gets 2 % of a CPU for three seconds, then all of it again."""
    engine = Engine()
    recorder = agent(engine, "--ring", "1M")
    with group("cpu") as (join, put):
        join(recorder.process.pid)
        put("cpu.cfs_period_us", 100_000)
        put("cpu.cfs_quota_us", 2_000)
        wait(3)
        put("cpu.cfs_quota_us", -1)
    recorder.records()
    recorder.end()
    health = read(recorder.out)
    return f"{unharmed(engine)}, {accounted(recorder.out, lost=health['spans']['dropped'] > 0)}"
