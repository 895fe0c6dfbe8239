#!/usr/bin/env python3
"""Compares what ProfInfer counts per call with what the GGUF files and the engine's rules give.

For each model of RUNS: NAME.gguf in one folder; NAME.log and NAME/summary.json in the other. Prints
a table. Exits with 1 if a ratio leaves its tolerance, if an operator without a formula is not listed
here, or if the module `embedding` has more than a look-up takes.
"""
import argparse
import json
import os
import re
import sys
from dataclasses import dataclass, field

from gguf_file import Gguf, Need


@dataclass(frozen=True)
class Run:
    """What to compare of one recording: the calls of a phase and, of t5, of a part of the model."""
    model: str
    phase: str = "decode"
    part: str = ""
    no_formula: frozenset = field(default_factory=frozenset)
    embedding: float = 0.05  # largest share of the time of the module `embedding`


RUNS = {
    **{name: Run(name) for name in (
        "mamba2", "granitehybrid", "qwen35", "qwen35moe", "qwen3next", "gemma3n", "deepseek2", "gpt-oss", "rwkv7", "qwen2vl",
        "nemotron_h", "gemma4", "gemma4-rows", "gemma4-moe", "falcon-h1", "lfm2moe", "lora")},
    # So small that the look-up of a row is a part of the time.
    **{name: Run(name, embedding=0.2) for name in ("mamba-q8", "lfm2-q8")},
    "bert": Run("bert", phase="prefill"),
    "t5": Run("t5", part="dec."),
    "t5 encode": Run("t5", phase="prefill", part="enc."),
    "mamba2 -np 4": Run("mamba2"),
    "qwen35 -np 4": Run("qwen35"),
}
# Both counts are exact.
TOLERANCE = 0.0001
# A census has each vector once; some graphs read some of them twice, or not at all.
CENSUS_TOLERANCE = 0.003
PRODUCTS = ("MUL_MAT", "MUL_MAT_ID")


def folder_of(name):
    """Where the recording of a run is: t5's encoder is in that of its decoder."""
    return name.removesuffix(" encode").replace(" -np 4", "-np4")


def expected(run, gguf, log, generated):
    """What each call of the phase needs, from the file, the log and the number of tokens."""
    prompt = int(re.search(r"number of tokens in prompt = (\d+)|\"prompt_n\": (\d+)", log).group(0).split()[-1])
    gguf.encoded = prompt
    if run.phase == "prefill":
        return [gguf.need(prompt, prompt, run.part)]
    # The last token is sampled and not computed. A decoder begins with a token that is not in the prompt.
    first, calls = (0, generated) if run.part == "dec." else (prompt, generated - 1)
    return [gguf.need(1, first + i + 1, run.part) for i in range(calls)]


def mean(needs):
    n = len(needs)
    return Need(*(sum(getattr(need, f) for need in needs) / n for f in ("weights", "cache", "operations")))


def counted(run, summary, calls):
    """ProfInfer's figures: per call of the phase, of the traced operators."""
    operators = [o for o in summary["operators"] if o["phase"] == run.phase]
    work = Need()
    for o in operators:
        work.weights += o["work"]["weight_bytes"]
        work.cache += o["work"]["cache_bytes"]
        if o["op"] in PRODUCTS and any(s["role"] == "weight" for s in o["src"]):
            work.operations += o["work"]["operations"]
    traced = [c for c in summary["tokens"]["calls"] if c["phase"] == run.phase and c["traced"] == "whole"]
    if len(traced) != calls:
        print(f"{run.model}: {len(traced)} calls of the phase {run.phase} instead of {calls}", file=sys.stderr)
    n = max(len(traced), 1)
    return Need(work.weights / n, work.cache / n, work.operations / n), operators, len(traced) == calls


def share_of(operators, module):
    """Share of the time of a module. Medians: one preempted look-up would be most of the time."""
    time = {id(o): (o["median_ns"] or 0) * o["executions"] for o in operators}
    return sum(time[id(o)] for o in operators if o["module"] == module) / max(sum(time.values()), 1)


def ratio(figure, reference):
    if reference == 0:
        return 1.0 if figure == 0 else float("inf")
    return figure / reference


def compare(name, run, models, recordings, generated):
    """One line of the table, and whether all of it is as expected."""
    folder = os.path.join(recordings, folder_of(name))
    adapter = os.path.join(models, run.model + ".lora.gguf")
    gguf = Gguf(os.path.join(models, run.model + ".gguf"), adapter if os.path.exists(adapter) else None)
    with open(folder + ".log", encoding="utf-8", errors="replace") as f:
        needs = expected(run, gguf, f.read(), generated)
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as f:
        summary = json.load(f)
    need = mean(needs)
    done, operators, good = counted(run, summary, len(needs))
    cells = [f"{name:14}"]
    for figure in ("weights", "cache", "operations"):
        got, want = getattr(done, figure), getattr(need, figure)
        quotient = ratio(got, want)
        close = abs(quotient - 1) <= TOLERANCE
        good = good and close
        cells.append(f"{got / 1e6:9.3f} {want / 1e6:9.3f} {quotient:7.4f}{' ' if close else '!'}")
    if run.phase == "decode":  # the figure that people see
        seen = summary["work"]["decode"]["bytes_per_token"]
        if abs(ratio(seen, need.weights + need.cache) - 1) > TOLERANCE:
            print(f"{name}: bytes_per_token is {seen / 1e6:.3f} MB", file=sys.stderr)
            good = False
    unknown = sorted({o["op"] for o in operators if o["work"]["accuracy"] == "at_least"})
    other = sorted({o["work"]["accuracy"] for o in operators} - {"counted", "at_least"})
    embedding = share_of(operators, "embedding")
    good = good and set(unknown) <= run.no_formula and embedding <= run.embedding
    cells.append(f"{embedding:9.1%}{' ' if embedding <= run.embedding else '!'}")
    cells.append(f"{','.join(other) or 'counted':14}{','.join(unknown) or '-'}")
    print(" | ".join(cells) + ("" if good else "   <--"))
    return good


def census(name, run, models, recordings):
    """The census of `analyze predict` against the file: one line, and whether both are equal."""
    with open(os.path.join(recordings, name, "predict.json"), encoding="utf-8") as f:
        found = json.load(f)["census"]
    gguf = Gguf(os.path.join(models, run.model + ".gguf"))
    weights, cache = gguf.need(1, 1).weights, gguf.cells_only(found["cells"])
    good = abs(ratio(found["weight_bytes"], weights) - 1) <= CENSUS_TOLERANCE and found["cache_bytes"] == cache
    print(f"{name:14} | {found['weight_bytes'] / 1e6:9.3f} {weights / 1e6:9.3f} {ratio(found['weight_bytes'], weights):7.4f} | "
          f"{found['cache_bytes'] / 1e6:9.3f} {cache / 1e6:9.3f} {ratio(found['cache_bytes'], cache):7.4f} | {found['cells']:5}{'' if good else '   <--'}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", help="folder of the models")
    parser.add_argument("recordings", help="folder of the logs and summaries")
    parser.add_argument("generated", type=int, help="tokens that each run generated")
    args = parser.parse_args()
    figures = "counted  expected   ratio "
    print(f"{'':14} | {'weights, MB per call':27} | {'cache and states, MB':27} | {'products, M operations':27} |")
    print(f"{'model':14} | {figures:>27} | {figures:>27} | {figures:>27} | embedding  | accuracy      no formula")
    recorded = [n for n in RUNS if os.path.exists(os.path.join(args.recordings, folder_of(n), "summary.json"))]
    good = [compare(n, RUNS[n], args.models, args.recordings, args.generated) for n in recorded]
    print(f"\ncensus of analyze predict\n{'model':14} | {'weights, MB, file, ratio':27} | {'cells, MB, file, ratio':27} | cells")
    good += [census(n, RUNS[n], args.models, args.recordings) for n in recorded if os.path.exists(os.path.join(args.recordings, n, "predict.json"))]
    sys.exit(not all(good) or not good)


if __name__ == "__main__":
    main()
