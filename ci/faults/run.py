"""Shared by the scripts of ci/faults: an engine, a serving agent, a capture of them, and its figures."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

AGENT = os.environ["PROFINFER_AGENT"]
ANALYZE = os.environ["PROFINFER_ANALYZE"]
NODES = os.environ["PROFINFER_ENGINE_DIR"] + "/nodes"
MODEL = os.environ["FAULTS_MODEL"]

# Processes started here. They are ended at the end in any case.
started = []


def fail(what):
    sys.exit(f"FAILED: {what}")


def start(command, **how):
    process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, **how)
    started.append(process)
    return process


def end_all():
    for process in reversed(started):
        if process.poll() is None:
            # An engine that the agent started outlives it.
            engines = children(process.pid)
            process.kill()
            process.wait()
            end_engines(engines)


def engine_command(calls=200, rounds=1_000_000):
    """The driver that decodes; with many rounds it runs until it is ended."""
    return [NODES, "-m", MODEL, "-t", "2", "-p", "5", "-n", calls, "-c", "512", "--fresh", "-r", rounds]


def serve(folder, options):
    """An agent that listens on a port of its choice: the process, and the port."""
    log, port = folder / "agent.log", folder / "port"
    port.unlink(missing_ok=True)
    with open(log, "w") as err:
        agent = start([AGENT, "serve", "--listen", "tcp:127.0.0.1:0", "--port-file", port, *options],
                      stdout=subprocess.DEVNULL, stderr=err)
    begun = time.monotonic()
    while not port.exists():
        if agent.poll() is not None or time.monotonic() > begun + 60:
            fail(f"the agent does not listen: {log.read_text()}")
        time.sleep(0.05)
    return agent, int(port.read_text())


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def end_engines(engines):
    """Engines that an agent started continue when it ends."""
    for engine in engines:
        try:
            os.kill(engine, signal.SIGKILL)
        except ProcessLookupError:
            pass


def capture(folder, port, *options):
    """`analyze` on that port, into folder/profile; its object goes to folder/analyze.json."""
    command = [ANALYZE, f"tcp:127.0.0.1:{port}", "--levels", "token,graph,op", "--out", folder / "profile", "--format", "json", *options]
    with open(folder / "analyze.log", "w") as err, open(folder / "analyze.json", "w") as out:
        return start(command, stdout=out, stderr=err)


def stop(analyze, folder, patience=300):
    """Ctrl-C, and then the views are written."""
    analyze.send_signal(signal.SIGINT)
    try:
        status = analyze.wait(patience)
    except subprocess.TimeoutExpired:
        fail("analyze does not end")
    if status != 0:
        fail(f"analyze: status {status}: {(folder / 'analyze.log').read_text()}")


def health(folder):
    return json.loads((folder / "summary.json").read_text())["health"]


def accounted(folder, before=0):
    """Checks that every operator that the kernel saw was received or is counted; returns a sentence with the sums."""
    found = health(folder)
    s = found["spans"]
    if found["cut_short"] or s["unaccounted"] != 0:
        fail(f"not every span is accounted for: {found}")
    total = before + s["received"] + s["dropped"] + s["left_out"] + s["no_start"]
    if total != s["kernel"]:
        fail(f"{s['kernel']} spans seen, {total} accounted for, {before} of them in earlier pieces")
    return (f"{s['kernel']} spans seen = {before + s['received']} received + {s['dropped']} dropped and counted + "
            f"{s['left_out']} left out + {s['no_start']} at the edges")
