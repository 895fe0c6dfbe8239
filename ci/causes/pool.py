"""Memory that stays the machine's own while the battery runs.

A virtual machine may give free memory back to its hypervisor (free page reporting). Memory that was free for some
seconds is then mapped anew when a program gets it, at some 0.3 ms per 2 MiB on the machine that was tried: the start of
an engine took longest after a slow run, which had given the machine time to report. The kernel's pool of huge pages is
never reported.
"""

import mmap
import os
import re
from pathlib import Path

#: Of the kernel's headers; Python has no name for it.
MAP_HUGETLB = 0x40000
COUNT = Path("/proc/sys/vm/nr_hugepages")
#: Two engines with the largest model of the battery.
WANTED = 3 << 30


def meminfo(field):
    """A field of /proc/meminfo: KiB, or a number of huge pages."""
    text = Path("/proc/meminfo").read_text(encoding="utf-8")
    return int(re.search(rf"^{field}: +(\d+)", text, re.MULTILINE).group(1))


class Pool:
    """A pool of huge pages that were all used before. `size`: bytes; 0 where memory is short, or the kernel has no such pool."""

    def __init__(self):
        self.size, self.before = 0, None
        if not os.access(COUNT, os.W_OK):
            return
        self.before = COUNT.read_text(encoding="utf-8")
        page = meminfo("Hugepagesize") * 1024
        wanted = min(WANTED, meminfo("MemAvailable") * 1024 // 4) // page
        COUNT.write_text(str(int(self.before) + wanted), encoding="utf-8")
        self.size = meminfo("HugePages_Free") * page
        if self.size:
            with mmap.mmap(-1, self.size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB) as pages:
                for at in range(0, self.size, page):
                    pages[at] = 1

    def close(self):
        if self.before:
            COUNT.write_text(self.before, encoding="utf-8")
