// What the change of a token is made of: each level sums to the change.

import { h } from "../ui/dom.ts";
import { time } from "../ui/format.ts";
import { section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { change, changeTime } from "./change.ts";
import type { ChangeRow, Comparison } from "../data/schema.ts";

const LEVELS: [string, string, string][] = [
  ["class", "By class of the budget", "Part"],
  ["operator", "By operator", "Operator"],
  ["tensor", "By tensor", "Tensor"],
];

/** A bar from the middle: to the right what takes longer. */
function bar(row: ChangeRow, most: number): HTMLElement {
  const ns = row.change_ns ?? 0;
  const fill = h("span", { class: ns > 0 ? "longer" : "shorter" });
  const width = most > 0 ? (Math.abs(ns) / most) * 50 : 0;
  fill.style.width = `${width}%`;
  fill.style.left = ns > 0 ? "50%" : `${50 - width}%`;
  return h("span", { class: "diverging" }, fill);
}

function level(rows: ChangeRow[], name: string, title: string, of: string): HTMLElement | null {
  const shown = rows.filter((r) => r.level === name);
  if (shown.length === 0) {
    return null;
  }
  const most = Math.max(...shown.map((r) => Math.abs(r.change_ns ?? 0)));
  const many = shown.some((r) => r.p != null);
  const element = table<ChangeRow>({
    name: `rows-${name}`,
    rows: shown,
    limit: 14,
    columns: [
      { key: "title", title: of, value: (r) => r.title },
      { key: "a_ns", title: "A", numeric: true, value: (r) => r.a_ns, cell: (r) => time(r.a_ns) },
      { key: "b_ns", title: "B", numeric: true, value: (r) => r.b_ns, cell: (r) => time(r.b_ns) },
      {
        key: "change_ns",
        title: "Change",
        numeric: true,
        value: (r) => r.change_ns,
        cell: (r) => changeTime(r.change_ns),
      },
      { key: "bar", title: "", value: () => "", cell: (r) => bar(r, most) },
      {
        key: "change_share",
        title: "Of A's token",
        numeric: true,
        value: (r) => r.change_share,
        cell: (r) => change(r.change_share),
      },
      ...(many
        ? [
            {
              key: "p",
              title: "p",
              tip: "Exact, of the ranks of the runs, at most",
              numeric: true,
              value: (r: ChangeRow) => r.p,
              cell: (r: ChangeRow) => r.p?.toPrecision(2) ?? "",
            },
            {
              key: "stands",
              title: "Stands",
              tip: "When all rows of this table are looked at together (Benjamini and Hochberg, 5 %)",
              value: (r: ChangeRow) => r.stands,
              cell: (r: ChangeRow) => (r.stands ? "yes" : "no"),
            },
          ]
        : []),
    ],
  });
  return h("div", { class: "panel" }, h("h3", {}, title), element.element);
}

export function parts(rows: ChangeRow[], whole: Comparison["change"]): HTMLElement | null {
  if (!whole || rows.length === 0) {
    return null;
  }
  const lead = `a token of A ${time(whole.a_ns)}, of B ${time(whole.b_ns)}: ${changeTime(whole.change_ns)}; each table sums to it`;
  return section(
    "parts",
    "What the change is made of",
    lead,
    ...LEVELS.map(([name, title, of]) => level(rows, name, title, of)),
  );
}
