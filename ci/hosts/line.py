#!/usr/bin/env python3
"""line.py FILE      a serial line: two pseudo-terminals, whose names are written into FILE, and what is written to one is read from the other"""
import os
import select
import sys
import tty

ends = [os.openpty() for _ in range(2)]
for _, device in ends:
    tty.setraw(device)
with open(sys.argv[1], "w", encoding="ascii") as file:
    print(*(os.ttyname(device) for _, device in ends), file=file)
here, there = (line for line, _ in ends)
while True:
    for line in select.select([here, there], [], [])[0]:
        os.write(there if line == here else here, os.read(line, 1 << 16))
