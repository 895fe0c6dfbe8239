"""See ci/soak.sh."""

import argparse
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import run

# Seconds between two looks.
LOOK = 2
# Bytes of the agent's queue to the link, sent frames included: agent-static/src/link/output.rs.
QUEUE = 3 << 19
# Least number of looks at its memory, however slow the engine is.
LOOKS = 15
# Number of ended engines that the agent remembers: ENDED_KEPT of
# agent-static/src/probes/tracer/end.rs. Until it forgets some, its memory grows.
ENDED = 8


def memory(pid):
    """Private memory, KB, swap included. The kernel may drop pages of files and read them again."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return sum(int(re.search(rf"^{line}:\s+(\d+) kB", status, re.M)[1]) for line in ("RssAnon", "VmSwap"))


def read(pieces, folder):
    """The health of pieces, from `analyze`."""
    out = folder / "read"
    done = subprocess.run([run.ANALYZE, *pieces, "--out", out], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        run.fail(f"{pieces} cannot be read: {done.stderr}")
    return run.health(out)


def check_whole(piece, last, folder):
    """Checks a finished piece: readable alone, nothing damaged. Returns its number of spans."""
    health = read([piece], folder)
    if health["damaged"] or health["cut_short"] and not last:
        run.fail(f"{piece.name}: {health}")
    return health["spans"]["received"]


def flat(own, server):
    """Whether memory neither grows nor shrinks by a page. An agent reads files of engines while they
    start, so a server's memory changes: its minimum must be the same in each third."""
    third = len(own) // 3
    parts = [own[:third], own[third : 2 * third], own[2 * third :]]
    return len({min(part) for part in parts}) == 1 if server else min(own) == max(own)


def main():
    arguments = argparse.ArgumentParser(prog="soak.sh")
    arguments.add_argument("--hours", type=float, default=0)
    arguments.add_argument("--minutes", type=float, default=0)
    arguments.add_argument("--seconds", type=float, default=0)
    arguments.add_argument("--server", action="store_true")
    arguments.add_argument("--rotate", default="16M,10min")
    options = arguments.parse_args()
    seconds = options.hours * 3600 + options.minutes * 60 + options.seconds or 120
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
    if options.server:
        agent, port = run.serve(folder, ["--once", "--restarts", "--name", "nodes"])
    else:
        agent, port = run.serve(folder, ["--once", "--", *run.engine_command()])
    analyze = run.capture(folder, port, "--rotate", options.rotate, "--reconnect", "60")
    profile, begun, engine, restarts = folder / "profile", time.monotonic(), None, 0
    own, growing, whole, sums, engines = [], 0, 0, 0, set()
    while time.monotonic() < begun + seconds or len(own) < LOOKS:
        time.sleep(LOOK)
        if options.server and (engine is None or engine.poll() is not None):
            # Some seconds of requests, then it ends.
            engine = run.start(run.engine_command(rounds=3), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            restarts += 1
        for process, name in ((agent, "agent"), (analyze, "analyze")):
            if process.poll() is not None:
                run.fail(f"{name} ended: {(folder / (name + '.log')).read_text()}")
        engines |= set(run.children(agent.pid))
        pieces = sorted(profile.glob("recording-*.pfi"))
        # The warm-up is over when the queue to the link, a ring, has wrapped around, and the agent has
        # forgotten engines.
        if sum(p.stat().st_size for p in pieces) > QUEUE * 2 and not (options.server and restarts < ENDED + 4):
            own.append(memory(agent.pid))
        for piece in pieces[whole:-1]:
            sums += check_whole(piece, False, folder)
            whole += 1
        if pieces and growing % 8 == 0:
            with open(folder / "inspect", "w") as out:
                if subprocess.run([run.ANALYZE, "inspect", pieces[-1]], stdout=out, stdin=subprocess.DEVNULL).returncode != 0:
                    run.fail(f"{pieces[-1].name} cannot be inspected while it grows")
            if "DAMAGE" in (folder / "inspect").read_text():
                run.fail(f"{pieces[-1].name} is damaged while it grows")
        growing += 1
    run.stop(analyze, folder)
    run.end_engines(engines)
    pieces = sorted(profile.glob("recording-*.pfi"))
    for piece in pieces[whole:-1]:
        sums += check_whole(piece, False, folder)
    read([pieces[-1]], folder)
    size = sum(p.stat().st_size for p in pieces) / 1e6
    print(f"{seconds:.0f} s, {len(pieces)} pieces, {size:.1f} MB" + (f", {restarts} starts of the engine" if options.server else ""))
    print(run.accounted(folder / "read", sums))
    print(f"the agent's memory after the warm-up: {min(own)} to {max(own)} KB, {len(own)} samples")
    if not flat(own, options.server):
        run.fail(f"the agent's memory changes: {own}")
    shutil.rmtree(folder)


try:
    main()
finally:
    run.end_all()
