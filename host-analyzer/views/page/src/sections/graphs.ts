// Graph calls by layer and backend.

import { list } from "../data/read.ts";
import type { GraphRow, Summary } from "../data/schema.ts";
import { count, time } from "../ui/format.ts";
import { panel, section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";

function nodes(row: GraphRow): string {
  return row.min_nodes === row.max_nodes
    ? count(row.min_nodes)
    : `${count(row.min_nodes)} … ${count(row.max_nodes)}`;
}

export function graphSection(summary: Summary): HTMLElement {
  const grid = table<GraphRow>({
    name: "graphs",
    rows: list(summary.graphs),
    columns: [
      { key: "layer", title: "Layer", value: (r) => r.layer },
      { key: "backend", title: "Backend", value: (r) => r.backend, cell: (r) => r.backend || "–" },
      {
        key: "calls",
        title: "Calls",
        numeric: true,
        value: (r) => r.calls,
        cell: (r) => count(r.calls),
      },
      {
        key: "topologies",
        title: "Topologies",
        numeric: true,
        tip: "Number of distinct topologies",
        value: (r) => r.topologies,
        cell: (r) => count(r.topologies),
      },
      { key: "max_nodes", title: "Nodes", numeric: true, value: (r) => r.max_nodes, cell: nodes },
      {
        key: "time_ns",
        title: "Time",
        numeric: true,
        value: (r) => r.time_ns,
        cell: (r) => time(r.time_ns),
      },
    ],
  });
  return section(
    "graphs",
    "Graph calls",
    "Complete graphs from the scheduler, and the splits that each backend computed.",
    panel("", grid.element),
  );
}
