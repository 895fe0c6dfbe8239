"""Files of a machine like another one, for one run: mounted over the system's where only the agent and the engine see them."""

import os
import shlex
import shutil
import threading
import time
from pathlib import Path

CPUS, STAT = Path("/sys/devices/system/cpu"), Path("/proc/stat")
#: Ticks of the kernel per second in /proc/stat, and the place of steal time among the fields of a CPU.
TICKS, STEAL = os.sysconf("SC_CLK_TCK"), 8


def tree(folder, per_cpu):
    """Fills `folder` with CPUs that have these files and no others: by name, one text per CPU."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("online", "possible", "present"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((CPUS / name).read_text(encoding="utf-8"), encoding="utf-8")
    for name, texts in per_cpu.items():
        for cpu, text in enumerate(texts):
            path = folder / f"cpu{cpu}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")


def stolen(text, ticks):
    """The text of /proc/stat with so many more ticks of steal time in each CPU, and in their sum."""
    lines = text.splitlines()
    cpus = sum(line.startswith("cpu") for line in lines) - 1
    for i, line in enumerate(lines):
        if line.startswith("cpu"):
            fields = line.split()
            fields[STEAL] = str(int(fields[STEAL]) + (ticks * cpus if fields[0] == "cpu" else ticks))
            lines[i] = " ".join(fields)
    return "\n".join(lines) + "\n"


class Stolen:
    """A stand-in for /proc/stat: steal time that grows by `share` of the time. No hypervisor takes any."""

    def __init__(self, path, share):
        self.path, self.share, self.begun, self.over = path, share, time.monotonic(), threading.Event()
        self.write()
        self.thread = threading.Thread(target=self.keep_writing, daemon=True)
        self.thread.start()

    def write(self):
        text = stolen(STAT.read_text(encoding="utf-8"), int((time.monotonic() - self.begun) * self.share * TICKS))
        # The same file, since that one is mounted; longer than before or as long, so that a reader finds no half of it.
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(text.encode())
            file.truncate()

    def keep_writing(self):
        while not self.over.wait(0.02):
            self.write()

    def close(self):
        self.over.set()
        self.thread.join()


def entered(mounts):
    """Words that run a command with these files: (file or folder, place)."""
    script = " && ".join(f"mount --bind {shlex.quote(str(source))} {place}" for source, place in mounts)
    return ["unshare", "-m", "sh", "-c", f'{script} && exec "$0" "$@"']
