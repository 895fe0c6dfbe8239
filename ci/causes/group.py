"""Control groups of version 1 for one run: limits by controller, removed at its end."""

import os
import time
from pathlib import Path


class NoGroup(Exception):
    """This machine has no such controller."""


def mount_point(controller):
    """Where the controller of version 1 is mounted."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        fields, _, kind = line.partition(" - ")
        if kind.startswith("cgroup ") and controller in kind.replace(",", " ").split():
            return Path(fields.split(" ")[4])
    raise NoGroup(f"no control groups of version 1 for {controller} are mounted here")


def disk_of(path):
    """Major and minor number of the disk that a file is on, as blkio wants it: not those of a partition."""
    device = os.stat(path).st_dev
    place = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if (place / "partition").exists():
        place = place.resolve().parent
    try:
        return (place / "dev").read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise NoGroup(f"{path} is on no disk whose speed can be limited") from error


class Groups:
    """The groups of one run. `DISK` in a value is the disk of `file`."""

    def __init__(self, limits, file):
        self.folders = {}
        for controller, values in limits.items():
            folder = mount_point(controller) / f"profinfer-causes-{os.getpid()}"
            folder.mkdir(exist_ok=True)
            self.folders[controller] = folder
            for name, value in values.items():
                value = value.replace("DISK", disk_of(file)) if "DISK" in value else value
                (folder / name).write_text(value, encoding="utf-8")

    def files(self):
        """Files to which the engine writes itself."""
        return [str(folder / "cgroup.procs") for folder in self.folders.values()]

    def set(self, controller, name, value):
        (self.folders[controller] / name).write_text(value, encoding="utf-8")

    def close(self):
        # A process that has ended may stay a moment in its group.
        for folder in self.folders.values():
            for _ in range(100):
                try:
                    folder.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)
