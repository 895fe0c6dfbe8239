#!/usr/bin/env python3
"""initramfs.py OUT.cpio --kernel DIR --modules NAME... [--file SRC:DST ...] [--tree DIR:DST ...] [--link TO:DST ...]

Writes the root file system of an emulated board as a newc cpio archive, uncompressed, because unpacking is what
costs time in an emulator. Kernel modules come with all they depend on, unpacked, in the order of loading, which
/modules.list names; modules that this kernel has built in are left out.
"""

import argparse
import lzma
import os
import re
import stat
from pathlib import Path

FOLDERS = "dev proc sys tmp run root root/.ssh etc etc/dropbear bin mnt lib lib/modules"


class Cpio:
    """A newc archive that is being written; every entry is root's, and folders are made as needed."""

    def __init__(self, path):
        self.out = open(path, "wb")
        self.names = set()

    def entry(self, name, mode, data=b"", device=(0, 0)):
        name = name.strip("/")
        if name in self.names:
            return
        parent = os.path.dirname(name)
        if parent:
            self.entry(parent, stat.S_IFDIR | 0o755)
        self.names.add(name)
        encoded = name.encode() + b"\0"
        fields = (len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + encoded
        self.out.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))

    def copy(self, source, name):
        source = Path(source)
        mode = source.lstat().st_mode
        if stat.S_ISLNK(mode):
            self.entry(name, stat.S_IFLNK | 0o777, os.readlink(source).encode())
        elif stat.S_ISDIR(mode):
            for child in sorted(source.iterdir()):
                self.copy(child, f"{name}/{child.name}")
        else:
            # the key file must not be readable by others, programs must be runnable: as they are
            self.entry(name, stat.S_IFREG | stat.S_IMODE(mode) & 0o755, source.read_bytes())

    def close(self):
        self.entry("TRAILER!!!", 0)
        self.out.write(b"\0" * (-self.out.tell() % 512))
        self.out.close()


def module_files(kernel):
    found = {}
    for path in [*kernel.glob("lib/modules/*/kernel/**/*.ko*"), *kernel.glob("usr/lib/modules/*/kernel/**/*.ko*")]:
        found[path.name.split(".ko")[0].replace("-", "_")] = path
    return found


def module_bytes(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def in_load_order(files, wanted):
    """(name, bytes) of the wanted modules and of all that they depend on, dependencies first."""
    order = {}

    def need(name):
        name = name.replace("-", "_")
        if name in order or name not in files:
            return
        data = module_bytes(files[name])
        depends = re.search(rb"\0depends=([^\0]*)\0", data)
        for other in filter(None, depends.group(1).decode().split(",") if depends else []):
            need(other)
        order[name] = data

    for name in wanted:
        need(name)
    return order


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("--kernel", type=Path, required=True, help="folder of an unpacked kernel package")
    p.add_argument("--modules", nargs="*", default=[])
    for what in ("file", "tree", "link"):
        p.add_argument(f"--{what}", action="append", default=[], metavar="SRC:DST")
    a = p.parse_args()
    cpio = Cpio(a.out)
    for folder in FOLDERS.split():
        cpio.entry(folder, stat.S_IFDIR | (0o700 if folder.startswith("root") else 0o755))
    cpio.entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    cpio.entry("dev/null", stat.S_IFCHR | 0o666, device=(1, 3))
    modules = in_load_order(module_files(a.kernel), a.modules)
    for name, data in modules.items():
        cpio.entry(f"lib/modules/{name}.ko", stat.S_IFREG | 0o644, data)
    cpio.entry("modules.list", stat.S_IFREG | 0o644, "".join(f"{m}\n" for m in modules).encode())
    for pair in a.file + a.tree:
        cpio.copy(*pair.rsplit(":", 1))
    for pair in a.link:
        to, name = pair.rsplit(":", 1)
        cpio.entry(name, stat.S_IFLNK | 0o777, to.encode())
    cpio.close()


if __name__ == "__main__":
    main()
