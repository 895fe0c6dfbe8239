"""Events of an engine with direct probes, or while they are installed: see ci/direct-life.sh."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from support import (AGENT, ANALYZE, CHANGED, DOES_NOT_STOP, ENGINE, JOB_CONTROL, OTHER_AGENT, TOOLS, Agent, Engine, attached, changed,
                     check_tokens, folder, repair, run_repair, until)

FREEZER = "/sys/fs/cgroup/freezer"


def whole(engine):
    """The engine is alive, its code equals its files, its tokens are right."""
    assert not changed(engine.pid), changed(engine.pid)
    engine.goes_on()
    engine.end()
    return f"{check_tokens(engine.out)} calls"


def recording(pid):
    """An agent whose direct probes are installed and record."""
    agent = Agent("--pid", pid)
    attached(pid)
    agent.records()
    return agent


def fork():
    """A child continues with the changed code and computes right; it records nothing, and repair restores its code."""
    child_out = folder / "child"
    engine = Engine(threads=1, LD_PRELOAD=str(TOOLS / "preload.so"), LIFE_CHILD=str(child_out))
    agent = recording(engine.pid)
    engine.process.send_signal(signal.SIGUSR1)
    children = f"/proc/{engine.pid}/task/{engine.pid}/children"
    child = int(until("no child", lambda: open(children).read().split())[0])
    until("the child does not decode", lambda: child_out.exists() and child_out.stat().st_size > 2000)
    assert changed(child), "it has the code of its parent"
    agent.records()
    agent.end()
    assert changed(child) and not changed(engine.pid)
    size = child_out.stat().st_size
    until("the child does not go on", lambda: child_out.stat().st_size > size + 2000)
    assert repair(child) > 0
    size = child_out.stat().st_size
    until("the child does not go on", lambda: child_out.stat().st_size > size + 2000)
    # A separate session treats it as any other engine.
    agent = recording(child)
    agent.end()
    assert not changed(child)
    os.kill(child, signal.SIGKILL)
    return f"child {check_tokens(child_out)} calls, parent {whole(engine)}"


def exec_():
    """After exec, the new program has no probe, and the session ends without an error."""
    engine = Engine(threads=1, LD_PRELOAD=str(TOOLS / "preload.so"))
    agent = recording(engine.pid)
    engine.process.send_signal(signal.SIGUSR2)
    until("no exec", lambda: "sleep" in os.readlink(f"/proc/{engine.pid}/exe") or "busybox" in os.readlink(f"/proc/{engine.pid}/exe"))
    assert not changed(engine.pid)
    assert "profinfer-probes" not in open(f"/proc/{engine.pid}/maps").read()
    time.sleep(0.2)
    if agent.process.poll() is None:
        agent.end()
    assert engine.process.poll() is None, "the new program lives"
    check_tokens(engine.out)
    engine.end()


def unload():
    """Unloading a library removes its changes. Loaded again, it is clean, and can be probed again."""
    exe, lib = ENGINE.parent / "exe/nodes", ENGINE.parent / "root/usr/lib/x86_64-linux-gnu"
    backend = sorted(lib.glob("ggml/backends0/libggml-cpu-x64.so"))[0]
    log = open(folder / "unload", "w+")
    command = [exe, "--library-path", f"{lib}:{lib}/llama", TOOLS / "unload", lib / "libggml-base.so.0", backend]
    engine = subprocess.Popen(command, stdout=log)

    def said(n, what):
        def lines():
            assert engine.poll() is None, engine.returncode
            return open(folder / "unload").read().split()
        until(what, lambda: lines()[n - 1 : n] == [what])

    alone = os.environ["PROFINFER_DIRECT_ALONE"]
    said(1, "loaded")
    for n in range(3):
        agent = subprocess.Popen([alone, str(engine.pid)], stderr=subprocess.DEVNULL)
        attached(engine.pid)
        time.sleep(0.05)
        engine.send_signal(signal.SIGUSR1)
        said(2 * n + 2, "unloaded")
        if n == 0:  # loaded again while the agent runs: clean
            engine.send_signal(signal.SIGUSR1)
            said(2 * n + 3, "loaded")
            assert not changed(engine.pid)
        if n == 1:  # killed while the library is unloaded
            agent.kill()
            agent.wait()
            repair(engine.pid)
        else:
            agent.send_signal(signal.SIGINT)
            assert agent.wait() == 0
        if n > 0:
            engine.send_signal(signal.SIGUSR1)
            said(2 * n + 3, "loaded")
        assert not changed(engine.pid)
        time.sleep(0.05)
        assert engine.poll() is None
    engine.kill()
    engine.wait()


def threads():
    """Threads that end and begin with every graph (a build without OpenMP): more than the number of slots, none lost."""
    old = os.environ.get("PROFINFER_MID_ENGINE_DIR")
    if not old:
        return "skipped: PROFINFER_MID_ENGINE_DIR is not set"
    engine = Engine(threads=4, engine=Path(old))
    seen = set()
    agent = Agent("--pid", engine.pid)
    attached(engine.pid)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        seen.update(os.listdir(f"/proc/{engine.pid}/task"))
    agent.records()
    result = agent.end()
    assert result["spans_sent"] > 0 and result["spans_lost"] == 0, result
    assert not changed(engine.pid)
    engine.goes_on()
    engine.end()
    return f"at least {len(seen)} threads seen"


def stopped():
    """Stopped by job control before the session: refused, uprobes instead. Stopped with probes installed: they stay without
    recording, and repair removes them later."""
    engine = Engine()
    os.kill(engine.pid, signal.SIGSTOP)
    agent = Agent("--pid", engine.pid)
    agent.until_why(JOB_CONTROL)
    assert not changed(engine.pid)
    os.kill(engine.pid, signal.SIGCONT)
    agent.records()
    agent.end()
    engine.goes_on()
    agent = recording(engine.pid)
    os.kill(engine.pid, signal.SIGSTOP)
    agent.end()
    assert f"repair --pid {engine.pid}" in agent.said() or not changed(engine.pid), agent.said()
    os.kill(engine.pid, signal.SIGCONT)
    engine.goes_on()
    repair(engine.pid)
    return whole(engine)


def frozen():
    """The same by the freezer of control groups."""
    if not os.path.isdir(FREEZER):
        return "skipped: no freezer of version 1"
    engine, group = Engine(), f"{FREEZER}/life-{os.getpid()}"

    def state(to):
        with open(f"{group}/freezer.state", "w") as file:
            file.write(to)
        until(to, lambda: open(f"{group}/freezer.state").read().strip() == to)

    os.mkdir(group)
    try:
        with open(f"{group}/cgroup.procs", "w") as procs:
            procs.write(str(engine.pid))
        state("FROZEN")
        agent = Agent("--pid", engine.pid)
        agent.until_why(DOES_NOT_STOP)
        assert not changed(engine.pid)
        state("THAWED")
        agent.records()
        agent.end()
        engine.goes_on()
        agent = recording(engine.pid)
        state("FROZEN")
        agent.end()
        state("THAWED")
        engine.goes_on()
        repair(engine.pid)
        return whole(engine)
    finally:
        engine.end()
        until("the group stays", lambda: not open(f"{group}/cgroup.procs").read())
        os.rmdir(group)


def signals():
    """An agent that gets a signal while it attaches ends without an error, and restores the code."""
    engine = Engine()
    late = 0
    for how in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) * 3:
        agent = Agent("--pid", engine.pid)
        status = f"/proc/{engine.pid}/status"
        for _ in range(20_000):
            if "TracerPid:\t0\n" not in open(status).read() or agent.process.poll() is not None:
                break
        agent.end(how)
        if f"repair --pid {engine.pid}" in agent.said():  # a busy machine: the engine did not stop
            late += 1
            engine.goes_on()
            repair(engine.pid)
        left = changed(engine.pid)
        assert not left, (left, how, open(f"/proc/{engine.pid}/maps").read().count("profinfer-probes"), repair(engine.pid), agent.said())
        engine.goes_on()
    return f"{whole(engine)}, {late} times repaired, because it did not stop"


def uprobe_first():
    """Other uprobes are installed: refused with the reason, nothing changed, and uprobes record."""
    engine = Engine()
    first = Agent("--pid", engine.pid, probes=["--levels", "token,graph,op"])
    first.records()
    second = Agent("--pid", engine.pid)
    second.until_why(CHANGED)
    assert not changed(engine.pid)
    second.records()
    second.end()
    first.records()
    first.end()
    return whole(engine)


def two_agents():
    """A second agent gets no direct probes, and does not touch those of the first."""
    engine = Engine()
    first = recording(engine.pid)
    second = Agent("--pid", engine.pid)
    second.until_why(OTHER_AGENT)
    status, refused = run_repair(engine.pid)
    assert status == 1 and refused["why"] == OTHER_AGENT, refused
    second.end()
    assert changed(engine.pid), "the first's"
    first.records()
    first.end()
    return whole(engine)


def serve():
    """The plan of a host requests direct probes."""
    engine = Engine()
    log, port = open(folder / "serve.log", "w"), folder / "port"
    agent = subprocess.Popen([AGENT, "serve", "--once", "--listen", "tcp:127.0.0.1:0", "--port-file", port, "--pid", str(engine.pid)], stderr=log)
    try:
        until("the agent does not listen", port.exists)
        host = subprocess.Popen(
            [ANALYZE, f"tcp:127.0.0.1:{port.read_text().strip()}", "--probes", "direct", "--levels", "token,graph,op", "-o", folder / "profile"],
            stdout=subprocess.DEVNULL, stderr=open(folder / "host.log", "w"))
        attached(engine.pid)
        time.sleep(1)
        host.send_signal(signal.SIGINT)
        assert host.wait(60) == 0, open(folder / "host.log").read()
        assert agent.wait(60) == 0, open(folder / "serve.log").read()
    finally:
        agent.kill()
    return whole(engine)


CASES = {f.__name__.strip("_"): f for f in
         (fork, exec_, unload, threads, stopped, frozen, signals, uprobe_first, two_agents, serve)}

failed = 0
for name in sys.argv[1:] or CASES:
    began = time.monotonic()
    try:
        said = CASES[name]() or "held"
    except AssertionError as e:
        failed, said = 1, f"FAILED: {e!r}"
        import traceback
        traceback.print_exc()
    print(f"{name}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
sys.exit(failed)
