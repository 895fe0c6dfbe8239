#!/usr/bin/env python3
"""Overhead of tracing a running engine: windows with and without it in one process, compared pair by pair.

Absolute speeds on a shared machine are noise, and two runs of the same program differ by more than tracing costs. So one
engine decodes all the time and says when each call began and how long it took; tracers come and go meanwhile. The mean token of
every traced window is compared with that of the untraced windows before and after it.
"""

import argparse
import json
import random
import statistics
import time

import figures
import ways
from engine import Engine

DEFAULT = "op,token+graph,starts,duty,direct,paper,bpftrace,bpftrace-sites,nothing"


def chosen(args, lib):
    """The tracers by name."""
    starts, end = ways.places(args.agent, lib)
    entry = ways.symbol(lib, "ggml_cpu_extra_compute_forward")
    sites = (",".join(f"uprobe:{lib}:{s}" for s in starts).removeprefix("uprobe:"), f"{lib}:{end}")
    every = {name: lambda name=name: ways.agent(name, args.agent) for name in ways.AGENT} | {
        "paper": lambda: ways.tracer("paper", args.tracer, f"operator_entry@{entry}", f"operator_return@{entry}"),
        "traps": lambda: ways.tracer("traps", args.tracer, *[f"empty@{at}" for at in [*starts, end]]),
        "programs": lambda: ways.tracer("programs", args.tracer, *[f"with_state@{s}" for s in starts], f"with_ring@{end}"),
        "bpftrace": lambda: ways.Bpftrace("bpftrace", f"{lib}:ggml_cpu_extra_compute_forward", f"{lib}:ggml_barrier"),
        "bpftrace-sites": lambda: ways.Bpftrace("bpftrace-sites", *sites),
        "nothing": ways.Nothing,
    }
    unknown = [name for name in args.ways.split(",") if name not in every]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(every)}")
    return [every[name]() for name in args.ways.split(",")]


def windows(args, engine, tracers):
    """Measures the windows, with tracers in another order in each round. Every traced window is between two untraced ones."""
    def window(name, seconds):
        begin = time.monotonic_ns()
        time.sleep(seconds)
        return name, (begin, time.monotonic_ns())
    taken = [window("plain", args.window)]
    for done in range(args.pairs):
        for tracer in random.sample(tracers, len(tracers)):
            tracer.begin(engine, args.tracer_cpus)
            taken.append(window(tracer.name, args.duty_window if tracer.periods else args.window))
            tracer.end()
            taken.append(window("plain", args.window))
        print(f"  {done + 1}/{args.pairs}", flush=True)
    return taken


def main():
    """Measures and prints."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--agent", required=True)
    p.add_argument("--tracer", help="made of tracer.c; its programs lie next to it as .o")
    p.add_argument("--engine", required=True, help="folder with `nodes`")
    p.add_argument("--model", required=True)
    p.add_argument("--threads", default="2")
    p.add_argument("--engine-cpus", help="list of CPUs as taskset takes it, for the engine's threads")
    p.add_argument("--tracer-cpus", help="the same for the tracers")
    p.add_argument("--pairs", type=int, default=12)
    p.add_argument("--window", type=float, default=1.5, help="seconds")
    p.add_argument("--duty-window", type=float, default=20, help="the same for ways that trace some tokens in turn with others")
    p.add_argument("--round", type=int, default=60, help="tokens before the context begins anew")
    p.add_argument("--ways", default=DEFAULT)
    p.add_argument("--json", help="append the figures to this file, a line each")
    a = p.parse_args()
    engine = Engine(a.engine, a.model, a.threads, a.round, a.engine_cpus)
    try:
        time.sleep(2)
        tracers = chosen(a, engine.cpu_library())
        taken = windows(a, engine, tracers)
    finally:
        tokens = engine.stop()
    token, ratios = figures.compare(tokens, taken, {t.name for t in tracers if t.periods})
    print(f"{a.threads} threads, untraced: {token / 1e6:.3f} ms per token")
    for tracer in tracers:
        ratio = figures.ratio(ratios.get(tracer.name, []))
        if ratio is None:
            print(f"{tracer.name:16} not known: {len(ratios.get(tracer.name, []))} of {a.pairs} pairs were undisturbed")
            continue
        said = {}
        if tracer.words:
            said = {k: statistics.median(w[k] for w in tracer.words) for k in tracer.words[0]}
            said["lost"] = sum(w["lost"] for w in tracer.words)
        print(f"{tracer.name:16} {ratio.text()}, {token * (ratio.median - 1) / 1e3:+.0f} us per token  {said}")
        if a.json:
            with open(a.json, "a", encoding="utf-8") as f:
                row = {"way": tracer.name, "model": a.model.rsplit("/", 1)[-1], "token_ns": token, **vars(ratio), **said}
                f.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
