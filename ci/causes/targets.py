"""The targets of the battery, and whether the scores of all cases reach them. Pure functions.

A target over no cases is missed: a battery that did not run proves nothing.
"""

import math
import statistics

#: Width of the predicted interval, by band of the loss.
WIDTH = {"large": 1.3, "middle": 2.0}
IN_BAND, CASES, BOARD_CASES = 12, 45, 12
QUIET_RUNS, QUIET_MODELS, QUIET_BUILDS = 20, 5, 3
SMALL_RUNS = 10


def share(flags):
    """Share of true flags; 0 of none."""
    flags = list(flags)
    return sum(flags) / len(flags) if flags else 0.0


def middle(values):
    """Median; infinite of none."""
    values = list(values)
    return statistics.median(values) if values else math.inf


def row(name, target, value, met):
    return {"measure": name, "target": target, "value": value, "met": bool(met)}


def percent(value):
    return f"{value * 100:.1f} %"


def table(rows, planned):
    """Rows of the summary. `rows`: scores with name, kind, model, build and off_cpu; `planned`: number of cases in the table."""
    planted = [r for r in rows if r["kind"] != "quiet"]
    host, quiet = [r for r in planted if r["kind"] in ("host", "small")], [r for r in rows if r["kind"] == "quiet"]
    judged = [r for r in planted if r["kind"] != "small"]
    measured = [r for r in host if r["kind"] == "host"]
    small = [r for r in rows if r["kind"] == "small"]
    solved, covered = share(r["solved"] for r in judged), share(r["inside"] for r in host)
    ruled = sum(r["ruled_out"] for r in planted)
    out = [
        row("cases that ran", f"all {planned}, of them {CASES} planted", f"{len(rows)}, {len(planted)}", len(rows) == planned and len(planted) >= CASES),
        row("planted cause costs time in every case", "all", f"{sum(r['shown'] for r in planted)} of {len(planted)}", planted and all(r["shown"] for r in planted)),
        row("cause first, 90 % of the loss under it", ">= 95 % of cases", percent(solved), solved >= 0.95),
        row("planted cause ruled out", "0", str(ruled), planted and ruled == 0),
        row("truth inside the interval", ">= 90 %", percent(covered), covered >= 0.9),
    ]
    for band, limit in WIDTH.items():
        width = middle(r["width"] for r in measured if r["band"] == band)
        out.append(row(f"width, median, {band} loss", f"<= {limit}", f"{width:.2f}", width <= limit))
    for band in ("large", "middle", "small"):
        count = sum(r["band"] == band for r in host)
        out.append(row(f"cases with a {band} loss", f">= {IN_BAND}", str(count), count >= IN_BAND))
    found = [(r["found_in"], r["runs"]) for r in small if r["runs"] >= SMALL_RUNS]
    out.append(row("a loss of 5 % is found", "in 8 of 10 runs", ", ".join(f"{n} of {m}" for n, m in found) or "-", found and all(n >= 0.8 * m for n, m in found)))
    runs, alarms = sum(r["runs"] for r in quiet), [code for r in quiet for code in r["alarms"]]
    models, builds = len({r["model"] for r in quiet}), len({r["build"] for r in quiet})
    enough = runs >= QUIET_RUNS and models >= QUIET_MODELS and builds >= QUIET_BUILDS
    out.append(row("quiet runs; models; builds", f">= {QUIET_RUNS}; {QUIET_MODELS}; {QUIET_BUILDS}", f"{runs}; {models}; {builds}", enough))
    out.append(row("quiet runs with a finding that does not hold", "0", f"{len(alarms)} {' '.join(sorted(set(alarms)))}".strip(), runs and not alarms))
    rest = [r["unexplained"] for r in measured if r["off_cpu"]] + [u for r in quiet for u in r["unexplained"]]
    out.append(row("unexplained, median", "<= 3 %", percent(middle(rest)), middle(rest) <= 0.03))
    worst = max(rest, default=math.inf)
    out.append(row("unexplained, worst", "<= 10 %", percent(worst), worst <= 0.1))
    summing = [r["sums"] for r in rows]
    out.append(row("ladders whose steps sum to the measured time", "all", f"{sum(summing)} of {len(summing)}", summing and all(summing)))
    board = sum(r["kind"] == "board" for r in rows)
    out.append(row("cases on the emulated board", f">= {BOARD_CASES}", str(board), board >= BOARD_CASES))
    return out


def badness(score):
    """Sorts the worst case first."""
    if score["kind"] == "quiet":
        return (bool(score["alarms"]), 0, 0.0)
    wrong = score["ruled_out"] * 8 + (not score["solved"]) * 4 + (not score["inside"] and score["kind"] in ("host", "small")) * 2 + (not score["sums"])
    return (wrong > 0, wrong, min(score["width"], 1e9))
