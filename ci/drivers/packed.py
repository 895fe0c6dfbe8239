"""A stand-in for Android's linker: maps a library inside an archive (APK, HAP) as code, at its offset, without unpacking it, and waits.

    packed.py ARCHIVE SECONDS

Real: the mappings, as /proc/PID/maps shows them. Not real: nothing of the library is linked or run.
"""

import mmap
import struct
import sys
import time
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    entry = archive.infolist()[0]
with open(sys.argv[1], "rb") as file:
    file.seek(entry.header_offset + 26)
    name, extra = struct.unpack("<HH", file.read(4))
    offset = entry.header_offset + 30 + name + extra
    assert offset % mmap.ALLOCATIONGRANULARITY == 0, "the library does not begin on a page"
    code = mmap.mmap(file.fileno(), entry.file_size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC, offset=offset)
assert code[:4] == b"\x7fELF"
print("mapped", flush=True)
time.sleep(float(sys.argv[2]))
