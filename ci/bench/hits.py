#!/usr/bin/env python3
"""Overhead per token from hit counts, if windows are too noisy: probe hits, the time of their programs, the agent's CPU.

The kernel counts how often each BPF program ran and for how long (kernel.bpf_stats_enabled, which adds two looks at the clock to each
run); the scheduler counts the agent's CPU time. What is missing is the trap itself, for which half of a pair's time in an engine is taken (docs/performance.md).
"""

import argparse
import glob
import os
import re
import time

import ways
from engine import Engine

STATS = "/proc/sys/kernel/bpf_stats_enabled"


def programs(pid):
    """Runs and nanoseconds of each BPF program of the process."""
    found = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as f:
                told = dict(re.findall(r"^(prog_id|run_cnt|run_time_ns):\s+(\d+)", f.read(), re.M))
        except OSError:
            continue
        if len(told) == 3:
            found[told["prog_id"]] = int(told["run_cnt"]), int(told["run_time_ns"])
    return found


def cpu_ns(pid):
    """CPU time of all threads."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def tokens(engine):
    """Number of calls so far."""
    return len(re.findall(r"^decode", engine.text(), re.M))


def look(engine, pid):
    """Tokens, programs and CPU time so far."""
    return tokens(engine), programs(pid), cpu_ns(pid)


def measure(engine, way, threads, args):
    """Prints the overhead per token of one way. `threads`: the number of threads that share its hits."""
    way.begin(engine)
    pid = way.process.pid
    (n0, was, cpu0), begun = look(engine, pid), time.monotonic_ns()
    time.sleep(args.seconds)
    (n1, now, cpu1), took = look(engine, pid), time.monotonic_ns() - begun
    way.end()
    n = max(n1 - n0, 1)
    token, agent = took / n, (cpu1 - cpu0) / n
    runs = sum(now[k][0] - was.get(k, (0, 0))[0] for k in now) / n
    ns = sum(now[k][1] - was.get(k, (0, 0))[1] for k in now) / n
    thread = (runs * args.trap + ns) / threads
    print(f"{way.name:12} {token / 1e6:.2f} ms a token: {runs:.1f} hits, {ns / 1e3:.1f} us of programs, {thread / 1e3:.1f} us in a thread "
          f"= {thread / token * 100:.2f} %; agent {agent / 1e3:.1f} us of CPU = {agent / token * 100:.2f} % of one CPU")


def main():
    """Measures and prints."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--agent", required=True)
    p.add_argument("--engine", required=True, help="folder with `nodes`")
    p.add_argument("--model", required=True)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--trap", type=float, default=800, help="ns of a hit without its program")
    p.add_argument("--ways", default="token,token+graph,direct,op")
    args = p.parse_args()
    with open(STATS, encoding="ascii") as f:
        before = f.read()
    engine = Engine(args.engine, args.model, args.threads, 60)
    try:
        with open(STATS, "w", encoding="ascii") as f:
            f.write("1")
        time.sleep(1)
        for name in args.ways.split(","):
            # One thread makes the llama_decode and graph calls.
            measure(engine, ways.agent(name, args.agent), args.threads if name == "op" else 1, args)
    finally:
        with open(STATS, "w", encoding="ascii") as f:
            f.write(before)
        engine.stop()


if __name__ == "__main__":
    main()
