#!/usr/bin/env python3
"""What tracing costs a running engine: windows with and without it in one process, compared pair by pair.

Absolute speeds on a shared machine are noise, and two runs of the same program differ by more than tracing costs.
So one engine decodes all the time and says when each call began and ended (the driver `nodes`, CLOCK_MONOTONIC);
agents come and go meanwhile. The median token of every traced window is compared with the mean of the medians of
the untraced windows before and after it.
"""

import argparse
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
SETTLE = 1.5  # seconds after a tracer has gone that belong to no window: the kernel is still tidying up


class Engine:
    """The driver, decoding until it is told off."""

    def __init__(self, args, folder):
        self.calls = os.path.join(folder, "calls.tsv")
        command = [os.path.join(args.engine, "nodes"), "-m", args.model, "-t", args.threads, "-p", "8", "-n", "120",
                   "-r", "1000", "--fresh", "--pause"]
        with open(self.calls, "w", encoding="ascii") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out)
        while "ready" not in self.text():
            if self.process.poll() is not None:
                raise SystemExit("the engine did not start")
            time.sleep(0.1)
        self.pid = int(self.text().split()[1])
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def text(self):
        """What it printed so far."""
        with open(self.calls, encoding="ascii") as f:
            return f.read()

    def cpu_library(self):
        """The CPU backend that it chose: from its memory map."""
        with open(f"/proc/{self.pid}/maps", encoding="ascii") as f:
            found = re.search(r" (/\S*libggml-cpu\S*)", f.read())
        return found and found.group(1)

    def stop(self):
        """Ends it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        lines = [line.split("\t") for line in self.text().splitlines()[:-1] if line.startswith("decode")]
        return [(int(f[4]), int(f[5])) for f in lines if int(f[3]) == 1]


def record(args, pid, levels, out):
    """One window with the agent: its begin, its end, and what the agent said."""
    agent = subprocess.Popen([args.agent, "record", "--pid", str(pid), "--out", out, "--levels", levels],
                             stderr=subprocess.PIPE, text=True)
    time.sleep(1.2)
    begin = time.monotonic_ns()
    time.sleep(args.window)
    end = time.monotonic_ns()
    agent.send_signal(signal.SIGINT)
    said = agent.communicate()[1]
    found = re.search(r"(\d+) spans sent, (\d+) lost.*agent: ([\d.]+) MB, ([\d.]+) s CPU", said)
    if not found:
        raise SystemExit(f"the agent said: {said}")
    return begin, end, found


def bpftrace(args, lib, out):
    """One window with bpftrace recording the same operators at function entries; None when it does not run."""
    with open(out, "w", encoding="ascii") as f:
        tracer = subprocess.Popen(["bpftrace", "-e", BPFTRACE % {"lib": lib}], stdout=f, stderr=subprocess.DEVNULL)
        time.sleep(3)
        if tracer.poll() is not None:
            return None
        begin = time.monotonic_ns()
        time.sleep(args.window)
        end = time.monotonic_ns()
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
    return begin, end


def nothing(args):
    """One window without any tracer."""
    time.sleep(SETTLE)
    begin = time.monotonic_ns()
    time.sleep(args.window)
    return begin, time.monotonic_ns()


def median_token(calls, window):
    """Nanoseconds from one call's begin to the next one's, in the middle of the window's; None of hardly any calls."""
    starts = [s for s, _ in calls if window[0] <= s <= window[1]]
    return statistics.median(b - a for a, b in zip(starts, starts[1:])) if len(starts) > 5 else None


def main():
    """Measures and prints."""
    p = argparse.ArgumentParser()
    p.add_argument("--agent", required=True)
    p.add_argument("--engine", required=True)
    p.add_argument("--model", required=True)
    p.add_argument("--threads", default="2")
    p.add_argument("--pairs", type=int, default=9)
    p.add_argument("--window", type=float, default=1.5, help="seconds")
    p.add_argument("--no-bpftrace", action="store_true")
    a = p.parse_args()
    ways = {"all levels": "token,graph,op", "token+graph": "token,graph"}
    names = [*ways, *([] if a.no_bpftrace else ["bpftrace"])]
    said, stream, plain = [], [], []
    ratios = {name: [] for name in names}
    for pair in range(a.pairs):
        windows = []
        with tempfile.TemporaryDirectory() as folder:
            engine = Engine(a, folder)
            try:
                lib = engine.cpu_library()
                time.sleep(1)
                before = nothing(a)
                for name in names:
                    out = os.path.join(folder, "window")
                    if name in ways:
                        begin, end, words = record(a, engine.pid, ways[name], out)
                        traced = (begin, end)
                        said.append(words)
                        if name == "all levels":
                            stream.append(os.path.getsize(out) / int(words.group(1)))
                    else:
                        traced = bpftrace(a, lib, out)
                    after = nothing(a)
                    if traced:
                        windows.append((name, before, traced, after))
                    before = after
            finally:
                calls = engine.stop()
        row = []
        for name, before, traced, after in windows:
            tokens = [median_token(calls, w) for w in (before, traced, after)]
            # The machine did something else: without tracing, too, one window was half as long again as the other.
            if None in tokens or not 2 / 3 < tokens[0] / tokens[2] < 3 / 2:
                row.append(f"{name} disturbed")
                continue
            untraced = (tokens[0] + tokens[2]) / 2
            plain.append(untraced)
            ratios[name].append(tokens[1] / untraced)
            row.append(f"{name} {(ratios[name][-1] - 1) * 100:+.2f} %")
        print(f"  {pair + 1}/{a.pairs}: {', '.join(row)}", flush=True)
    if not plain:
        raise SystemExit("no pair of windows was undisturbed: wait for a quiet machine")
    token = statistics.median(plain)
    print(f"{a.threads} thread(s), untraced: {token / 1e6:.2f} ms per token")
    for name, values in ratios.items():
        if values:
            cost = statistics.median(values) - 1
            quarter = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
            print(f"decode slowdown, {name}: {cost * 100:.2f} %, {token * cost / 1e3:.0f} us per token "
                  f"(median of {len(values)}; quartiles {(quarter[0] - 1) * 100:.2f} and {(quarter[2] - 1) * 100:.2f})")
    print(f"stream: {statistics.median(stream):.2f} bytes per operator span, topology and all else included")
    print(f"spans sent: {sum(int(w.group(1)) for w in said)}; lost: {sum(int(w.group(2)) for w in said)}; "
          f"agent: {max(float(w.group(3)) for w in said):.1f} MB at most")


if __name__ == "__main__":
    main()
