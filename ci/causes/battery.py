#!/usr/bin/env python3
"""The battery of planted causes; ci/causes.sh prepares its environment and is its help."""

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import machine
import report
import results
import score
import table
import targets
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
    """What a recording is analyzed with; the file is there with --keep."""
    return {key: run[key] for key in ("planted", "pid", "recording")}


def analyzed_again(runner, case, result):
    """A result with the verdicts of the current `analyze` on its recordings."""
    places = case.get("shows", ())
    for run in result.get("pairs") or result.get("runs") or []:
        run["verdict"] = runner.verdict(run, places)
    return result


def pair_of(runner, planted, remedied, first, question, name):
    """One run with the cause and one without, in this order or the other: (planted run, its time, the remedied time)."""
    runs = {}
    for side in ("planted", "remedied") if first else ("remedied", "planted"):
        runs[side] = runner.run(planted if side == "planted" else remedied, f"{name}-{side}")
        if question not in runs[side]["times"]:
            raise Failed(f"{name}: the engine tells no time of {question}")
    return runs["planted"], runs["planted"]["times"][question], runs["remedied"]["times"][question]


def planted(runner, case, pairs):
    """Interleaved pairs of a case, and the verdict of each planted recording."""
    out = []
    for i in range(pairs):
        run, slow, usual = pair_of(runner, case["setup"], case["remedied"], i % 2 == 0, case["question"], f"{case['name']}-{i}")
        out.append({"planted_ns": slow, "remedied_ns": usual, **source(run), "verdict": runner.verdict(run, case["shows"])})
        say(f"{case['name']} {i + 1}/{pairs}: {slow / 1e6:.2f} ms, remedied {usual / 1e6:.2f} ms")
    return {"pairs": out}


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


def quiet(runner, case, remedies, pairs):
    """Quiet runs, and pairs with the remedy of each finding that promises something."""
    runs, tried = [], {}
    for i in range(case["runs"]):
        before = machine.cpu_times()
        run = runner.run(case["setup"], f"{case['name']}-{i}")
        runs.append({"took": machine.since(before), "verdict": runner.verdict(run), "times": run["times"], **source(run)})
    for finding in (f for run in runs for f in run["verdict"]["found"] if f["gain"]):
        question = finding["questions"][0]
        key = f"{finding['code']}/{question}"
        if finding["code"] not in remedies or key in tried:
            continue
        remedied = case["setup"] | remedies[finding["code"]]
        tried[key] = [pair_of(runner, case["setup"], remedied, i % 2 == 0, question, f"{case['name']}-{finding['code']}-{i}")[1:] for i in range(pairs)]
    say(f"{case['name']}: {len(runs)} runs, found: {' '.join(sorted({f['code'] for r in runs for f in r['verdict']['found']})) or 'nothing'}")
    return {"runs": runs, "tried": tried}


def one(runner, case, remedies, options):
    """The result of a case. A run that fails leaves the reason, and the next battery tries again."""
    busy = machine.wait_until_quiet(options.wait)
    result = {"name": case["name"], "case": case, "busy": busy, "at": time.strftime("%Y-%m-%d %H:%M:%S")}
    begun = time.monotonic()
    try:
        if case["kind"] == "quiet":
            result |= quiet(runner, case, remedies, options.pairs or table.PAIRS["host"])
        else:
            result |= planted(runner, case, options.pairs or case["pairs"])
    except (Failed, OSError, ValueError) as error:
        result["error"] = str(error)
        say(f"{case['name']}: {error}")
    return result | {"seconds": round(time.monotonic() - begun, 1)}


class Again(dict):
    """Results by name, to be read like a folder of them."""

    def read(self, case):
        return self.get(case["name"])


def rescored(cases, kept):
    """Prints the scores of the current `analyze` on kept recordings."""
    again = Again()
    with tempfile.TemporaryDirectory() as temporary:
        runner = Host(Tools(Path(os.environ["CACHE"]) / "causes" / "programs"), Path(temporary))
        for case in cases:
            result = kept.read(case)
            try:
                if result and "error" not in result:
                    again[case["name"]] = analyzed_again(runner, case, result)
            except (Failed, OSError) as error:
                say(f"{case['name']}: {error}")
    scores, failed = report.rows(cases, again)
    print(report.cases_text(scores, failed), report.targets_text(targets.table(scores, len(cases))), sep="\n\n")
    return 0


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
    parser.add_argument("--keep")
    parser.add_argument("--rescore")
    parser.add_argument("--results", required=True)
    options = parser.parse_args()
    cases, remedies = table.read()
    commit = results.commit(REPO)
    chosen = selected(cases, options, commit)
    if options.list:
        print("\n".join(f"{c['name']}\t{c['kind']}\t{c['question']}\t{c.get('cause', '-')}" for c in chosen))
        return 0
    kept = results.Results(Path(options.results) / commit)
    if options.report or options.whole:
        scores, failed = report.rows(cases, kept)
        summary = targets.table(scores, len(cases))
        print(report.cases_text(scores, failed), report.targets_text(summary), f"Results of {commit}.", sep="\n\n")
        if options.whole:
            missing = {c["name"] for c in cases} - {row["name"] for row in scores}
            if missing:
                say(f"the battery of {commit} is not whole: no result of {' '.join(sorted(missing))}")
            return 1 if missing else 0
        return 0 if all(row["met"] for row in summary) else 1
    if options.rescore:
        folder = Path(options.results) / options.rescore
        if not folder.is_dir():
            there = sorted(path.name for path in folder.parent.iterdir() if any(path.glob("*.json")))
            say(f"there are no results of '{options.rescore}'; there are those of {', '.join(there) or 'no commit'}")
            return 2
        return rescored(chosen, results.Results(folder))
    # Ended by a signal, it still ends what it planted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        tools = Tools(Path(os.environ["CACHE"]) / "causes" / "programs")
        board, trying = Board(tools, folder), 0 < options.pairs < min(table.PAIRS.values())
        try:
            for case in chosen:
                runner = board if case["kind"] in ("board", "guest") else Host(tools, folder)
                there = kept.read(case)
                if trying:
                    trial(runner, case, options.pairs)
                elif not there or "error" in there or options.again:
                    kept.write(one(runner, case, remedies, options))
        finally:
            board.close()
    if trying:
        return 0
    scores, failed = report.rows(chosen, kept)
    print(report.cases_text(scores, failed))
    # A cause that costs no time on this machine is rightly ruled out.
    wrong = [r["name"] for r in scores if (r["alarms"] if r["kind"] == "quiet" else r["shown"] and (r["ruled_out"] or not r["solved"]))]
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
