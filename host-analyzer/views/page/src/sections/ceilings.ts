// Measured limits of the board: the lines of the roofline, and others.

import type { Maybe, Num } from "../data/maybe.ts";
import type { Ceiling, CurvePoint } from "../data/schema.ts";
import { list } from "../data/read.ts";
import { bytes, count } from "../ui/format.ts";
import { h } from "../ui/dom.ts";
import { panel, section } from "../ui/parts.ts";
import { cpuRanges, quantity } from "../ui/quantity.ts";
import { pollutedText, sourceText } from "../ui/source.ts";
import { table, type Column } from "../ui/table.ts";

type Figures = Pick<Ceiling, "median" | "min" | "max" | "unit">;

function rate<T extends Figures>(
  key: "median" | "min" | "max",
  title: string,
  tip: string,
): Column<T> {
  const of = (c: T): Num => c[key];
  return { key, title, numeric: true, tip, value: of, cell: (c) => quantity(of(c), c.unit, false) };
}

function rates<T extends Figures>(): Column<T>[] {
  return [
    rate("median", "Median", "Median of the repetitions"),
    rate("min", "Min", "Smallest repetition"),
    rate("max", "Max", "Largest repetition"),
  ];
}

type Row = CurvePoint & Pick<Ceiling, "core" | "threads" | "cpus" | "unit">;

/** Read bandwidth by working set. Null in recordings of older agents. */
function curves(rows: Ceiling[]): HTMLElement | null {
  const points = rows.flatMap((c) =>
    list(c.points).map(
      (p): Row => ({ ...p, core: c.core, threads: c.threads, cpus: c.cpus, unit: c.unit }),
    ),
  );
  if (points.length === 0) {
    return null;
  }
  const doubtful = points.some((p) => list(p.doubts).length > 0);
  const grid = table<Row>({
    name: "reading",
    rows: points,
    limit: 16,
    columns: [
      { key: "core", title: "Cores", value: (p) => p.core, cell: (p) => p.core || "–" },
      {
        key: "threads",
        title: "Threads",
        numeric: true,
        value: (p) => p.threads,
        cell: (p) => count(p.threads),
      },
      { key: "cpus", title: "CPUs", class: "mono", value: (p) => cpuRanges(p.cpus) },
      {
        key: "working_set_bytes",
        title: "Working set",
        numeric: true,
        tip: "Bytes that all threads together read repeatedly",
        value: (p) => p.working_set_bytes,
        cell: (p) => bytes(p.working_set_bytes),
      },
      ...rates<Row>(),
      ...(doubtful
        ? [{ key: "doubts", title: "Doubts", value: (p: Row) => list(p.doubts).join(", ") }]
        : []),
    ],
  });
  return h("div", {}, h("h3", {}, "Read bandwidth by working set"), grid.element);
}

const from = (c: Ceiling): string => sourceText(c.source, c.kept_unix_ns);
const note = (c: Ceiling): string => [c.note, pollutedText(c)].filter((t) => t).join("; ");

/** Null if none were measured. */
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
      {
        key: "kind",
        title: "Peak",
        tip: "Called `ceiling` in summary.json and in --ceilings",
        value: (c) => c.kind,
      },
      { key: "core", title: "Cores", value: (c) => c.core, cell: (c) => c.core || "–" },
      {
        key: "threads",
        title: "Threads",
        numeric: true,
        value: (c) => c.threads,
        cell: (c) => count(c.threads),
      },
      { key: "cpus", title: "CPUs", class: "mono", value: (c) => cpuRanges(c.cpus) },
      ...(rows.some((c) => c.working_set_bytes)
        ? [
            {
              key: "working_set_bytes",
              title: "Working set",
              numeric: true,
              value: (c: Ceiling) => c.working_set_bytes,
              cell: (c: Ceiling) => bytes(c.working_set_bytes),
            },
          ]
        : []),
      ...rates<Ceiling>(),
      {
        key: "repeats",
        title: "Repetitions",
        numeric: true,
        value: (c) => c.repeats,
        cell: (c) => count(c.repeats),
      },
      { key: "how", title: "Method", value: (c) => c.how, cell: (c) => c.how || "–" },
      // The usual case needs no column: all were measured for this session.
      ...(rows.some((c) => c.source != null && c.source !== "recording")
        ? [{ key: "source", title: "From", value: from }]
        : []),
      ...(rows.some((c) => note(c))
        ? [{ key: "note", title: "Note", class: "note", value: note }]
        : []),
    ],
  });
  return section(
    "ceilings",
    "Measured peaks",
    "The best that this board delivered, by thread count: memory, arithmetic in registers, barriers, wake-ups.",
    panel("", grid.element, curves(rows)),
  );
}
