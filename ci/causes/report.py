"""Tables for people: all cases, the worst first, and the targets."""

import math

import score
import targets


def rows(cases, results):
    """Scores of the cases that have a result of the current analyzer. A case that failed has `error`, and counts as one that did not run."""
    out, failed = [], []
    for case in cases:
        result = results.judged(case)
        if not result:
            continue
        if "error" in result:
            failed.append((case["name"], result["error"]))
            continue
        quiet = case["kind"] == "quiet"
        if quiet:
            row = score.quiet_case(result)
        elif case["kind"] == "standin":
            row = score.standin_case(case["expected"], result, case["setup"]["steal"])
        else:
            row = score.planted_case(case["expected"], result)
        row |= {"name": case["name"], "kind": case["kind"], "model": case["setup"]["model"], "build": case["setup"]["build"], "busy": result["busy"]}
        row["off_cpu"] = quiet or case["expected"]["off_cpu"]
        row["question"] = case["question"]
        out.append(row)
    return out, failed


def ms(ns):
    return f"{ns / 1e6:.2f}"


def span(interval, likely):
    return "-" if interval is None else f"{ms(interval[likely])} [{ms(interval['low'])} {ms(interval['high'])}]"


def number(value, form):
    return "inf" if math.isinf(value) else form.format(value)


def planted_line(row):
    flags = [word for word, wrong in (
        ("RULED-OUT", row["ruled_out"]), ("not-first", not row["first"]), ("blame", not row["solved"] and row["first"]), ("outside", not row["inside"] and row["kind"] in ("host", "small")),
        ("no-loss", not row["shown"]), ("sum", not row["sums"]), ("busy", row["busy"] > 0.1)) if wrong]
    return "\t".join([
        row["name"], row["question"], f"{row['times']:.2f}x", span(row["true"], "median"), span(row["predicted"], "likely"), number(row["width"], "{:.2f}"),
        f"{row['on_ladder'] * 100:.0f} %", f"{row['on_finding'] * 100:.0f} %", f"{row['found_in']}/{row['runs']}", f"{row['unexplained'] * 100:.1f} %",
        " ".join(flags) or "ok"])


def quiet_line(row):
    flags = [word for word, wrong in (("alarm", row["alarms"]), ("sum", not row["sums"]), ("busy", row["busy"] > 0.1)) if wrong]
    return "\t".join([row["name"], str(row["runs"]), " ".join(row["alarms"]) or "-", f"{max(row['unexplained']) * 100:.1f} %", " ".join(flags) or "ok"])


HEAD = "\t".join(["case", "question", "loss", "true gain, ms", "predicted gain, ms", "width", "ladder", "finding", "found", "unexplained", "verdict"])


def aligned(lines):
    """Columns of equal width."""
    cells = [line.split("\t") for line in lines]
    widths = [max(len(row[i]) for row in cells if i < len(row)) for i in range(max(map(len, cells)))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)


def cases_text(scores, failed):
    """One line per case, the worst first."""
    planted = sorted((r for r in scores if r["kind"] != "quiet"), key=targets.badness, reverse=True)
    quiet = sorted((r for r in scores if r["kind"] == "quiet"), key=targets.badness, reverse=True)
    parts = []
    if planted:
        parts.append(aligned([HEAD, *map(planted_line, planted)]))
    if quiet:
        parts.append(aligned(["quiet case\truns\tfindings that do not hold\tunexplained, worst\tverdict", *map(quiet_line, quiet)]))
    if failed:
        parts.append(aligned(["case that failed\twhy", *(f"{name}\t{why}" for name, why in failed)]))
    return "\n\n".join(parts)


def targets_text(summary):
    """The targets, and whether they are met."""
    return aligned(["measure\ttarget\tvalue\tmet", *("\t".join([r["measure"], r["target"], r["value"], "yes" if r["met"] else "NO"]) for r in summary)])
