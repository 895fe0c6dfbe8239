"""The tables and the graph of a profile, made from its JSON files with pandas and networkx, as analyzers are often written.

    python3 pandas_analyzer.py FOLDER

FOLDER is what `analyze --timeline-json --csv` wrote. Prints the time of each step, the peak of memory, and, table by table, whether the
figures are those of summary.json: it shares no line with what made them. The exit status is 1 if one differs.
"""

import json
import resource
import sys
import time
from pathlib import Path

import networkx as nx
import pandas as pd

PHASES = {"prefill": "prefill", "decode": "decode", "batch decode": "batch_decode", "draft": "draft", "warm-up": "warm_up"}
NOT_OPERATORS = {"token", "graph", "barrier", "health", "state", "probes"}


def events(folder):
    with open(folder / "timeline.json", "rb") as file:
        return json.load(file)["traceEvents"]


def slices(trace):
    """Rows of `llama_decode` calls, graph calls and operators: starts and ends matched track by track."""
    rows = {"token": [], "graph": [], "op": []}
    opened, last = {}, {}
    for event in trace:
        if event["ph"] not in "BE":
            continue
        track, at = (event["pid"], event["tid"]), round(event["ts"] * 1000)
        if event["ph"] == "B":
            opened.setdefault(track, []).append((event, at))
            continue
        begun, start = opened[track].pop()
        kind = begun.get("cat", "")
        row = {"pid": event["pid"], "tid": event["tid"], "name": begun["name"], "cat": kind, "start": start, "end": at}
        if kind == "barrier":
            # The wait after the previous operator.
            last[track]["wait"] = at - start
        elif kind in ("token", "graph"):
            rows[kind].append(row | begun["args"])
        elif kind.split(",")[0] not in NOT_OPERATORS:
            last[track] = row | {"wait": 0}
            rows["op"].append(last[track])
    return {kind: pd.DataFrame(list_).sort_values("start", kind="stable") for kind, list_ in rows.items()}


def phase(name):
    return PHASES.get(name.split(" n=")[0], "unknown")


def tables(of):
    token, graph, op = of["token"], of["graph"], of["op"]
    token["phase"] = token["name"].map(phase)
    token["length"] = token["end"] - token["start"]
    graph = graph[graph["layer"] != "scheduler"].reset_index(drop=True)
    graph["graph"] = graph.index
    around = token[["pid", "start", "end", "phase"]].rename(columns={"end": "token_end"})
    graph = pd.merge_asof(graph, around, on="start", by="pid")
    graph.loc[graph["end"] > graph["token_end"], "phase"] = "unknown"
    op = pd.merge_asof(op, graph[["pid", "start", "graph", "phase"]], on="start", by="pid")
    op["work"] = op["end"] - op["start"]
    # Nodes of one graph may have one name and operator; a thread runs them in the graph's order.
    op["nth"] = op.groupby(["graph", "tid", "name", "cat"]).cumcount() + 1
    runs = op.groupby(["phase", "graph", "cat", "name", "nth"]).agg(
        start=("start", "min"), end=("end", "max"), work=("work", "sum"), wait=("wait", "sum")
    )
    runs["wall"] = runs["end"] - runs["start"]

    def sums(by):
        grouped = runs.groupby(by)
        table = grouped.agg(executions=("wall", "size"), wall=("wall", "sum"), work=("work", "sum"), wait=("wait", "sum"))
        # Nearest rank: the lower of two in the middle.
        return table.assign(median=grouped["wall"].quantile(0.5, interpolation="lower").astype("int64"))

    return {
        "tokens": token[token["status"] == 0].groupby("phase").agg(
            calls=("length", "size"), tokens=("n_tokens", "sum"), time=("length", "sum")),
        "types": sums(["phase", "cat"]),
        "operators": sums(["phase", "cat", "name", "nth"]),
        "threads": op.groupby("tid").agg(spans=("work", "size"), work=("work", "sum"), wait=("wait", "sum")),
    }


def category(row):
    return row["op"] if row["op"] == row["desc"] else f"{row['op']},{row['desc']}"


def same(name, ours, theirs):
    """Whether two tables, as dictionaries, are equal."""
    wrong = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    print(f"  {name:12}{len(theirs):8} rows  {'equal' if not wrong else f'{len(wrong)} differ'}")
    for key in sorted(wrong, key=str)[:5]:
        print(f"    {key}: here {ours.get(key)}, summary.json {theirs.get(key)}")
    return not wrong


def rows_of(table):
    return {key: tuple(int(v) for v in row) for key, row in zip(table.index, table.itertuples(index=False))}


def compare(made, summary):
    figures = lambda r: tuple(r[k] for k in ("executions", "wall_ns", "work_ns", "wait_ns", "median_ns"))
    totals = {p: summary["tokens"][p] for p in PHASES.values()}
    return all([
        same("tokens", rows_of(made["tokens"]),
             {p: (t["calls"], t["tokens"], t["time_ns"]) for p, t in totals.items() if t["calls"]}),
        same("op_types", rows_of(made["types"]), {(r["phase"], category(r)): figures(r) for r in summary["op_types"]}),
        same("operators", rows_of(made["operators"]),
             {(r["phase"], category(r), r["name"], r["nth"]): figures(r) for r in summary["operators"]}),
        same("threads", rows_of(made["threads"]),
             {r["tid"]: (r["spans"], r["work_ns"], r["wait_ns"]) for r in summary["threads"] if r["spans"]}),
    ])


def experts(folder, summary):
    table = pd.read_csv(folder / "experts.csv")
    uses = table.groupby(["phase", "layer", "expert"]).size()
    told = {
        (row["phase"], layer["layer"], expert): n
        for row in summary["experts"]
        for layer in row["layers"]
        for expert, n in enumerate(layer["expert_uses"])
        if n
    }
    return same("experts", {key: int(n) for key, n in uses.items()}, told)


def paths(folder, made, summary):
    """The longest chain of operators through their sources. It excludes waits for free memory, so it is at most the path."""
    good = True
    told = {row["graph"]: row for row in summary["critical_paths"]}
    for graph in json.loads((folder / "dag.json").read_bytes())["graphs"]:
        if graph["id"] not in told:
            continue
        medians = made["operators"].loc[graph["phase"]]["median"]
        runs_in, seen, weight = {}, {}, {}
        dag = nx.DiGraph()
        for node in graph["nodes"]:
            key = (category(node), node["name"])
            seen[key] = seen.get(key, 0) + 1
            into = node["fused_with"] if node["fused_with"] is not None else node["index"]
            runs_in[node["index"]] = into
            dag.add_node(into)
            if node["executions"]:
                weight[node["index"]] = int(medians[(*key, seen[key])])
        for edge in graph["edges"]:
            ends = runs_in[edge["from"]], runs_in[edge["to"]]
            if ends[0] != ends[1]:
                dag.add_edge(*ends)
        longest = {}
        for node in nx.topological_sort(dag):
            before = max((longest[p] for p in dag.predecessors(node)), default=0)
            longest[node] = before + weight.get(node, 0)
        row, path, total = told[graph["id"]], max(longest.values()), sum(weight.values())
        fits = path <= row["path_ns"] <= row["sum_ns"] == total
        print(f"  graph {graph['id']}: {dag.number_of_nodes()} nodes, sum {total} ns, longest {path} ns "
              f"of {row['path_ns']}: {'fits' if fits else 'DIFFERS'}")
        good &= fits
    return good


def main(folder):
    steps, begun = [], time.perf_counter()

    def done(what):
        steps.append((what, time.perf_counter() - begun - sum(s for _, s in steps)))

    trace = events(folder)
    done("JSON read")
    of = slices(trace)
    del trace
    done("slices matched")
    spans = len(of["op"])
    made = tables(of)
    done("tables")
    summary = json.loads((folder / "summary.json").read_bytes())
    good = [compare(made, summary), experts(folder, summary)]
    good.append(paths(folder, made, summary))
    done("compared, graphs")
    for what, seconds in steps:
        print(f"{what:20}{seconds * 1e9 / spans:10.0f} ms/million")
    whole = sum(s for _, s in steps[:3])
    print(f"{'= tables from JSON':20}{whole * 1e9 / spans:10.0f} ms/million {spans / whole / 1e6:8.3f} million spans/s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{spans} spans, peak {peak / 1e6:.0f} MB, {peak / spans:.0f} bytes a span")
    return 0 if all(good) else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
