"""How busy the machine is with other things, so that a result states it."""

import time
from pathlib import Path

#: Share of all CPUs above which a case waits, and the longest wait, s.
QUIET, LONGEST = 0.1, 300


def busy(seconds=1.0):
    """Share of all CPUs that is in use."""
    def read():
        ticks = [int(t) for t in Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()[1:9]]
        return sum(ticks), ticks[3] + ticks[4]

    (all_0, idle_0), _, (all_1, idle_1) = read(), time.sleep(seconds), read()
    return 1 - (idle_1 - idle_0) / max(1, all_1 - all_0)


def wait_until_quiet(longest=LONGEST):
    """Waits for a quiet machine; returns the last share, which is high if none came."""
    begun = time.monotonic()
    while (share := busy()) > QUIET and time.monotonic() - begun < longest:
        time.sleep(5)
    return share


def cpu_times():
    """CPU time of each process that there is, ns by process ID: the kernel's own account."""
    out = {}
    for path in Path("/proc").glob("[0-9]*/task/*/schedstat"):
        try:
            pid, ns = int(path.parts[2]), int(path.read_text(encoding="utf-8").split()[0])
        except (OSError, ValueError, IndexError):
            continue
        out[pid] = out.get(pid, 0) + ns
    return out


def since(before):
    """CPU time of each process since an earlier account, ns by process ID."""
    return {pid: ns - before.get(pid, 0) for pid, ns in cpu_times().items() if ns > before.get(pid, 0)}
