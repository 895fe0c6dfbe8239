#!/usr/bin/env python3
"""Two agents on one decoding engine, in alternating windows: the overhead of each, and the ratio of both, pair by pair.

Each window gives three figures: the mean token, compared with the untraced windows around it; the time of the agent's BPF programs per token,
from the kernel's counts (kernel.bpf_stats_enabled, which reads the clock twice more per run, for both agents alike); and the pair of probes that the
agent measured on itself, from the session's recording.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import figures
import hits
import ways
from engine import Engine


def window(seconds):
    """Waits, and returns its bounds."""
    begun = time.monotonic_ns()
    time.sleep(seconds)
    return begun, time.monotonic_ns()


def pair_ns(way, analyze):
    """The cost of a pair of probes, as the agent of the session measured it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([analyze, os.path.join(way.folder, "out"), "--only", "summary.json", "--out", folder],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as f:
            return json.load(f)["cost"]["probe_pair_ns"]


def traced(way, engine, args):
    """One window with an agent: its bounds, ns of BPF programs per token, ns per pair of probes."""
    way.begin(engine)
    pid = way.process.pid
    n0, was, _ = hits.look(engine, pid)
    bounds = window(args.window)
    n1, now, _ = hits.look(engine, pid)
    way.end()
    programs = sum(now[k][1] - was.get(k, (0, 0))[1] for k in now) / max(n1 - n0, 1)
    return bounds, programs, pair_ns(way, args.analyze)


def ratios(name, unit, a, b):
    """Prints medians and the ratio of each pair. Prints nothing for missing figures."""
    each = sorted(y / x for x, y in zip(a, b) if x and y)
    if each:
        print(f"  {name:28} {statistics.median(a):10.2f} {statistics.median(b):10.2f} {unit:8} B/A {statistics.median(each):.3f} "
              f"({each[0]:.3f} to {each[-1]:.3f}, {len(each)} pairs)")


def main():
    """Measures and prints."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--a", required=True, help="an agent")
    p.add_argument("--b", required=True, help="another one")
    p.add_argument("--analyze", required=True)
    p.add_argument("--engine", required=True, help="folder with `nodes`")
    p.add_argument("--model", required=True)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--pairs", type=int, default=9)
    p.add_argument("--window", type=float, default=3)
    p.add_argument("--round", type=int, default=60, help="tokens before the context begins anew")
    p.add_argument("--ways", default="op,token+graph")
    args = p.parse_args()
    with open(hits.STATS, encoding="ascii") as f:
        before = f.read()
    for name in args.ways.split(","):
        engine = Engine(args.engine, args.model, args.threads, args.round)
        taken, programs, pairs = [], {"a": [], "b": []}, {"a": [], "b": []}
        try:
            with open(hits.STATS, "w", encoding="ascii") as f:
                f.write("1")
            time.sleep(1)
            taken.append(("plain", window(args.window)))
            for i in range(args.pairs):
                for side in ("ab", "ba")[i % 2]:
                    bounds, ns, pair = traced(ways.agent(name, getattr(args, side)), engine, args)
                    taken += [(side, bounds), ("plain", window(args.window))]
                    programs[side].append(ns / 1e3)
                    pairs[side].append(pair)
        finally:
            with open(hits.STATS, "w", encoding="ascii") as f:
                f.write(before)
            tokens = engine.stop()
        token, found = figures.compare(tokens, taken)
        print(f"{name}: {token / 1e6:.2f} ms a token, untraced")
        for side in "ab":
            r = figures.ratio(found.get(side, []))
            print(f"  {side.upper()} slows it down by {r.text() if r else 'less than can be measured'}")
        ratios("a token", "times", found.get("a", []), found.get("b", []))
        ratios("programs, a token", "us", programs["a"], programs["b"])
        ratios("pair of probes", "ns", pairs["a"], pairs["b"])


if __name__ == "__main__":
    main()
