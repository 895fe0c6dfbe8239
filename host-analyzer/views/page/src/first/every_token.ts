// Every decode token as a column, with median and the longest one marked.

import type { Summary } from "../data/schema.ts";
import type { Timeline } from "../data/timeline.ts";
import { list } from "../data/read.ts";
import { h, s, type Child } from "../ui/dom.ts";
import { percent, plural, time } from "../ui/format.ts";
import { evidenceLink } from "../ui/links.ts";
import { panel } from "../ui/parts.ts";
import { timeLink } from "../ui/show_time.ts";
import { columnsOf, decodeTokens, heights, isShown, longest } from "./decode_tokens.ts";

/** Columns at most, and the height of the drawing in its own units. */
const COLUMNS = 240;
const HEIGHT = 56;

function spark(times: number[], median: number): { drawing: SVGElement; log: boolean } {
  const columns = columnsOf(times, COLUMNS);
  const { values, log } = heights([...columns, median], median);
  const middle = HEIGHT * (1 - values.pop()!);
  const top = columns.indexOf(Math.max(...columns));
  const bars = values.map((value, i) =>
    s("rect", {
      x: i + 0.1,
      width: 0.8,
      y: HEIGHT * (1 - value),
      height: HEIGHT * value,
      class: i === top ? "longest" : "",
    }),
  );
  const line = s("line", { x1: 0, x2: columns.length, y1: middle, y2: middle });
  const label = `Time of each of ${plural(times.length, "token")}, ${log ? "log" : "linear"} scale`;
  const drawing = s(
    "svg",
    {
      viewBox: `0 0 ${columns.length} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
      "data-chart": "tokens",
      "data-count": times.length,
    },
    ...bars,
    line,
  );
  return { drawing, log };
}

/** Null with fewer than two tokens. */
export function everyToken(summary: Summary, timeline: Timeline | null): HTMLElement | null {
  const tokens = decodeTokens(summary);
  const headline = summary.findings?.headline;
  const [worst, median] = [longest(tokens), headline?.median_ns];
  if (tokens.length < 2 || !worst || median == null) {
    return null;
  }
  const { drawing, log } = spark(
    tokens.map((t) => t.time_ns),
    median,
  );
  // The class with most of its time.
  const wall = list(worst.wall);
  const most = wall.indexOf(Math.max(...wall));
  const name = list(summary.budget?.names)[most];
  const why = name ? `, ${percent((wall[most] ?? 0) / worst.time_ns)} of it ${name}` : "";
  const text = `Longest: token ${tokens.indexOf(worst) + 2} with ${time(worst.time_ns)}${why}`;
  const at = `${time(worst.start_ns)} after the start of the recording`;
  const mark: Child = isShown(worst, timeline)
    ? timeLink(text, worst, at)
    : h("span", { title: `${at}; in timeline.pftrace` }, text);
  return panel(
    "Every token",
    h(
      "p",
      { class: "muted" },
      `median ${time(median)} · p95 ${time(headline?.p95_ns)} · max ${time(worst.time_ns)}${log ? " · log scale" : ""}`,
    ),
    h("div", { class: "spark" }, drawing),
    h("p", { class: "longest-token" }, mark),
    h("p", { class: "hint" }, evidenceLink(["tokens"], "Parts of each token")),
  );
}
