#!/usr/bin/env python3
"""Does the data support the case study? Pure functions.

check.py RESULTS-DIR      checks data/ in itself, and against the results of a battery of these programs (RESULTS-DIR: of all)
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent.parent / "causes")]

import results  # noqa: E402
import score  # noqa: E402
import study  # noqa: E402
import truth  # noqa: E402

#: Two sessions of the same work differ by as much (docs/compare.md).
SPREAD = 0.078


def complaints(data):
    """Why a page must not be made of this data."""
    gain = truth.gain([tuple(pair) for pair in data["pairs"]])
    out = []
    if gain["low"] <= 0:
        out.append("the cause cost no time")
    if not data["finding"] or not data["screen"]:
        out.append("the report of the median run does not state the cause")
    if not data["first"]:
        out.append("the cause is not first in most recordings")
    if data["predicted"] and not score.inside(gain, data["predicted"]):
        out.append(f"the measured gain of {gain['median'] / 1e6:.2f} ms is outside of the predicted interval")
    return [f"{data['case']}: {line}" for line in out]


def shares(pairs):
    """Interval of the share of the time that the remedy removes."""
    return truth.interval([1 - remedied / planted for planted, remedied in pairs])


def contradictions(data, result):
    """Why a newer result of the battery contradicts the page: the cause cost time, and the report does not name it first. That it cost none is no
    contradiction: how much a cause costs depends on the machine."""
    if "error" in result:
        return []
    row = score.planted_case(result["case"]["expected"], result)
    return [f"{data['case']}: the report no longer names the cause first"] if row["shown"] and not row["first"] else []


def moved(data, result):
    """A note if a newer result has another share of the time than the page states, with the variation between sessions. Machines differ."""
    if "error" in result:
        return []
    old, new = shares(data["pairs"]), shares([(run["planted_ns"], run["remedied_ns"]) for run in result["pairs"]])
    low, high = 1 - (1 - old["low"]) * (1 + SPREAD), 1 - (1 - old["high"]) * (1 - SPREAD)
    if new["high"] < low or high < new["low"]:
        return [f"{data['case']}: on this machine the remedy removes {new['median']:.0%} of the time, the page states {old['median']:.0%}"]
    return []


def main():
    newer, wrong, notes = results.Results.current(sys.argv[1], study.REPO), [], []
    for one in study.all_studies():
        data = study.data(one["case"])
        if data is None:
            continue
        wrong += complaints(data)
        path = newer.path(one["case"])
        if path.exists():
            result = json.loads(path.read_text(encoding="utf-8"))
            if result["analyzer"] == newer.analyzer:
                wrong += contradictions(data, result)
            notes += moved(data, result)
    for line in notes:
        print(f"    note: {line}", file=sys.stderr)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
