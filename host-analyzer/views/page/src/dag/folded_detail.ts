// Details of a folded part, for the tooltip and the side panel.

import type { DagNode } from "../data/schema.ts";
import { h } from "../ui/dom.ts";
import { bytes, count, percent, plural, time } from "../ui/format.ts";
import type { FoldedNode } from "./fold.ts";
import type { Part } from "./parts.ts";

/** Number of listed operators. */
const MOST = 10;

function weightBytes(n: FoldedNode): number {
  return n.weights.reduce((sum, w) => sum + (w.bytes ?? 0), 0);
}

/** The short form, for the tooltip. */
export function foldedTip(n: FoldedNode): HTMLElement[] {
  return [
    h("strong", { class: "mono" }, n.part.name),
    h("span", {}, `${time(n.wall_ns)} per call · ${percent(n.share)}`),
    h("span", { class: "muted" }, plural(n.part.nodes.length, "node")),
  ];
}

/** Its modules, longest first. */
function modules(part: Part): HTMLElement[] {
  const sums = new Map<string, { nodes: number; ns: number }>();
  for (const n of part.nodes) {
    const sum = sums.get(n.module || "other") ?? { nodes: 0, ns: 0 };
    sums.set(n.module || "other", { nodes: sum.nodes + 1, ns: sum.ns + (n.wall_ns ?? 0) });
  }
  const rows = [...sums].sort((a, b) => b[1].ns - a[1].ns);
  return rows.length < 2
    ? []
    : rows.map(([name, { nodes, ns }]) =>
        h("li", {}, name, h("span", { class: "muted" }, ` ${plural(nodes, "node")}, ${time(ns)}`)),
      );
}

/** The long form, for the panel. `show`: scrolls to a tensor; `turn`: unfolds the part. */
export function foldedDetail(
  n: FoldedNode,
  show: (index: number) => void,
  turn: (part: Part) => void,
): HTMLElement[] {
  const { part } = n;
  const run = part.nodes
    .filter((m) => (m.wall_ns ?? 0) > 0)
    .sort((a, b) => b.wall_ns! - a.wall_ns!);
  const rows: [string, string | null][] = [
    ["Nodes", count(part.nodes.length)],
    ["Executed operators", count(run.length)],
    ["Wall, per call", time(n.wall_ns)],
    ["Work, all threads", n.work_ns == null ? null : time(n.work_ns)],
    ["Barrier, all threads", n.wait_ns == null ? null : time(n.wait_ns)],
    ["Weights", n.weights.length > 0 ? bytes(weightBytes(n)) : null],
    ["Critical path", n.critical == null ? null : n.critical ? "yes" : "no"],
    ["Share of the graph", n.share == null ? null : percent(n.share)],
  ];
  const facts = rows
    .filter((r): r is [string, string] => r[1] != null)
    .flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]);
  const operator = (m: DagNode): HTMLElement =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "quiet mono", on: { click: () => show(m.index) } },
        m.name || `#${m.index}`,
      ),
      h("span", { class: "muted" }, ` ${m.desc || m.op || ""} ${time(m.wall_ns)}`),
    );
  const lists: [string, HTMLElement[]][] = [
    ["Modules", modules(part)],
    [
      run.length > MOST ? `Longest ${MOST} operators` : "Operators",
      run.slice(0, MOST).map(operator),
    ],
  ];
  return [
    h("h4", { class: "mono", tabindex: -1 }, part.name),
    h(
      "p",
      {},
      h(
        "button",
        { type: "button", class: "quiet", on: { click: () => turn(part) } },
        "Unfold (Enter)",
      ),
    ),
    h("dl", { class: "pairs" }, ...facts),
    ...lists.flatMap(([title, items]) =>
      items.length > 0 ? [h("h5", {}, title), h("ul", {}, ...items)] : [],
    ),
  ];
}

/** Buttons that fold the parts around a node. */
export function foldButtons(parts: Part[], turn: (part: Part) => void): HTMLElement[] {
  const keys = ["Enter", "Shift+Enter"];
  const buttons = parts.map((part) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "quiet", on: { click: () => turn(part) } },
        `${part.name} (${part.kind === "module" ? keys[0]! : keys[1]!})`,
      ),
    ),
  );
  return buttons.length > 0 ? [h("h5", {}, "Fold"), h("ul", {}, ...buttons)] : [];
}
