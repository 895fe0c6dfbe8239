#!/usr/bin/env python3
"""Prints the errors of predictions, from the folder that ci/predict.sh fills: predictions of `analyze predict`, and the engine's own
figures of its runs without the agent. Exits with 1 if a median is above its target."""
import glob
import json
import os
import statistics
import sys

# Targets: median error of decode, for types that other recordings have, and for unseen types.
TARGETS = {"seen": 0.08, "unseen": 0.15}


def measured(folder, name):
    """Tokens per second of decode and of prompts: medians over all repetitions of all runs without the agent."""
    speeds = {True: [], False: []}
    for path in glob.glob(os.path.join(folder, "runs", f"{name}.*.json")):
        with open(path) as file:
            for test in json.load(file):
                speeds[test["n_gen"] > 0] += test["samples_ts"]
    return statistics.median(speeds[True]), statistics.median(speeds[False])


def error(predicted, real):
    return None if predicted is None else predicted / real - 1


def percent(value):
    return "     –" if value is None else f"{value * 100:+6.1f}"


def rows(folder, how):
    for path in sorted(glob.glob(os.path.join(folder, "predictions", f"*.{how}", "predict.json"))):
        name = os.path.basename(os.path.dirname(path))[: -len(how) - 1]
        with open(path) as file:
            prediction = json.load(file)
        if prediction["code"] != "predicted":
            print(f"{name:22} {prediction['code']}")
            continue
        decode, prompts = measured(folder, name)
        types = sorted(prediction["types"], key=lambda t: -t["bytes"])
        yield name, types[0]["dtype"], decode, prompts, prediction


def table(folder, how):
    print(f"\nTypes {how}: decode in tokens/s, errors in percent of the measured speed")
    print(f"{'model':22} {'type':7} {'measured':>9} {'predicted':>9} {'error':>6} {'interval':>15}     "
          f"{'one bw':>6} {'llmfit':>7} {'gguf-p':>7} {'prompts':>8} {'error':>6}")
    errors = {"decode": [], "prefill": [], "one": [], "llmfit": [], "parser": []}
    covered = 0
    for name, dtype, decode, prompts, p in rows(folder, how):
        d, f, o = p["decode"], p["prefill"], p["others"]
        inside = d["low_tokens_per_s"] <= decode <= d["high_tokens_per_s"]
        covered += inside
        these = {
            "decode": error(d["tokens_per_s"], decode),
            "prefill": error(f and f["tokens_per_s"], prompts),
            "one": error(o["one_parameter_tokens_per_s"], decode),
            "llmfit": error(o["llmfit_tokens_per_s"], decode),
            "parser": error(o["gguf_parser_tokens_per_s"], decode),
        }
        for key, value in these.items():
            if value is not None:
                errors[key].append(abs(value))
        interval = f"{d['low_tokens_per_s']:.1f} to {d['high_tokens_per_s']:.1f}"
        print(f"{name:22} {dtype:7} {decode:9.2f} {d['tokens_per_s']:9.2f} {percent(these['decode'])} {interval:>15} "
              f"{'in ' if inside else 'OUT'} {percent(these['one'])} {percent(these['llmfit']):>7} {percent(these['parser']):>7} "
              f"{prompts:8.1f} {percent(these['prefill'])}")
    medians = {key: statistics.median(values) if values else None for key, values in errors.items()}
    n = len(errors["decode"])
    said = ", ".join(f"{key} {value * 100:.1f} %" for key, value in medians.items() if value is not None)
    print(f"median of the absolute errors over {n}: {said}; in the interval {covered} of {n}")
    return medians["decode"]


def main():
    folder = sys.argv[1]
    met = True
    for how, most in TARGETS.items():
        median = table(folder, how)
        good = median is not None and median <= most
        met &= good
        print(f"target: at most {most * 100:.0f} %: {'met' if good else 'NOT MET'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
