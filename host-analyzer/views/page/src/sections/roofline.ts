// Roofline: operators by arithmetic intensity and operations per second, with the ceilings measured
// for the number of threads of the phase.

import { list } from "../data/read.ts";
import type { Operator, Roof, Summary, Top } from "../data/schema.ts";
import type { OperatorColours } from "../ui/colour.ts";
import { h, s, type Child } from "../ui/dom.ts";
import { bytes, count, dims, percent, plural, time } from "../ui/format.ts";
import { absent, choice, panel, section, swatch } from "../ui/parts.ts";
import { PHASES } from "../ui/phases.ts";
import { noReadText, sourceText } from "../ui/source.ts";
import { opName } from "./op_types.ts";
import { nameWithoutLayer, UNNAMED } from "./operators.ts";

/** Size and margins of the drawing, in SVG units. */
const WIDTH = 960;
const HEIGHT = 440;
const MARGIN = { left: 66, right: 20, top: 16, bottom: 44 };
/** Radius of an operator with almost no time, and of the one with the most. */
const RADII = [3, 18];
/** Operators with a name in the drawing: those with the most time. */
const NAMED = 5;
const NAME_HEIGHT = 16;
const PREFIXES = ["", "k", "M", "G", "T", "P"];

interface Point {
  operator: Operator;
  intensity: number;
  rate: number;
  wall: number;
}

interface Range {
  from: number;
  to: number;
}

interface Scale {
  x: (intensity: number) => number;
  y: (rate: number) => number;
  intensity: Range;
  rate: Range;
}

/** A rate with three digits: `12.3 G`. */
function scaled(value: number): string {
  let i = 0;
  let rest = value;
  while (rest >= 999.5 && i + 1 < PREFIXES.length) {
    rest /= 1000;
    i += 1;
  }
  return `${rest.toFixed(rest < 9.995 ? 2 : rest < 99.95 ? 1 : 0)} ${PREFIXES[i]}`;
}

const rateText = (value: number) => `${scaled(value)}op/s`;
const bandText = (value: number) => `${scaled(value)}B/s`;

function points(summary: Summary, phase: string): Point[] {
  const of = list(summary.operators).filter((o) => o.phase === phase);
  return of.flatMap((operator) => {
    const intensity = operator.work?.intensity ?? 0;
    const rate = operator.work?.operations_per_s ?? 0;
    return intensity > 0 && rate > 0
      ? [{ operator, intensity, rate, wall: operator.wall_ns ?? 0 }]
      : [];
  });
}

/** The decades that contain the values. */
function decades(values: number[]): Range {
  const logs = values.filter((v) => v > 0).map(Math.log10);
  return {
    from: Math.floor(Math.min(...logs)),
    to: Math.max(Math.floor(Math.min(...logs)) + 1, Math.ceil(Math.max(...logs))),
  };
}

function scaleOf(all: Point[], roof: Roof | undefined): Scale {
  const tops = [roof?.int8?.per_s, roof?.f32?.per_s, roof?.f16?.per_s].filter(
    (v): v is number => v != null,
  );
  const band = roof?.read?.per_s;
  // Space for the names of the horizontal lines, right of where they begin.
  const balances = band == null ? [] : tops.flatMap((t) => [t / band, (8 * t) / band]);
  const intensity = decades([...all.map((p) => p.intensity), ...balances]);
  const rate = decades([...all.map((p) => p.rate), ...tops]);
  const along = (value: number, r: Range) => (Math.log10(value) - r.from) / (r.to - r.from);
  const width = WIDTH - MARGIN.left - MARGIN.right;
  const height = HEIGHT - MARGIN.top - MARGIN.bottom;
  return {
    x: (v) => MARGIN.left + along(v, intensity) * width,
    y: (v) => HEIGHT - MARGIN.bottom - along(v, rate) * height,
    intensity,
    rate,
  };
}

function axes(scale: Scale): Child[] {
  const marks: Child[] = [];
  for (let d = scale.intensity.from; d <= scale.intensity.to; d += 1) {
    const x = scale.x(10 ** d);
    marks.push(
      s("line", { class: "grid", x1: x, x2: x, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }),
    );
    marks.push(
      s(
        "text",
        { class: "tick", x, y: HEIGHT - MARGIN.bottom + 16, "text-anchor": "middle" },
        d < 0 ? (10 ** d).toFixed(-d) : String(10 ** d),
      ),
    );
  }
  for (let d = scale.rate.from; d <= scale.rate.to; d += 1) {
    const y = scale.y(10 ** d);
    marks.push(
      s("line", { class: "grid", x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: y, y2: y }),
    );
    const [step, prefix] = [
      Math.max(0, Math.floor(d / 3)),
      PREFIXES[Math.max(0, Math.floor(d / 3))] ?? "",
    ];
    marks.push(
      s(
        "text",
        { class: "tick", x: MARGIN.left - 8, y: y + 4, "text-anchor": "end" },
        `${10 ** (d - 3 * step)} ${prefix}`,
      ),
    );
  }
  marks.push(
    s(
      "text",
      {
        class: "axis",
        x: (MARGIN.left + WIDTH - MARGIN.right) / 2,
        y: HEIGHT - 8,
        "text-anchor": "middle",
      },
      "arithmetic intensity (operations per byte)",
    ),
  );
  marks.push(
    s(
      "text",
      {
        class: "axis",
        x: 14,
        y: HEIGHT / 2,
        "text-anchor": "middle",
        transform: `rotate(-90 14 ${HEIGHT / 2})`,
      },
      "operations per second",
    ),
  );
  return marks;
}

/** Working set of the read ceiling. */
function measuredAt(read: Roof["read"]): string {
  return read?.working_set_bytes == null
    ? ""
    : ` at ${bytes(read.working_set_bytes)}${read.beyond ? " (largest measured)" : ""}`;
}

function kept(read: Top | null | undefined): string {
  return read?.source === "kept" ? `, ${sourceText(read.source, read.kept_unix_ns)}` : "";
}

/** The memory line and the arithmetic lines, with their names. */
function ceilings(scale: Scale, roof: Roof | undefined): Child[] {
  const lines: Child[] = [];
  const [left, right] = [10 ** scale.intensity.from, 10 ** scale.intensity.to];
  const levels = [roof?.int8?.per_s, roof?.f16?.per_s, roof?.f32?.per_s].filter(
    (v): v is number => v != null,
  );
  // The memory line ends at the highest arithmetic ceiling.
  const top = levels.length > 0 ? Math.max(...levels) : 10 ** scale.rate.to;
  const bottom = 10 ** scale.rate.from;
  const band = roof?.read?.per_s;
  if (band != null) {
    const from = Math.max(left, bottom / band);
    const to = Math.min(right, top / band);
    if (from < to) {
      const [x1, y1, x2, y2] = [
        scale.x(from),
        scale.y(from * band),
        scale.x(to),
        scale.y(to * band),
      ];
      lines.push(
        s("line", { class: "roof memory", x1, y1, x2, y2, data: { key: "read", value: band } }),
      );
      const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
      const [x, y] = [x1 + (x2 - x1) * 0.08, y1 + (y2 - y1) * 0.08 - 7];
      lines.push(
        s(
          "text",
          { class: "roof-name", x, y, transform: `rotate(${angle} ${x} ${y})` },
          `memory, ${bandText(band)}${measuredAt(roof?.read ?? null)}${kept(roof?.read)}`,
        ),
      );
    }
  }
  const kinds: [string, number | null | undefined][] = [
    ["int8", roof?.int8?.per_s],
    ["f16", roof?.f16?.per_s],
    ["f32", roof?.f32?.per_s],
  ];
  for (const [name, value] of kinds) {
    if (value != null) {
      const y = scale.y(value);
      // Left of the ridge point, memory is the limit.
      const x1 = scale.x(Math.max(left, band == null ? left : Math.min(value / band, right)));
      lines.push(
        s("line", {
          class: "roof",
          x1,
          x2: WIDTH - MARGIN.right,
          y1: y,
          y2: y,
          data: { key: name, value },
        }),
      );
      lines.push(
        s(
          "text",
          { class: "roof-name", x: WIDTH - MARGIN.right - 4, y: y - 5, "text-anchor": "end" },
          `${name}, ${rateText(value)}`,
        ),
      );
    }
  }
  return lines;
}

function describe(p: Point, roof: Roof | undefined): Child[] {
  const { operator: o, intensity, rate } = p;
  const moved = (o.work?.read_bytes ?? 0) + (o.work?.written_bytes ?? 0);
  const band = o.work?.bytes_per_s ?? null;
  const part =
    band != null && roof?.read?.per_s != null
      ? `, ${percent(band / roof.read.per_s)} of the read ceiling`
      : "";
  const runs = Math.max(1, o.executions ?? 1);
  const bound =
    o.bound?.by && o.bound.by !== "unknown"
      ? ` · limited by ${o.bound.by} (${o.bound.confidence ?? "?"} confidence)`
      : "";
  const accuracy =
    o.work?.accuracy === "at_most"
      ? " at most"
      : o.work?.accuracy === "estimated"
        ? " estimated"
        : o.work?.accuracy === "at_least"
          ? " at least"
          : "";
  return [
    h("b", {}, o.name || opName(o)),
    ` ${opName(o)} ${dims(o.ne)}${o.layer != null ? `, layer ${o.layer}` : ""}${o.module ? `, ${o.module}` : ""}`,
    h("br"),
    `${time(p.wall / runs)} per run, ${count(runs)} runs · ${bytes(moved / runs)} per run${accuracy}${band != null ? ` · ${bandText(band)}${part}` : ""} · ${rateText(rate)} · ${intensity.toFixed(2)} op/B${bound}`,
  ];
}

function chart(all: Point[], roof: Roof | undefined, colours: OperatorColours): Child[] {
  const scale = scaleOf(all, roof);
  const longest = Math.max(...all.map((p) => p.wall), 1);
  const radius = (p: Point): number =>
    RADII[0]! + (RADII[1]! - RADII[0]!) * Math.sqrt(p.wall / longest);
  const details = h(
    "p",
    { class: "roof-details muted", "aria-live": "polite" },
    "Hover over an operator for details.",
  );
  // Large circles first, so that small ones stay on top.
  const marks = [...all]
    .sort((a, b) => b.wall - a.wall)
    .map((p) => {
      const r = radius(p);
      const show = () =>
        details.replaceChildren(...describe(p, roof).filter((c): c is Node | string => !!c));
      return s(
        "circle",
        {
          class: "point",
          cx: scale.x(p.intensity),
          cy: scale.y(p.rate),
          r,
          fill: colours.of(opName(p.operator)),
          tabindex: 0,
          data: { name: p.operator.name, op: p.operator.op },
          on: { pointerenter: show, focus: show },
        },
        s(
          "title",
          {},
          `${p.operator.name ?? ""} ${opName(p.operator)}: ${rateText(p.rate)}, ${p.intensity.toFixed(2)} op/B`,
        ),
      );
    });
  // Of the operators with the same name, that with the most time.
  const named = new Map<string, Point>();
  for (const p of [...all].sort((a, b) => b.wall - a.wall)) {
    const tensor = nameWithoutLayer(p.operator);
    const name = tensor === UNNAMED ? opName(p.operator) : tensor;
    // Names must not cover one another.
    const near = [...named.values()].some(
      (q) => Math.abs(scale.y(q.rate) - scale.y(p.rate)) < NAME_HEIGHT,
    );
    if (name && !near && !named.has(name) && named.size < NAMED) {
      named.set(name, p);
    }
  }
  const names = [...named].map(([name, p]) =>
    s(
      "text",
      {
        class: "point-name",
        x: scale.x(p.intensity) - radius(p) - 4,
        y: scale.y(p.rate) + 4,
        "text-anchor": "end",
      },
      name,
    ),
  );
  const present = new Set(all.map((p) => opName(p.operator)));
  const legend = h(
    "p",
    { class: "keys" },
    ...colours
      .legend()
      .filter(([name]) => present.has(name) || name === "other")
      .map(([name, colour]) => h("span", { class: "key" }, swatch(colour), name)),
  );
  const drawing = s(
    "svg",
    {
      class: "roofline",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": "Roofline of the operators",
    },
    ...axes(scale),
    ...ceilings(scale, roof),
    ...marks,
    ...names,
  );
  // On a phone the drawing scrolls, so that its text stays readable.
  return [legend, h("div", { class: "scroll" }, drawing), details];
}

/** What is known without a ceiling. */
function instead(roof: Roof | undefined): string {
  const read = roof?.limits?.read;
  if (read?.per_s == null) {
    return "";
  }
  return read.source === "profile"
    ? ` The board's profile has ${bandText(read.per_s)}.`
    : ` The fastest operator read ${bandText(read.per_s)}, so this memory delivers at least that.`;
}

export function rooflineSection(summary: Summary, colours: OperatorColours): HTMLElement | null {
  const phases = Object.keys(PHASES).filter((phase) => points(summary, phase).length > 0);
  if (phases.length === 0) {
    return null;
  }
  const body = h("div", {});
  const draw = (index: number) => {
    const phase = phases[index] ?? "decode";
    const roof = list(summary.work?.roofs).find((r) => r.phase === phase);
    const parts = chart(points(summary, phase), roof, colours);
    const without =
      roof?.read == null
        ? absent(
            `${noReadText(roof?.no_read, plural(roof?.threads ?? 0, "thread"))}${instead(roof)}`,
          )
        : null;
    body.replaceChildren(...[...parts, without].filter((c): c is Node => c instanceof Node));
  };
  draw(0);
  const names = phases.map((p) => PHASES[p] ?? "All graphs");
  const picker = phases.length > 1 ? choice("Phase", names, draw) : null;
  const lead =
    "Operators by arithmetic intensity and speed; larger circles took more time. Operators near the sloped line are memory-bound, near a horizontal line compute-bound. Copies are not shown.";
  const measured = h(
    "p",
    { class: "hint shown-in" },
    "The lines are the measured peaks for the number of threads in this phase; ",
    h("a", { href: "#ceilings" }, "all peaks"),
    ".",
  );
  return section(
    "roofline",
    "Roofline",
    lead,
    picker ? h("div", { class: "tools" }, picker) : null,
    panel("", body, measured),
  );
}
