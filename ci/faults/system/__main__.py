"""See ci/faults/system.sh."""

import subprocess
import sys
import time
import traceback

import engine
import machine
import resources
import tracers
from common import Skipped
from support import Engine

ALWAYS = [engine.killed, engine.exec_, engine.fork, engine.killed_agent, engine.frozen, engine.stopped, engine.two_agents,
          engine.signals, resources.overflow, resources.disk_full, resources.disk_read_only, resources.disk_slow, resources.limits,
          resources.out_of_memory, resources.killed_for_memory, resources.no_time]
TRACERS = [tracers.gdb, tracers.strace, tracers.perf, tracers.bpftrace, tracers.direct]
MACHINE = [machine.clock, machine.cpu]


def main(arguments):
    cases = {case.__name__.strip("_"): case for case in ALWAYS}
    for option, more in (("--tracers", TRACERS), ("--machine", MACHINE)):
        names = {case.__name__: case for case in more}
        if option in arguments:
            arguments.remove(option)
            cases |= names
        elif set(arguments) & set(names):
            cases |= names
    unknown = set(arguments) - set(cases)
    if unknown:
        sys.exit(f"no case {', '.join(sorted(unknown))}; there are: {', '.join(cases)}")
    failed = 0
    for name in arguments or cases:
        began = time.monotonic()
        try:
            said = cases[name]()
        except Skipped as why:
            said = f"skipped: {why}"
        except (AssertionError, OSError, subprocess.SubprocessError) as e:
            traceback.print_exc()
            failed, said = failed + 1, f"FAILED: {e}"
        finally:
            for started in Engine.all:
                started.end()
            Engine.all.clear()
        print(f"{name}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    sys.exit(f"{failed} failed" if failed else 0)


main(sys.argv[1:])
