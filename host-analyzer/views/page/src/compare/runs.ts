// Runs as dots, with the interval of each mean.

import { list } from "../data/read.ts";
import { h, s } from "../ui/dom.ts";
import { time } from "../ui/format.ts";
import { section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { change } from "./change.ts";
import type { QuestionComparison, Run } from "../data/schema.ts";

/** Size of the drawing, space for the side names, and height per run. */
const WIDTH = 900;
const LEFT = 40;
const LINE = 18;

interface Dot extends Run {
  side: string;
}

function dots(all: Dot[]): Element {
  const mean = (r: Dot) => r.mean_ns ?? 0;
  const half = (r: Dot) => mean(r) * (r.half_share ?? 0);
  const low = Math.min(...all.map((r) => mean(r) - half(r)));
  const high = Math.max(...all.map((r) => mean(r) + half(r)));
  const span = Math.max(high - low, high * 0.02, 1);
  const from = (low + high) / 2 - span * 0.55;
  const x = (ns: number) => LEFT + ((ns - from) / (span * 1.1)) * (WIDTH - LEFT - 20);
  const height = all.length * LINE + 30;
  const marks = all.flatMap((r, i) => {
    const y = i * LINE + 12;
    return [
      s("text", { class: "side-name", x: 8, y: y + 4 }, r.side),
      s("line", {
        class: `range side-${r.side}`,
        x1: x(mean(r) - half(r)),
        x2: x(mean(r) + half(r)),
        y1: y,
        y2: y,
      }),
      s(
        "circle",
        {
          class: `dot side-${r.side}`,
          cx: x(mean(r)),
          cy: y,
          r: 5,
          data: { run: i, mean: r.mean_ns },
        },
        s("title", {}, `${r.name ?? ""}: ${time(r.mean_ns)}`),
      ),
    ];
  });
  const ticks = [0.1, 0.5, 0.9].map((at) => {
    const ns = from + span * 1.1 * at;
    return s("text", { class: "tick", x: x(ns), y: height - 4, "text-anchor": "middle" }, time(ns));
  });
  return s(
    "svg",
    {
      class: "runs",
      viewBox: `0 0 ${WIDTH} ${height}`,
      role: "img",
      "aria-label": "Mean time of each run",
    },
    ...marks,
    ...ticks,
  );
}

export function runs(compared: QuestionComparison, prefix: string): HTMLElement {
  const unit = compared.unit || "token";
  const all: Dot[] = list(compared.sides).flatMap((side, i) =>
    list(side.runs).map((run) => ({ ...run, side: i === 0 ? "A" : "B" })),
  );
  const rows = table<Dot>({
    name: `${prefix}runs`,
    rows: all,
    columns: [
      { key: "side", title: "Side", value: (r) => r.side },
      { key: "name", title: "Run", value: (r) => r.name, class: "mono" },
      { key: "calls", title: "Calls", numeric: true, value: (r) => r.calls },
      {
        key: "units",
        title: unit === "call" ? "Units" : "Tokens",
        numeric: true,
        value: (r) => r.units,
      },
      {
        key: "mean_ns",
        title: "Mean",
        tip: `Mean time per ${unit}; the verdict compares these`,
        numeric: true,
        value: (r) => r.mean_ns,
        cell: (r) => time(r.mean_ns),
      },
      {
        key: "half_share",
        title: "±",
        tip: "Half of the 95 % interval of the mean, from the variation within the run",
        numeric: true,
        value: (r) => r.half_share,
        cell: (r) => change(r.half_share).replace("+", ""),
      },
      {
        key: "median_ns",
        title: "Median",
        tip: `Median time per ${unit}; not part of the verdict`,
        numeric: true,
        value: (r) => r.median_ns,
        cell: (r) => time(r.median_ns),
      },
    ],
  });
  return section(
    `${prefix}runs`,
    "Runs",
    `mean time per ${unit} of each run`,
    h(
      "div",
      { class: "panel" },
      all.length > 0 ? (dots(all) as unknown as HTMLElement) : null,
      rows.element,
    ),
  );
}
