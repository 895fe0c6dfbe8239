// Details of one tensor, for the tooltip and the side panel.

import { isLeaf, isView } from "../data/dag.ts";
import type { DagEdge, DagNode } from "../data/schema.ts";
import { place } from "../ui/place.ts";
import { h } from "../ui/dom.ts";
import { bytes, count, dims, percent, time } from "../ui/format.ts";
import type { Prepared } from "./prepare.ts";

/** The short form, for the tooltip. */
export function tip(p: Prepared, n: DagNode): HTMLElement[] {
  const leaf = isLeaf(p.graph, n);
  const what = leaf ? (n.role ?? "leaf") : n.desc || n.op || "?";
  const lines = [
    h("strong", { class: "mono" }, n.name || "(lost)"),
    h("span", {}, `${what} · ${n.dtype ?? "?"} · ${dims(n.ne)}`),
  ];
  if (leaf) {
    lines.push(
      h(
        "span",
        { class: "muted" },
        [bytes(n.bytes), place(n.memory, n.buffer)].filter(Boolean).join(" · "),
      ),
    );
  } else if (isView(p.graph, n)) {
    lines.push(h("span", { class: "muted" }, "never executed: a view of the same data"));
  } else {
    lines.push(h("span", {}, `${time(n.wall_ns)} per run · ${percent(n.share)}`));
  }
  return lines;
}

function link(p: Prepared, index: number, note: string, go: (index: number) => void): HTMLElement {
  const n = p.node.get(index);
  const button = h(
    "button",
    { type: "button", class: "quiet mono", on: { click: () => go(index) } },
    n?.name || `#${index}`,
  );
  return h("li", {}, button, h("span", { class: "muted" }, ` ${note}`));
}

/** Type and dimensions of a source, and the location of a weight. */
function source(p: Prepared, e: DagEdge): string {
  const from = p.node.get(e.from);
  return [`${e.dtype ?? ""} ${dims(e.ne)}`, from && place(from.memory, from.buffer)]
    .filter(Boolean)
    .join(" · ");
}

/** The long form, for the panel. `go`: selects another tensor. */
export function detail(p: Prepared, n: DagNode, go: (index: number) => void): HTMLElement[] {
  const leaf = isLeaf(p.graph, n);
  const rows: [string, string | null][] = [
    [
      "Operator",
      leaf ? null : n.desc && n.desc !== n.op ? `${n.desc} (${n.op ?? "?"})` : (n.op ?? null),
    ],
    ["Role", leaf ? (n.role ?? null) : null],
    ["Type", n.dtype ?? null],
    ["Dimensions", dims(n.ne)],
    ["Size", bytes(n.bytes)],
    [
      "Module",
      n.module && n.module !== "other"
        ? `${n.module}${n.layer != null ? `, layer ${n.layer}` : ""}`
        : null,
    ],
    ["Memory", n.role === "weight" ? (place(n.memory, n.buffer) ?? "not recorded") : null],
    [
      "Execution order",
      n.order == null
        ? leaf
          ? null
          : n.not_captured
            ? "not captured"
            : n.fused_with == null
              ? "never executed"
              : "fused"
        : count(n.order + 1),
    ],
    [
      "Executions",
      n.executions == null || leaf ? null : n.not_captured ? "not captured" : count(n.executions),
    ],
    ["Wall, mean", leaf || n.wall_ns == null ? null : time(n.wall_ns)],
    ["Work, all threads", leaf || n.work_ns == null ? null : time(n.work_ns)],
    ["Barrier, all threads", leaf || n.wait_ns == null ? null : time(n.wait_ns)],
    ["Critical path", n.critical == null || leaf ? null : n.critical ? "yes" : "no"],
    ["Share of the graph", leaf || n.share == null || n.not_captured ? null : percent(n.share)],
  ];
  const facts = rows
    .filter((r): r is [string, string] => r[1] != null)
    .flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]);
  const parts: HTMLElement[] = [
    h("h4", { class: "mono", tabindex: -1 }, n.name || "(lost)"),
    h("dl", { class: "pairs" }, ...facts),
  ];
  const lists: [string, HTMLElement[]][] = [
    ["Fused with", n.fused_with == null ? [] : [link(p, n.fused_with, "", go)]],
    ["View of", n.view_of == null ? [] : [link(p, n.view_of, "", go)]],
    ["Sources", (p.into.get(n.index) ?? []).map((e) => link(p, e.from, source(p, e), go))],
    [
      "Read by",
      (p.from.get(n.index) ?? []).map((e) => link(p, e.to, p.node.get(e.to)?.desc ?? "", go)),
    ],
  ];
  for (const [title, items] of lists) {
    if (items.length > 0) {
      parts.push(h("h5", {}, title), h("ul", {}, ...items));
    }
  }
  return parts;
}
