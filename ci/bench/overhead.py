#!/usr/bin/env python3
"""Decode speed of llama-bench without and with tracing: interleaved runs, median of the ratios.

Absolute speeds on a shared machine are noise; each traced run is compared with the mean of the untraced runs
before and after it.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

BPFTRACE = """
uprobe:%(lib)s:ggml_cpu_extra_compute_forward { @s[tid] = nsecs; @t[tid] = arg1; }
uprobe:%(lib)s:ggml_barrier /@s[tid]/ { printf("%%d %%llu %%llu %%lx\\n", tid, @s[tid], nsecs, @t[tid]); delete(@s[tid]); }
"""


def speed(prefix, bench):
    """Tokens per second by the engine, and what the agent said at its end."""
    out = subprocess.run(prefix + bench, capture_output=True, text=True, check=True)
    said = re.search(r"(\d+) spans sent, (\d+) lost.*agent: ([\d.]+) MB, ([\d.]+) s CPU", out.stderr)
    return json.loads(out.stdout)[0]["avg_ts"], said


def with_bpftrace(lib, bench, folder):
    """Tokens per second while bpftrace records the operators to a file."""
    lines = os.path.join(folder, "bpftrace.txt")
    with open(lines, "w", encoding="ascii") as out:
        tracer = subprocess.Popen(["bpftrace", "-e", BPFTRACE % {"lib": lib}], stdout=out, stderr=subprocess.DEVNULL)
        time.sleep(3)
        if tracer.poll() is not None:
            return None
        try:
            return speed([], bench)[0]
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.wait()


def cpu_library(bench):
    """The CPU backend that the engine chooses here: read from its own log."""
    out = subprocess.run(bench, capture_output=True, text=True, check=True)
    said = re.search(r"loaded CPU backend from (\S+)", out.stderr)
    return os.path.realpath(said.group(1)) if said else None


def main():
    """Measures and prints."""
    p = argparse.ArgumentParser()
    p.add_argument("--agent", required=True)
    p.add_argument("--engine", required=True)
    p.add_argument("--model", required=True)
    p.add_argument("--threads", default="2")
    p.add_argument("--tokens", default="32")
    p.add_argument("--pairs", type=int, default=7)
    p.add_argument("--no-bpftrace", action="store_true")
    a = p.parse_args()
    bench = [os.path.join(a.engine, "llama-bench"), "-m", a.model, "-t", a.threads, "-p", "0", "-n", a.tokens,
             "-r", "1", "-o", "json"]
    ways = {"all levels": "all", "token+graph": "token,graph"}
    ratios = {name: [] for name in [*ways, "bpftrace"]}
    stream, lost, rss = [], 0, 0.0
    lib = None if a.no_bpftrace else cpu_library(bench)
    with tempfile.TemporaryDirectory() as folder:
        before, _ = speed([], bench)
        for pair in range(a.pairs):
            row = []
            for name in [*ways, *(["bpftrace"] if lib else [])]:
                if name in ways:
                    out = os.path.join(folder, "b.pfi")
                    traced, said = speed([a.agent, "record", "--out", out, "--levels", ways[name], "--"], bench)
                    lost += int(said.group(2))
                    rss = max(rss, float(said.group(3)))
                    if name == "all levels":
                        stream.append(os.path.getsize(out) / int(said.group(1)))
                else:
                    traced = with_bpftrace(lib, bench, folder)
                after, _ = speed([], bench)
                if traced:
                    ratios[name].append(traced / ((before + after) / 2))
                    row.append(f"{name} {traced:.2f}")
                row.append(f"untraced {after:.2f}")
                before = after
            print(f"  {pair + 1}/{a.pairs}: " + ", ".join(row) + " tok/s", flush=True)
    for name, values in ratios.items():
        if values:
            drop = (1 - statistics.median(values)) * 100
            spread = ", ".join(f"{(1 - v) * 100:.2f}" for v in sorted(values))
            print(f"decode slowdown, {name}: {drop:.2f} % (median of {len(values)}; all: {spread})")
    print(f"stream: {statistics.median(stream):.2f} bytes per operator span, structure and all else included")
    print(f"spans lost: {lost}; agent: {rss:.1f} MB at most")


if __name__ == "__main__":
    main()
