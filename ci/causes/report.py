"""Tables for people: all cases, the worst first, and the targets."""

import math

import score
import targets


def rows(cases, results):
    """Scores of the cases that have a result. A case that failed has `error`, and counts as one that did not run."""
    out, failed = [], []
    for case in cases:
        result = results.read(case)
        if not result:
            continue
        if "error" in result:
            failed.append((case["name"], result["error"]))
            continue
        quiet = case["kind"] == "quiet"
        row = score.quiet_case(result) if quiet else score.planted_case(case["expected"], result)
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
        ("RULED-OUT", row["ruled_out"]), ("not-first", not row["first"]), ("blame", not row["solved"] and row["first"]), ("outside", not row["inside"]),
        ("no-loss", not row["shown"]), ("sum", not row["sums"]), ("busy", row["busy"] > 0.1)) if wrong]
    return "\t".join([
        row["name"], row["question"], f"{row['times']:.2f}x", span(row["true"], "median"), span(row["predicted"], "likely"), number(row["width"], "{:.2f}"),
        f"{row['on_ladder'] * 100:.0f} %", f"{row['on_finding'] * 100:.0f} %", f"{row['found_in']}/{row['runs']}", f"{row['unexplained'] * 100:.1f} %",
        " ".join(flags) or "ok"])


HEAD = "\t".join(["case", "question", "loss", "true gain, ms", "predicted gain, ms", "width", "ladder", "finding", "found", "unexplained", "verdict"])


def aligned(lines):
    """Columns of equal width."""
    cells = [line.split("\t") for line in lines]
    widths = [max(len(row[i]) for row in cells if i < len(row)) for i in range(max(map(len, cells)))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)


def text(cases, results):
    """All tables, and whether every target is met."""
    scores, failed = rows(cases, results)
    planted = sorted((r for r in scores if r["kind"] != "quiet"), key=targets.badness, reverse=True)
    quiet = sorted((r for r in scores if r["kind"] == "quiet"), key=targets.badness, reverse=True)
    parts = []
    if planted:
        parts.append(aligned([HEAD, *map(planted_line, planted)]))
    if quiet:
        head = "quiet case\truns\tfindings that do not hold\tunexplained, worst\tverdict"
        lines = [f"{r['name']}\t{r['runs']}\t{' '.join(r['alarms']) or '-'}\t{max(r['unexplained']) * 100:.1f} %\t"
                 f"{' '.join(w for w, wrong in (('alarm', r['alarms']), ('sum', not r['sums']), ('busy', r['busy'] > 0.1)) if wrong) or 'ok'}" for r in quiet]
        parts.append(aligned([head, *lines]))
    if failed:
        parts.append(aligned(["case that failed\twhy", *(f"{name}\t{why}" for name, why in failed)]))
    summary = targets.table(scores, len(cases))
    parts.append(aligned(["measure\ttarget\tvalue\tmet", *("\t".join([r["measure"], r["target"], r["value"], "yes" if r["met"] else "NO"]) for r in summary)]))
    return "\n\n".join(parts), all(r["met"] for r in summary)
