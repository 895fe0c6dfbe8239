"""Events of the engine while it has uprobes."""

import os
import signal
from pathlib import Path

from common import UPROBES, accounted, agent, breakpoints, cut_short, ended, group, unharmed, wait
from support import TOOLS, Agent, Engine, check_tokens, folder, until


def killed():
    """The session ends by itself, and nothing of it is lost."""
    engine = Engine()
    recorder = agent(engine)
    engine.end()
    assert ended(recorder) == 0, recorder.said()
    return accounted(recorder.out)


def exec_():
    """The process becomes another program, which has no probe; the session ends normally."""
    engine = Engine(threads=1, LD_PRELOAD=str(TOOLS / "preload.so"))
    recorder = agent(engine)
    engine.process.send_signal(signal.SIGUSR2)
    until("no exec", lambda: "nodes" not in os.readlink(f"/proc/{engine.pid}/exe") and "ld-" not in os.readlink(f"/proc/{engine.pid}/exe"))
    assert breakpoints(engine.pid) == 0
    wait(0.2)
    if recorder.process.poll() is None:
        recorder.end()
    assert recorder.process.returncode == 0 and engine.process.poll() is None, recorder.said()
    engine.end()
    return f"{check_tokens(engine.out)} calls right, {accounted(recorder.out)}"


def with_child(name):
    """A recorded engine of one thread, and its child, which continues its parent's work."""
    child_out = folder / name
    engine = Engine(threads=1, LD_PRELOAD=str(TOOLS / "preload.so"), LIFE_CHILD=str(child_out))
    recorder = agent(engine)
    engine.process.send_signal(signal.SIGUSR1)
    children = Path(f"/proc/{engine.pid}/task/{engine.pid}/children")
    child = int(until("no child", lambda: children.read_text().split())[0])
    until("the child does not decode", lambda: child_out.exists() and child_out.stat().st_size > 2000)
    return engine, recorder, child, child_out


def child_unharmed(child, child_out):
    """Checks the child: it continues, its code equals its files, its tokens are right. Then ends it."""
    until("probes are left in the child", lambda: breakpoints(child) == 0)
    size = child_out.stat().st_size
    until("the child does not go on", lambda: child_out.stat().st_size > size + 2000)
    os.kill(child, signal.SIGKILL)
    return f"child {check_tokens(child_out)} calls right"


def fork():
    """A child computes correctly; the recording has only the parent; no probe is left in either."""
    engine, recorder, child, child_out = with_child("forked")
    recorder.records()
    recorder.end()
    return f"{child_unharmed(child, child_out)}, {unharmed(engine)}, {accounted(recorder.out)}"


def killed_agent():
    """The same when the agent is killed."""
    engine, recorder, child, child_out = with_child("forked-and-killed")
    recorder.process.kill()
    recorder.process.wait()
    return f"{child_unharmed(child, child_out)}, {unharmed(engine)}, {cut_short(recorder.out)}"


def frozen():
    """Frozen by its control group while it is recorded, while the agent ends, and while one attaches."""
    engine = Engine()
    with group("freezer") as (join, put):
        join(engine.pid)
        recorder = agent(engine)
        put("freezer.state", "FROZEN")
        wait(1)
        put("freezer.state", "THAWED")
        recorder.records()
        put("freezer.state", "FROZEN")
        recorder.end()
        second = Agent("--pid", engine.pid, probes=UPROBES)
        wait(1)
        put("freezer.state", "THAWED")
        second.records()
        second.end()
        return f"{unharmed(engine)}, {accounted(recorder.out)}, {accounted(second.out)}"


def stopped():
    """The same by job control."""
    engine = Engine()
    recorder = agent(engine)
    os.kill(engine.pid, signal.SIGSTOP)
    wait(1)
    os.kill(engine.pid, signal.SIGCONT)
    recorder.records()
    os.kill(engine.pid, signal.SIGSTOP)
    recorder.end()
    os.kill(engine.pid, signal.SIGCONT)
    return f"{unharmed(engine)}, {accounted(recorder.out)}"


def two_agents():
    """Two agents record one engine: both have all of it, and each removes only its own probes."""
    engine = Engine()
    first, second = agent(engine), agent(engine)
    first.end()
    second.records()
    second.end()
    return f"{unharmed(engine)}, {accounted(first.out)}, {accounted(second.out)}"


def signals():
    """An agent that gets a request to end at any moment of its start ends normally and leaves nothing."""
    engine = Engine()
    for n in range(9):
        started = Agent("--pid", engine.pid, probes=UPROBES)
        wait(n * 0.02)
        started.process.send_signal((signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[n % 3])
        status = ended(started)
        assert status in (0, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP), (status, started.said())
        until("probes are left", lambda: breakpoints(engine.pid) == 0)
    return unharmed(engine)
