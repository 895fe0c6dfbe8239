"""Changes of the machine, which are undone: its clock, its CPUs. Only with --machine."""

import time
from pathlib import Path

from common import Skipped, accounted, agent, summary, unharmed, wait
from support import Engine


def clock():
    """The real-time clock is set an hour ahead, two back, and right again: no time in the recording changes."""
    engine = Engine()
    began = time.monotonic()
    recorder = agent(engine)
    offset = time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)

    def set_to(seconds):
        time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_MONOTONIC) + offset + seconds)

    try:
        for seconds in (3600, -7200, 0):
            set_to(seconds)
            wait(0.7)
    except PermissionError as e:
        raise Skipped(f"the clock may not be set: {e}") from e
    finally:
        set_to(0)
    recorder.records()
    recorder.end()
    took = time.monotonic() - began
    lasted = summary(recorder.out)["session"]["duration_ns"] / 1e9
    assert lasted <= took, f"the recording lasts {lasted} s, but {took} s passed"
    return f"{unharmed(engine)}, {accounted(recorder.out)}, {lasted:.1f} s"


def cpu():
    """A CPU goes offline and comes back, twice."""
    switch = Path("/sys/devices/system/cpu/cpu1/online")
    if not switch.exists():
        raise Skipped("the second CPU cannot be switched off")
    engine = Engine()
    recorder = agent(engine)
    try:
        for state in "0101":
            try:
                switch.write_text(state)
            except OSError as e:
                raise Skipped(f"the second CPU cannot be switched: {e}") from e
            wait(1)
    finally:
        switch.write_text("1")
    recorder.records()
    recorder.end()
    return f"{unharmed(engine)}, {accounted(recorder.out)}"
