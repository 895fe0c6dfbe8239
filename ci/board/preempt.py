#!/usr/bin/env python3
"""preempt.py verdict CASE_DIR | table RESULTS      results of the cases of ci/board/preempt.sh

verdict  reads what was brought back of a case and prints one line of JSON: what was counted, and `wrong`, a list of
         codes with numbers. An empty list is a case that passed. In CASE_DIR: case.json (what was requested),
         untraced.txt (the engine's list of nodes and its tokens, without the agent), console.log (of this case),
         rounds.txt, and of each recording N-E.{txt,log,status,json}, the last its summary.json.
table    prints the lines of RESULTS as a table; exit status 1 if one of them is wrong
"""

import json
import re
import sys
from pathlib import Path

# Kernel messages that report damage. A case must not have any.
COMPLAINT = re.compile(
    r"^\[ *(\d+\.\d+)\].*?(BUG: |BUG at |Oops|WARNING: |Kernel panic|general protection fault|unable to handle"
    r"|segfault at|stack-protector|double fault|Internal error|rcu: INFO|blocked for more than)"
)
VIEWS = {"NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"}
THREADS = 8


def spans_of(nodes):
    """Number of operators that one thread computes for the nodes of a graph, each (operator, name, names of its sources)."""
    at, sources = {}, []
    for i, (_, name, source_names) in enumerate(nodes):
        sources.append([at[s] for s in source_names if s in at])
        at[name] = i
    # The engine skips nodes that neither its result nor the KV cache needs.
    needed = set()
    todo = [len(nodes) - 1, *(i for i, n in enumerate(nodes) if n[0] == "SET_ROWS" and n[1].startswith("cache_"))]
    while todo:
        i = todo.pop()
        if i not in needed:
            needed.add(i)
            todo += sources[i]
    # It fuses a norm and the product after it.
    fused = sum(a[0] == "RMS_NORM" and b[0] == "MUL" for a, b in zip(nodes, nodes[1:]))
    return sum(nodes[i][0] not in VIEWS for i in needed) - fused


def engine_output(path):
    """(tokens, spans that all threads together have) of the driver's output: see the head of ci/drivers/nodes.cpp."""
    tokens, spans, nodes = [], 0, []
    for line in path.read_text(errors="replace").splitlines():
        field = line.split("\t")
        if field[0] == "node":
            nodes.append((field[3], field[4], [s.rsplit(":", 1)[0] for s in field[7:]]))
        elif field[0] == "decode" and len(field) == 9:
            tokens.append(int(field[6]))
            spans += spans_of(nodes) if nodes else 0
            nodes = []
    return tokens, spans * THREADS


def complaints(console, begin):
    """(number of lines, seconds from the start of the case to the first, the first)"""
    found = [m for m in map(COMPLAINT.match, console.read_text(errors="replace").splitlines()) if m]
    if not found:
        return 0, None, None
    first = found[0]
    return len(found), round(float(first[1]) - begin, 1), first.string[first.start(2) :].strip()


def recording(base, tokens, expected):
    """(codes of the errors, received spans)"""
    wrong = []
    status = base.with_suffix(".status")
    if not status.exists():
        return [{"code": "not_ended"}], 0
    if int(status.read_text()) != 0:
        wrong.append({"code": "agent_status", "is": int(status.read_text())})
    if engine_output(base.with_suffix(".txt"))[0] != tokens:
        wrong.append({"code": "other_tokens"})
    try:
        summary = json.loads(base.with_suffix(".json").read_text())
    except (OSError, ValueError):
        return [*wrong, {"code": "not_analyzed"}], 0
    health = summary["health"]
    spans = health["spans"]
    for name, value in {**{f"spans.{k}": v for k, v in spans.items()}, **{f"dropped.{k}": v for k, v in health["dropped"].items()}}.items():
        if name not in ("spans.kernel", "spans.received", "spans.left_out", "spans.dropped") and value != 0:
            wrong.append({"code": name, "is": value})
    for name in ("kernel", "received"):
        if spans[name] != expected:
            wrong.append({"code": f"spans.{name}", "is": spans[name], "expected": expected})
    wrong += [{"code": "damaged", "kind": d["kind"], "is": d["count"]} for d in health["damaged"]]
    wrong += [{"code": "call_not_whole", "phase": c["phase"], "is": c["calls"] - c["traced"]}
              for c in summary["capture"]["coverage"] if c["traced"] != c["calls"]]
    if not health["perfect"]:
        wrong.append({"code": "not_perfect"})
    if not summary["sched"]["recorded"]:
        wrong.append({"code": "no_sched"})
    return wrong, spans["received"]


def verdict(case):
    result = json.loads((case / "case.json").read_text())
    rounds = [line.split() for line in (case / "rounds.txt").read_text(errors="replace").splitlines()]
    begin = next((float(r[1]) for r in rounds if r[:1] == ["begin"]), 0.0)
    wrong = []
    ended = result.pop("ended")
    if ended != 0:
        wrong.append({"code": "case_not_ended", "status": ended})
    lines, after, first = complaints(case / "console.log", begin)
    if lines:
        wrong.append({"code": "kernel", "lines": lines, "after_s": after, "first": first})
    if result["case"] != "extra":
        result |= recordings(case, rounds, wrong)
    print(json.dumps(result | {"wrong": wrong}))


def recordings(case, rounds, wrong):
    """Appends the errors of a case's recordings to `wrong`; returns the number of recordings and of their spans."""
    tokens, expected = engine_output(case / "untraced.txt")
    if not tokens:
        wrong.append({"code": "no_untraced_run"})
    bases = sorted(p.with_suffix("") for p in case.glob("*-*.log") if re.fullmatch(r"\d+-\d+", p.stem))
    bad = received = 0
    for base in bases:
        found, spans = recording(base, tokens, expected)
        received += spans
        bad += bool(found)
        wrong += [{"recording": base.name, **w} for w in found]
    if not bases:
        wrong.append({"code": "no_recordings"})
    return {"recordings": len(bases), "bad_recordings": bad, "expected_each": expected, "spans": received,
            "expected": expected * len(bases), "rounds": sum(r[:1] == ["round"] for r in rounds)}


def table(results):
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    print(f"{'kernel':<36} {'preempt':<8} {'case':<10} {'spans':>9} {'expected':>9} {'recordings':>10}  verdict")
    for r in rows:
        codes = {}
        for w in r["wrong"]:
            codes[w["code"]] = codes.get(w["code"], 0) + 1
        kernel = next((f", first after {w['after_s']} s: {w['first']}" for w in r["wrong"] if w["code"] == "kernel"), "")
        word = "ok" if not codes else "FAILED: " + ", ".join(f"{c} ({n})" if n > 1 else c for c, n in codes.items()) + kernel
        print(f"{r['kernel']:<36} {r['preempt']:<8} {r['case']:<10} {r.get('spans', 0):>9} {r.get('expected', 0):>9}"
              f" {r.get('recordings', 0):>10}  {word}")
    return any(r["wrong"] for r in rows)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["verdict", folder]:
            verdict(Path(folder))
        case ["table", results]:
            sys.exit(table(Path(results)))
        case _:
            sys.exit(__doc__)
