#!/usr/bin/env python3
"""The battery of planted causes; ci/causes.sh prepares its environment and is its help."""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

import machine
import report
import results
import score
import table
import targets
import truth
from board import Board
from host import Failed, Host
from tools import REPO, Tools

#: The cases of `--few`, which are known to be solved: another program, the engine's own settings, and nothing. One more is selected by the commit.
FEW = ("busy-free-prompt", "three-threads", "quiet-smollm2")


def say(text):
    print(f"    {text}", file=sys.stderr, flush=True)


def selected(cases, options, commit):
    """The cases that were asked for, in the order of the table."""
    if options.few:
        others = [c["name"] for c in cases if c["kind"] == "host" and c["name"] not in FEW]
        wanted = {*FEW, others[int(commit[:8], 16) % len(others)]}
        return [c for c in cases if c["name"] in wanted]
    unknown = set(options.case) - {c["name"] for c in cases}
    if unknown:
        raise SystemExit(f"error: no case {' '.join(sorted(unknown))}; --list names all")
    return [c for c in cases if (not options.case or c["name"] in options.case) and (not options.kind or c["kind"] == options.kind)]


def source(run):
    """What a recording is analyzed with."""
    return {key: run[key] for key in ("planted", "pid", "recording")}


def analyzed_again(runner, case, result):
    """A result with the verdicts of the current `analyze` on its recordings."""
    for run in result.get("pairs") or result["runs"]:
        run["verdict"] = runner.verdict(run, case["shows"])
    return result


def pair_of(runner, planted, remedied, first, question, name):
    """One run with the cause and one without, in this order or the other: (planted run, its time, the remedied time)."""
    runs = {}
    for side in ("planted", "remedied") if first else ("remedied", "planted"):
        runs[side] = runner.run(planted if side == "planted" else remedied, f"{name}-{side}")
        if question not in runs[side]["times"]:
            raise Failed(f"{name}: the engine tells no time of {question}")
    return runs["planted"], runs["planted"]["times"][question], runs["remedied"]["times"][question]


def lacks_pairs(case, pairs, options):
    """Does a case need another pair? Only the engine's clock decides, so what the product says changes nothing."""
    least, most = options.pairs or case["pairs"], options.pairs or table.MOST[case["kind"]]
    times = [(pair["planted_ns"], pair["remedied_ns"]) for pair in pairs]
    return len(times) < least or len(times) < most and not truth.is_exact(times)


def planted(runner, case, out, options):
    """Adds interleaved pairs of a case to those there are, with the verdict of each planted recording."""
    while lacks_pairs(case, out, options):
        i = len(out)
        run, slow, usual = pair_of(runner, case["setup"], case["remedied"], i % 2 == 0, case["question"], f"{case['name']}-{i}")
        out.append({"planted_ns": slow, "remedied_ns": usual, **source(run), "verdict": runner.verdict(run, case["shows"])})
        say(f"{case['name']} {i + 1}: {slow / 1e6:.2f} ms, remedied {usual / 1e6:.2f} ms")
    return out


def trial(runner, case, pairs):
    """Too few pairs for a result: prints what the engine's clock and the product say of each, and how much of the difference is blamed."""
    for i in range(max(1, pairs)):
        try:
            run = runner.run(case["setup"], f"{case['name']}-{i}-planted")
            usual = run if case["kind"] == "quiet" else runner.run(case["remedied"], f"{case['name']}-{i}-remedied")
            shown = runner.verdict(run, case["shows"])
        except (Failed, OSError, ValueError) as error:
            print(f"{case['name']}: {error}", flush=True)
            continue
        times = ", ".join(f"{key} {ns / 1e6:.2f} ({usual['times'].get(key, 0) / 1e6:.2f})" for key, ns in run["times"].items())
        print(f"{case['name']}: with the cause (without), ms: {times}")
        print(f"    found: {' '.join(f['code'] for f in shown['found']) or '-'}; ruled out: {' '.join(r['code'] for r in shown['ruled_out'])}")
        if case["kind"] not in ("quiet", "standin") and case["question"] in run["times"]:
            loss = run["times"][case["question"]] - usual["times"][case["question"]]
            row, gain = score.found(shown, case["expected"], run["planted"], loss), score.predicted(shown, case["expected"])
            print(f"    {case['question']}: difference {loss / 1e6:.2f} ms; first: {row['first']}; on the ladder {row['on_ladder'] * 100:.0f} %, on the finding "
                  f"{row['on_finding'] * 100:.0f} %; predicted {report.span(gain, 'likely')} ms; expected values: {score.shows(shown, case['expected'])}")
        sys.stdout.flush()


def quiet(runner, case):
    """Quiet runs; no remedy was tried yet."""
    runs = []
    for i in range(case["runs"]):
        before = machine.cpu_times()
        run = runner.run(case["setup"], f"{case['name']}-{i}")
        runs.append({"took": machine.since(before), "verdict": runner.verdict(run), "times": run["times"], **source(run)})
    say(f"{case['name']}: {len(runs)} runs, found: {' '.join(sorted({f['code'] for r in runs for f in r['verdict']['found']})) or 'nothing'}")
    return {"runs": runs, "tried": {}}


def untried(result, remedies):
    """Findings of quiet runs that promise something and have a remedy which was not tried: code and question."""
    promises = [(f["code"], f["questions"][0]) for run in result["runs"] for f in run["verdict"]["found"] if f["gain"]]
    return sorted({(code, question) for code, question in promises if code in remedies and f"{code}/{question}" not in result["tried"]})


def try_remedies(runner, case, result, remedies, pairs):
    """Pairs with each remedy that was not tried."""
    for code, question in untried(result, remedies):
        remedied, name = case["setup"] | remedies[code], f"{case['name']}-{code}"
        result["tried"][f"{code}/{question}"] = [pair_of(runner, case["setup"], remedied, i % 2 == 0, question, f"{name}-{i}")[1:] for i in range(pairs)]


def is_open(case, result, remedies, options):
    """Is there something to record for a case that has a result?"""
    if case["kind"] == "quiet":
        return bool(untried(result, remedies))
    return lacks_pairs(case, result["pairs"], options)


def one(runner, case, remedies, options):
    """The result of a case. A run that fails leaves the reason, and the next battery tries again."""
    busy = machine.wait_until_quiet(options.wait)
    result = {"name": case["name"], "case": case, "busy": busy, "at": time.strftime("%Y-%m-%d %H:%M:%S")}
    begun = time.monotonic()
    try:
        if case["kind"] == "quiet":
            result |= quiet(runner, case)
            try_remedies(runner, case, result, remedies, options.pairs or table.PAIRS["host"])
        else:
            result["pairs"] = planted(runner, case, [], options)
    except (Failed, OSError, ValueError) as error:
        result["error"] = str(error)
        say(f"{case['name']}: {error}")
    return result | {"seconds": round(time.monotonic() - begun, 1)}


def again(runner, case, result, remedies, options):
    """A result whose recordings were made before, with the verdicts of the current `analyze`."""
    try:
        analyzed_again(runner, case, result)
        if case["kind"] == "quiet" and not options.analyze:
            try_remedies(runner, case, result, remedies, options.pairs or table.PAIRS["host"])
        elif not options.analyze:
            planted(runner, case, result["pairs"], options)
    except (Failed, OSError, ValueError) as error:
        result["error"] = str(error)
        say(f"{case['name']}: {error}")
    return result


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("case", nargs="*")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--kind", choices=table.KINDS)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--wait", type=float, default=machine.LONGEST)
    parser.add_argument("--analyze", action="store_true")
    parser.add_argument("--results", required=True)
    options = parser.parse_args()
    cases, remedies = table.read()
    kept = results.Results.current(options.results, REPO)
    chosen = selected(cases, options, kept.analyzer)
    if options.list:
        print("\n".join(f"{c['name']}\t{c['kind']}\t{c['question']}\t{c.get('cause', '-')}" for c in chosen))
        return 0
    if options.report or options.whole:
        scores, failed = report.rows(cases, kept)
        summary = targets.table(scores, len(cases))
        commits = f"Recorded by {kept.folder.name}, analyzed by {kept.analyzer}."
        print(report.cases_text(scores, failed), report.targets_text(summary), commits, sep="\n\n")
        missing = {c["name"] for c in cases} - {row["name"] for row in scores}
        old = {c["name"] for c in cases if c["name"] in missing and kept.read(c)} - {name for name, _ in failed}
        if old:
            say(f"{len(old)} cases were analyzed by another commit; --analyze analyzes their recordings again")
        if options.whole:
            if missing - old:
                say(f"the battery is not whole: no result of {' '.join(sorted(missing - old))}")
            return 1 if missing else 0
        return 0 if all(row["met"] for row in summary) else 1
    # Ended by a signal, it still ends what it planted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tools = Tools(Path(os.environ["CACHE"]) / "causes" / "programs")
    trying = 0 < options.pairs < min(table.PAIRS.values())
    folder = kept.trials if trying else kept.recordings
    board, host = Board(tools, folder), Host(tools, folder)
    try:
        for case in chosen:
            runner, there = board if case["kind"] in ("board", "guest") else host, kept.read(case)
            if trying:
                trial(runner, case, options.pairs)
            elif there and "error" not in there and not options.again:
                if not kept.judged(case) or not options.analyze and is_open(case, there, remedies, options):
                    kept.write(again(runner, case, there, remedies, options))
            elif not options.analyze:
                kept.write(one(runner, case, remedies, options))
    finally:
        board.close()
        tools.close()
    if trying:
        return 0
    scores, failed = report.rows(chosen, kept)
    print(report.cases_text(scores, failed))
    # A cause that costs no time on this machine is rightly ruled out.
    wrong = [r["name"] for r in scores if (r["alarms"] if r["kind"] == "quiet" else r["shown"] and (r["ruled_out"] or not r["solved"]))]
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
