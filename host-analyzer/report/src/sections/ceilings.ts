// What the board can do at best, as it was measured there: the roofline's lines, and others.

import type { Ceiling } from "../data/ceiling.ts";
import { list } from "../data/read.ts";
import type { Maybe, Num } from "../data/summary.ts";
import { count } from "../ui/format.ts";
import { panel, section } from "../ui/parts.ts";
import { cpuRanges, quantity } from "../ui/quantity.ts";
import { table, type Column } from "../ui/table.ts";

function rate(key: "median" | "min" | "max", title: string, tip: string): Column<Ceiling> {
  const of = (c: Ceiling): Num => c[key];
  return { key, title, numeric: true, tip, value: of, cell: (c) => quantity(of(c), c.unit, false) };
}

/** Null where nobody measured any. */
export function ceilingSection(ceilings: Maybe<Ceiling[]>): HTMLElement | null {
  const rows = list(ceilings);
  if (rows.length === 0) {
    return null;
  }
  const grid = table<Ceiling>({
    name: "ceilings",
    rows,
    limit: 16,
    columns: [
      { key: "kind", title: "Ceiling", value: (c) => c.kind },
      { key: "core", title: "Cores", value: (c) => c.core, cell: (c) => c.core || "–" },
      { key: "threads", title: "Threads", numeric: true, value: (c) => c.threads, cell: (c) => count(c.threads) },
      { key: "cpus", title: "CPUs", class: "mono", value: (c) => cpuRanges(c.cpus) },
      rate("median", "Median", "Of the repetitions"),
      rate("min", "Min", "Least of the repetitions"),
      rate("max", "Max", "Greatest of the repetitions"),
      { key: "repeats", title: "Repetitions", numeric: true, value: (c) => c.repeats, cell: (c) => count(c.repeats) },
      { key: "how", title: "By", value: (c) => c.how, cell: (c) => c.how || "–" },
      ...(rows.some((c) => c.note) ? [{ key: "note", title: "Note", class: "note", value: (c: Ceiling) => c.note, cell: (c: Ceiling) => c.note || "" }] : []),
    ],
  });
  return section("ceilings", "Ceilings", "What this board delivers at best to that many threads: memory, arithmetic in registers, barriers, wake-ups.", panel("", grid.element));
}
