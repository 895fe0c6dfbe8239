#!/usr/bin/env bash
# SIGKILLs the agent at random moments while it has, puts in or takes out direct probes: ci/direct-kills.sh [N] [AROUND] [MODEL]
#
# One engine decodes all the while. N times (default 300) an agent is started and killed; AROUND of 100 (default 60) of the
# moments lie within some milliseconds of the change of the engine's code, the others anywhere in the agent's life. After each
# kill the engine must live. After every 20 kills, and at the end, `repair` runs and the engine's code must be that of its files, byte
# by byte. At the end every token that the engine computed must be that of an undisturbed run. Needs root and BPF; by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
n=${1:-300} around=${2:-60} model=${3:-dense-q8}
agent=${PROFINFER_AGENT:-${CARGO_TARGET_DIR:-target}/debug/profinfer-agent}
engine=${PROFINFER_ENGINE_DIR:-$(scripts/engine.sh | tail -n 1)}
models=${PROFINFER_MODELS_DIR:-$HOME/.cache/profinfer/models}
folder=$(mktemp -d)
trap 'kill $engine_pid 2>/dev/null; rm -rf "$folder"' EXIT
engine_pid=

run=("$engine/nodes" -m "$models/$model.gguf" -t 2 -p 5 -n 40 -c 512 --fresh)
"${run[@]}" -r 1 >"$folder/alone" 2>/dev/null
"${run[@]}" -r 1000000 >"$folder/calls" 2>/dev/null &
engine_pid=$!
until [ -s "$folder/calls" ]; do sleep 0.05; done

python3 - "$agent" "$engine_pid" "$folder" "$n" "$around" <<'PYTHON'
import os
import random
import signal
import subprocess
import sys
import time

agent, pid, folder, kills, around = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
PROBES = ["--probes", "direct", "--levels", "token,graph,op", "--pid", str(pid)]


def alive():
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def differs():
    """Where the code of the engine is not as in its files."""
    found = []
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
            if code != original:
                # A uprobe is 0xcc, and the kernel's to remove.
                at = next((i for i, (a, b) in enumerate(zip(code, original)) if a not in (b, 0xCC)), None)
                if at is None:
                    continue
                found.append(f"{fields[5]} at {start + at:#x}")
    return found


def fail(what):
    print(f"FAILED after {done} kills: {what}")
    sys.exit(1)


def tracer():
    try:
        with open(f"/proc/{pid}/status") as status:
            return "TracerPid:\t0\n" not in status.read()
    except OSError:
        return True


def pause(seconds):
    """Precise, as sleeping is not."""
    end = time.monotonic() + seconds
    if seconds > 0.02:
        time.sleep(seconds)
    while time.monotonic() < end:
        pass


def repair():
    said = subprocess.run([agent, "repair", "--pid", str(pid)], capture_output=True, text=True)
    if said.returncode:
        fail(said.stderr)
    if differs():
        fail(f"after repair: {differs()}")


def started():
    return subprocess.Popen([agent, "record", "--out", os.path.join(folder, "out"), *PROBES], stderr=subprocess.DEVNULL)


# When an agent changes the code, seconds after its start: the moments of a whole session lie up to half a second behind.
done, moments, attaching = 0, [], 0
for _ in range(3):
    began = time.monotonic()
    child = started()
    while not differs() and time.monotonic() - began < 30:
        pass
    moments.append(time.monotonic() - began)
    child.send_signal(signal.SIGINT)
    child.wait()
    if differs():
        fail("an agent that ended by itself left changes")
when = sorted(moments)[1]
print(f"code is changed {when * 1e3:.0f} ms after the agent's start")

changed = 0
for done in range(1, kills + 1):
    near = random.randrange(100) < around
    child = started()
    if near:
        # From the moment that the engine is stopped on: within its bootstrap, the writing of the page, the changes, just behind.
        until = time.monotonic() + 30
        while not tracer() and child.poll() is None and time.monotonic() < until:
            pass
        pause(random.choice((0.0005, 0.002, 0.01)) * random.random())
        attaching += 1
    else:
        pause(random.uniform(0, when + 0.5))
    # Some are ended in an orderly way first, and killed while they take the probes out.
    if random.randrange(4) == 0:
        child.send_signal(signal.SIGINT)
        time.sleep(random.uniform(0, 0.02))
    child.kill()
    child.wait()
    time.sleep(0.002)
    if not alive():
        fail("the engine is gone")
    changed += bool(differs())
    if done % 20 == 0:
        repair()
        size = os.path.getsize(os.path.join(folder, "calls"))
        time.sleep(0.3)
        if os.path.getsize(os.path.join(folder, "calls")) == size:
            time.sleep(5)
            if os.path.getsize(os.path.join(folder, "calls")) == size:
                fail("the engine does not go on")
        print(f"{done} kills, {attaching} of them while attaching, {changed} left changed code", flush=True)
repair()

os.kill(pid, signal.SIGTERM)
while alive():
    time.sleep(0.05)


def tokens(name):
    with open(os.path.join(folder, name)) as lines:
        calls = [line.rstrip("\n").split("\t") for line in lines if line.startswith("decode")]
    # The last line may be cut.
    return [(c[3], c[6]) for c in calls if len(c) == 9]


alone, disturbed = tokens("alone"), tokens("calls")
for n, token in enumerate(disturbed):
    if token != alone[n % len(alone)]:
        fail(f"call {n}: {token} instead of {alone[n % len(alone)]}")
print(f"{kills} kills, {attaching} while attaching, {changed} left changed code: the engine computed {len(disturbed)} calls, every token the same; code as in its files")
PYTHON
