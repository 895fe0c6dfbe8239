#!/usr/bin/env python3
"""throttle.py DEVICE LINK BYTES_PER_SECOND      limits DEVICE to the speed of a serial line; its other end is LINK

Both directions carry so many bytes a second and no more, as a real line does: what the far side sends meanwhile waits there.
"""
import os, pty, select, sys, termios, time, tty

device, link, speed = sys.argv[1], sys.argv[2], float(sys.argv[3])
far = os.open(device, os.O_RDWR | os.O_NOCTTY)
tty.setraw(far)
near, slave = pty.openpty()
tty.setraw(slave)
if os.path.islink(link):
    os.remove(link)
os.symlink(os.ttyname(slave), link)
due = {far: 0.0, near: 0.0}
while True:
    now = time.monotonic()
    ready, _, _ = select.select([fd for fd in due if due[fd] <= now], [], [], 0.005)
    for fd in ready:
        data = os.read(fd, 512)
        due[fd] = max(due[fd], time.monotonic() - 0.01) + len(data) / speed
        other = near if fd == far else far
        while data:
            data = data[os.write(other, data):]
