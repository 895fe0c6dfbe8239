#!/usr/bin/env python3
"""beside.py PERCENT COMMAND ARGUMENT...    runs COMMAND in parallel with a task that uses PERCENT of the first CPU, with priority.

The task takes its part every 5 ms at a real-time priority, so that the thread of COMMAND on that CPU stands still meanwhile. It ends with
COMMAND, which takes this program's place. With 0 there is none.
"""
import ctypes
import os
import signal
import sys
import time

PERIOD = 0.005
PR_SET_PDEATHSIG = 1

percent, command = float(sys.argv[1]), sys.argv[2:]
parent = os.getpid()
if percent > 0 and os.fork() == 0:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    while True:
        end = time.monotonic() + PERIOD * percent / 100
        while time.monotonic() < end:
            pass
        time.sleep(PERIOD * (1 - percent / 100))
os.execvp(command[0], command)
