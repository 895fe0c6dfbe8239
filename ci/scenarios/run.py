#!/usr/bin/env python3
"""Runs the scenarios: the engine under the agent, then `analyze`, then the comparison. ci/scenarios.sh calls it.

    run.py --list                 names and what they are
    run.py --models [NAME...]     models that they need, each after the kind of its maker
    run.py [NAME...] --engine … --agent … --analyze … --folder … --out …
"""
import argparse
import os
import subprocess
import sys
import time

import compare
import product
import serve
from asks import IMAGE
from table import ARCHS, GAPS, OWN, SCENARIOS, Server

PATIENCE_S, ATTEMPTS = 180, 4


def words(scenario):
    """All options of a scenario that may name a model."""
    return [w for w in scenario.options if w.startswith("@")]


def models(names):
    """The models of these scenarios, each once: who makes it, and its name. An image comes with the own models."""
    found = {w[1:]: None for name in names for w in words(SCENARIOS[name])}
    for name in found:
        if name not in ("IMAGE", "TEXT", "WAV"):
            yield f"{'own' if name in OWN else 'arch' if name in ARCHS else 'model'} {name}"


class Paths:
    """Where the models and files of a scenario are: each in the first folder that has it."""

    def __init__(self, folders, out):
        self.folders, self.out = folders, out

    def find(self, name):
        file = "image.png" if name == "IMAGE" else name + ".gguf"
        for folder in self.folders:
            if os.path.exists(os.path.join(folder, file)):
                return os.path.join(folder, file)
        raise FileNotFoundError(f"{file} is in none of {self.folders}")

    def of(self, word, name):
        if not word.startswith("@"):
            return word
        files = {"@TEXT": name + ".txt", "@WAV": name + ".wav"}
        return os.path.join(self.out, files[word]) if word in files else self.find(word[1:])


def record(name, args, paths):
    """Runs the engine of a scenario under the agent. Returns its figures."""
    scenario, prefix = SCENARIOS[name], os.path.join(args.out, name)
    options = [paths.of(word, name) for word in scenario.options]
    agent = [args.agent, "record", "--full", "--out", prefix + ".pfi", "--"]
    log = prefix + ".log"
    if isinstance(scenario, Server):
        rounds = [[ask.with_image(paths.find("IMAGE")) if ask.prompt == IMAGE else ask for ask in asks]
                  for asks in scenario.rounds]
        command = [*agent, os.path.join(args.engine, "llama-server"), *options]
        return serve.run(command, log, rounds)
    if scenario.text:
        with open(prefix + ".txt", "w", encoding="utf-8") as f:
            f.write(scenario.text)
    command = [*agent, os.path.join(args.engine, scenario.program), *options]
    # The tools of this release often end before all of their log is on the standard output, and seldom before it is in
    # a file. llama-bench does not have the option, nor a log.
    said = prefix + ".engine.log"
    if scenario.program == "llama-bench":
        said = log
    else:
        command += ["--log-file", said]
    for attempt in range(ATTEMPTS):
        with open(said, "w", encoding="utf-8"), open(log, "w", encoding="utf-8") as f:
            done = subprocess.run(command, stdout=f, stderr=f, stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
        if done.returncode:
            raise RuntimeError(f"this failed: {' '.join(command)}\n{serve.last_line(log)}")
        try:
            return scenario.read(serve.contents(said))
        except (ValueError, IndexError):
            if attempt + 1 == ATTEMPTS:
                raise
    return None


def run(name, args, paths):
    """One scenario: its row, and lines on what differs."""
    engine = record(name, args, paths)
    prefix = os.path.join(args.out, name)
    command = [args.analyze, prefix + ".pfi", "--out", prefix, "--only", "summary.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode:
        raise RuntimeError(f"the recording could not be analyzed: {done.stderr.strip()}")
    return compare.Comparison(name, engine, *product.read(os.path.join(prefix, "summary.json")),
                              gap=GAPS.get(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--models", action="store_true")
    parser.add_argument("--engine", help="folder of the engine's programs")
    parser.add_argument("--agent")
    parser.add_argument("--analyze")
    parser.add_argument("--folder", action="append", help="a folder with models")
    parser.add_argument("--out", help="folder for the recordings")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    unknown = [n for n in args.names if n not in SCENARIOS]
    if unknown:
        parser.error(f"no scenario called {', '.join(unknown)}; --list shows them all")
    names = args.names or list(SCENARIOS)
    if args.list:
        for name in names:
            print(f"{name:28} {SCENARIOS[name].about}")
        return 0
    if args.models:
        print("\n".join(models(names)))
        return 0
    paths, failed, times, began = Paths(args.folder, args.out), [], [], time.monotonic()
    quiet = []
    equal = 0
    print(compare.HEAD, flush=True)
    for name in names:
        try:
            result = run(name, args, paths)
        except (RuntimeError, ValueError, OSError, subprocess.TimeoutExpired, IndexError, KeyError) as e:
            print(f"{name:28} not compared: {type(e).__name__}: {e}", flush=True)
            failed.append(name)
            continue
        print(result, flush=True)
        of_run = result.times("ttft_ms") + result.times("answer_ms")
        times += of_run
        quiet += of_run if SCENARIOS[name].quiet else []
        equal += result.equal()
        if not result.as_expected():
            failed.append(name)
    print(f"{equal} of {len(names)} scenarios are equal, in {time.monotonic() - began:.0f} s")
    if times:
        print(f"{sum(compare.near(*t) for t in times)} of {len(times)} times are within 2 % or 1 ms of the engine's")
    median, n = compare.difference(quiet)
    if median is not None:
        far = median > compare.CLOSE
        print(f"{'TIMES DIFFER: ' if far else ''}{n} times of quiet scenarios of at least {compare.SHORTEST_MS:.0f} ms differ by "
              f"{median:.2%} from the engine's in the median (limit: {compare.CLOSE:.0%})")
        failed += ["times"] if far else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
