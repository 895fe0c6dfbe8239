"""Reads what the agent prints with `--format json`, for scripts. docs/agent-json.md describes the objects.

agent_json.py recorded FILE          `record`: one line for people
agent_json.py field FILE NAME        a field of any object, by its name
agent_json.py no FILE                `doctor`: the first row that does not work
agent_json.py row FILE NAME          `doctor`: the row of that name
agent_json.py engine FILE            `engine`: lines for token, graph and operator level, way of the operators, places of direct probes
"""

import json
import sys


def recorded(summary):
    """Summary of a recording, as one line."""
    return (
        f"{summary['spans_sent']} spans sent, {summary['spans_lost']} lost, {summary['frames']} frames; "
        f"agent: {summary['rss_bytes'] / 1e6:.1f} MB, {summary['cpu_ns'] / 1e9:.2f} s CPU"
    )


def rows(doctor):
    """All rows of the doctor's sections."""
    return [row for section in doctor["sections"] for row in section["rows"]]


def shown(row):
    return f"{row['name']}: {row['text']}"


#: Short names of functions, for docs/engines.md.
SHORT = [
    ("llama_", ""), ("lm_", ""), ("ggml_backend_sched_graph_compute", "sched"), ("ggml_graph_compute", "cpu"),
    ("ggml_backend_graph_compute_async", "backend"),
]


def level(engine, name, short=()):
    """How a level is traced, in words."""
    found = next(one for one in engine["levels"] if one["level"] == name)
    text = found["text"] if found["traced"] else f"none: {found['text']}"
    for long, word in short:
        text = text.replace(long, word)
    return text


def way(engine):
    """The way in which operators are found, by its name in builds.tsv."""
    ways = next(one for one in engine["levels"] if one["level"] == "operator")["ways"]
    if not ways:
        return "none"
    if any(one.get("fused") for one in ways):
        return "calls+fused"
    return {"calls": "calls", "operator_functions": "function"}.get(ways[0]["kind"], "structure")


def places(direct):
    """Places of direct probes in one file: number per role, and number of moved bytes."""
    if not direct["places"]:
        return direct["text"].split("\n")[0]
    count = {role: 0 for role in ("start", "fused_start", "end", "whole_call")}
    for place in direct["places"]:
        count[place["role"]] += 1
    moved = sum(place["bytes"] for place in direct["places"] if place["role"] == "end")
    parts = [
        f"{count['start']} start" if count["start"] else "",
        f"{count['fused_start']} fused start" if count["fused_start"] else "",
        f"{moved} bytes moved" if count["end"] else "",
        f"{count['whole_call']} whole call{'s' if count['whole_call'] > 1 else ''}" if count["whole_call"] else "",
        "in phases" if direct["has_phase"] else "",
    ]
    return ", ".join(part for part in parts if part)


def engine_lines(engine):
    """Lines that ci/engines/matrix.sh compares with builds.tsv and writes to the page."""
    found = [places(file["direct"]) for file in engine["files"] if file["direct"]]
    return [
        level(engine, "token", SHORT[:1]),
        level(engine, "graph", SHORT[1:]),
        level(engine, "operator"),
        way(engine),
        "; ".join(dict.fromkeys(found)),
    ]


def main(what, path, name=None):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if "error" in found and found["error"] and len(found) == 2:
        raise SystemExit("{tried}: {answer}\n  help: {help}".format(**found["error"]))
    match what:
        case "recorded":
            print(recorded(found))
        case "field":
            print(found[name])
        case "no":
            print(next((shown(row) for row in rows(found) if row["verdict"] == "no"), "no row"))
        case "row":
            print(next(shown(row) for row in rows(found) if row["name"] == name))
        case "engine":
            print("\n".join(engine_lines(found)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
