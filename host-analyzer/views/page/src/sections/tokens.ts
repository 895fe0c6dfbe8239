// Time per output token, as a chart over the decode calls.

import uPlot from "uplot";
import { hasTokenLevel } from "../data/levels.ts";
import type { Maybe } from "../data/maybe.ts";
import { list } from "../data/read.ts";
import type { Call, Request, Summary } from "../data/schema.ts";
import { PER_TOKEN } from "../ui/definitions.ts";
import { type Child, h } from "../ui/dom.ts";
import { time } from "../ui/format.ts";
import { absent, panel, section } from "../ui/parts.ts";
import { cssVar, onTheme } from "../ui/theme.ts";
import { requestTable } from "./figures.ts";
import { slotTable, stepTable } from "./slots.ts";
import { apart, type Columns, columns, medianOf, needsLog } from "./token_times.ts";

/** Name in the legend, name at the line end, colour variable, line width. */
const SERIES: [string, string, string, number][] = [
  ["Time per token", "token", "--series-1", 1.75],
  ["Decode call", "call", "--series-2", 1.25],
  ["Graphs", "graphs", "--series-3", 1.25],
  ["Operators", "operators", "--series-4", 1.25],
];
/** Space for the names at the right edge, and their minimum distance, CSS px. */
const NAME_WIDTH = 84;
const NAME_HEIGHT = 14;

/** Writes the name of each line at its right end. */
function nameLines(u: uPlot): void {
  const scale = uPlot.pxRatio;
  const { left, top, width, height } = u.bbox;
  const ends = SERIES.flatMap(([, name, colour], i) => {
    const values = u.data[i + 1] ?? [];
    let last = values.length - 1;
    while (last >= 0 && values[last] == null) {
      last -= 1;
    }
    const value = values[last];
    return u.series[i + 1]?.show && value != null
      ? [{ name, colour: cssVar(colour), y: u.valToPos(value, "y", true) }]
      : [];
  });
  const places = apart(
    ends.map((e) => e.y),
    NAME_HEIGHT * scale,
    top,
    top + height,
  );
  const c = u.ctx;
  c.save();
  c.font = `600 ${11.5 * scale}px system-ui, sans-serif`;
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.lineWidth = scale;
  ends.forEach(({ name, colour, y }, i) => {
    const x = left + width;
    c.strokeStyle = colour;
    c.fillStyle = colour;
    c.beginPath();
    c.moveTo(x + scale, y);
    c.lineTo(x + 8 * scale, places[i]!);
    c.stroke();
    c.fillText(name, x + 11 * scale, places[i]!);
  });
  c.restore();
}

/** A dashed line at the median. */
function medianLine(u: uPlot, median: number | null): void {
  if (median == null) {
    return;
  }
  const scale = uPlot.pxRatio;
  const { left, width } = u.bbox;
  const y = u.valToPos(median, "y", true);
  const c = u.ctx;
  c.save();
  c.strokeStyle = cssVar("--muted");
  c.lineWidth = scale;
  c.setLineDash([5 * scale, 4 * scale]);
  c.beginPath();
  c.moveTo(left, y);
  c.lineTo(left + width, y);
  c.stroke();
  c.restore();
}

function chart(data: Columns, host: HTMLElement): uPlot {
  const log = needsLog(data);
  const median = medianOf(data);
  const axis = (): Partial<uPlot.Axis> => ({
    stroke: cssVar("--muted"),
    grid: { stroke: cssVar("--line"), width: 1 },
    ticks: { stroke: cssVar("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
  });
  // Few calls: tick marks at integers only.
  const integers = data[0].length <= 12 ? { incrs: [1, 2, 5] } : {};
  return new uPlot(
    {
      width: Math.max(320, host.clientWidth),
      height: 300,
      scales: {
        x: { time: false },
        y: {
          distr: log ? 3 : 1,
          range: (_, min, max) =>
            log
              ? [Math.max(1, min * 0.8), max * 1.25]
              : [Math.max(0, min - (max - min) * 0.15), max + (max - min || max) * 0.1],
        },
      },
      legend: { live: true },
      padding: [null, NAME_WIDTH, null, null],
      hooks: { draw: [nameLines, (u) => medianLine(u, median)] },
      cursor: { points: { size: 6 } },
      axes: [
        { ...axis(), ...integers, label: "decode call", size: 34, labelSize: 22 },
        { ...axis(), size: 76, values: (_, ticks) => ticks.map((t) => (t == null ? "" : time(t))) },
      ],
      series: [
        { label: "Decode call no.", value: (_, v) => (v == null ? "–" : String(v)) },
        ...SERIES.map(
          ([label, , colour, width]): uPlot.Series => ({
            label,
            stroke: cssVar(colour),
            width,
            points: { show: width > 1.5 && data[0].length <= 80, size: 5 },
            value: (_, v) => time(v),
          }),
        ),
      ],
    },
    data,
    host,
  );
}

/** The chart. It follows the width of its host and the colour scheme. */
function tokenChart(calls: Call[]): HTMLElement {
  const data = columns(calls);
  if (data[0].length === 0) {
    return absent("No decode calls were recorded.");
  }
  const median = medianOf(data);
  const note =
    median == null
      ? null
      : h(
          "p",
          { class: "hint" },
          `Dashed: median, ${time(median)}.${needsLog(data) ? " Logarithmic scale." : ""}`,
        );
  const host = h("div", { class: "chart", data: { chart: "tpot", count: data[0].length } });
  let plot: uPlot | null = null;
  const build = (): void => {
    plot?.destroy();
    plot = chart(data, host);
  };
  onTheme(build);
  new ResizeObserver(() => {
    if (plot) {
      plot.setSize({ width: Math.max(320, host.clientWidth), height: 300 });
    } else {
      build();
    }
  }).observe(host);
  return note ? h("div", {}, host, note) : host;
}

function requestPanel(requests: Request[], unknown: Maybe<boolean>): Child {
  if (unknown) {
    const why =
      "Neither the batches nor the graphs of the calls show their sequences and positions.";
    return panel("Requests", absent(why));
  }
  const shown = requests.length > 1 || requests.some((r) => r.encode_ns);
  return shown ? panel("Requests", requestTable(requests)) : null;
}

export function tokenSection(summary: Summary): HTMLElement | null {
  if (!hasTokenLevel(summary)) {
    return null;
  }
  const requests = list(summary.tokens?.requests);
  const slots = slotTable(summary);
  const steps = stepTable(list(summary.tokens?.steps));
  const shifts = list(summary.tokens?.context_shifts);
  return section(
    "tokens",
    "Tokens",
    h("span", { title: PER_TOKEN }, "Time per token, and the parts spent in graphs and operators."),
    panel("Time per token", tokenChart(list(summary.tokens?.calls))),
    ...shifts.map((s) => h("p", { class: "hint" }, s.sentence)),
    requestPanel(requests, summary.tokens?.requests_unknown),
    slots ? panel("Slots", slots) : null,
    steps ? panel("Calls by number of sequences", steps) : null,
  );
}
