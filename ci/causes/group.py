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


class Groups:
    """The groups of one run."""

    def __init__(self, limits):
        self.folders = {}
        for controller, values in limits.items():
            folder = mount_point(controller) / f"profinfer-causes-{os.getpid()}"
            folder.mkdir(exist_ok=True)
            self.folders[controller] = folder
            for name, value in values.items():
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
