// Breakdown of the change per unit. Each level sums to the total change.

import { h } from "../ui/dom.ts";
import { time } from "../ui/format.ts";
import { section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { change, changeTime } from "./change.ts";
import { list } from "../data/read.ts";
import type { ChangeRow, QuestionComparison } from "../data/schema.ts";

const LEVELS: [string, string, string][] = [
  ["step", "By step of the ladder", "Step"],
  ["module", "By module", "Module"],
  ["operator", "By operator", "Operator"],
  ["tensor", "By tensor", "Tensor"],
];

/** A bar from the centre: to the right if B takes longer. */
function bar(row: ChangeRow, most: number): HTMLElement {
  const ns = row.change_ns ?? 0;
  const fill = h("span", { class: ns > 0 ? "longer" : "shorter" });
  const width = most > 0 ? (Math.abs(ns) / most) * 50 : 0;
  fill.style.width = `${width}%`;
  fill.style.left = ns > 0 ? "50%" : `${50 - width}%`;
  return h("span", { class: "diverging" }, fill);
}

function level(
  rows: ChangeRow[],
  [name, title, of]: [string, string, string],
  prefix: string,
): HTMLElement | null {
  const shown = rows.filter((r) => r.level === name);
  if (shown.length === 0) {
    return null;
  }
  const most = Math.max(...shown.map((r) => Math.abs(r.change_ns ?? 0)));
  const many = shown.some((r) => r.p != null);
  const element = table<ChangeRow>({
    name: `${prefix}rows-${name}`,
    rows: shown,
    limit: 14,
    columns: [
      { key: "title", title: of, value: (r) => r.title, class: "part" },
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
        title: "Share of A",
        numeric: true,
        value: (r) => r.change_share,
        cell: (r) => change(r.change_share),
      },
      ...(many
        ? [
            {
              key: "p",
              title: "p",
              tip: "Exact rank test, upper bound",
              numeric: true,
              value: (r: ChangeRow) => r.p,
              cell: (r: ChangeRow) => r.p?.toPrecision(2) ?? "",
            },
            {
              key: "stands",
              title: "Significant",
              tip: "Corrected for the number of rows in this table (Benjamini-Hochberg, 5 %)",
              value: (r: ChangeRow) => r.stands,
              cell: (r: ChangeRow) => (r.stands ? "yes" : "no"),
            },
          ]
        : []),
    ],
  });
  return h("div", { class: "panel" }, h("h3", {}, title), element.element);
}

export function parts(compared: QuestionComparison, prefix: string): HTMLElement | null {
  const [rows, total] = [list(compared.rows), compared.change];
  if (!total || rows.length === 0) {
    return null;
  }
  const lead = `per ${compared.unit || "token"}: A ${time(total.a_ns)}, B ${time(total.b_ns)}, change ${changeTime(total.change_ns)}; each table sums to the change`;
  return section(
    `${prefix}parts`,
    "Breakdown of the change",
    lead,
    ...LEVELS.map((of) => level(rows, of, prefix)),
  );
}
