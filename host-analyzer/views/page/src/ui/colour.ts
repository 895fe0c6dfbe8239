// Colours of operators (one hue each, the same everywhere) and of times (log scale).

import { isDark } from "./theme.ts";

type Rgb = [number, number, number];

const OPERATOR = [
  "#4878b8",
  "#e58a2f",
  "#4f9d58",
  "#d1495b",
  "#8a6fc0",
  "#2f9e9e",
  "#c79a1b",
  "#b0608f",
  "#7d8a3c",
  "#9a6b4f",
];
const OTHER = "#8b95a3";

// The same order of hues in both schemes, from inconspicuous to conspicuous: a short time is near the
// background, a long one stands out.
const HEAT_LIGHT = ["#fff6dd", "#fee0a3", "#fdb966", "#f58544", "#dc4d3c", "#a9224f", "#641457"];
const HEAT_DARK = ["#333022", "#5c4a22", "#8f6426", "#c46a30", "#e0574a", "#ef4f86", "#fba6dc"];

function parse(hex: string): Rgb {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** Hues for operators: those with the most time get one each, the others share grey. */
export class OperatorColours {
  private readonly byName = new Map<string, string>();

  /** `names`: longest time first, repetitions allowed. */
  constructor(names: Iterable<string>) {
    for (const name of names) {
      if (!this.byName.has(name)) {
        this.byName.set(name, OPERATOR[this.byName.size] ?? OTHER);
      }
    }
  }

  of(name: string | null | undefined): string {
    return this.byName.get(name ?? "") ?? OTHER;
  }

  /** Operators with a separate hue. */
  legend(): [string, string][] {
    return [...this.byName].slice(0, OPERATOR.length);
  }
}

/** Log scale of times; `min` and `max` in ns, both above 0. */
export class HeatScale {
  private readonly stops: Rgb[];

  constructor(
    readonly min: number,
    readonly max: number,
  ) {
    this.stops = (isDark() ? HEAT_DARK : HEAT_LIGHT).map(parse);
  }

  /** Position of a time, 0 to 1. */
  position(ns: number): number {
    const span = Math.log(this.max) - Math.log(this.min);
    return span <= 0 ? 1 : Math.min(1, Math.max(0, (Math.log(ns) - Math.log(this.min)) / span));
  }

  /** Colour at a position. */
  at(position: number): string {
    const x = position * (this.stops.length - 1);
    const i = Math.min(this.stops.length - 2, Math.floor(x));
    const a = this.stops[i]!;
    const b = this.stops[i + 1]!;
    const mix = a.map((v, k) => Math.round(v + (b[k]! - v) * (x - i)));
    return `rgb(${mix.join(",")})`;
  }

  colour(ns: number): string {
    return this.at(this.position(ns));
  }
}

/** Black or white, whichever reads better on the colour (WCAG relative luminance). */
export function inkOn(colour: string): string {
  const rgb = colour.startsWith("#") ? parse(colour) : (colour.match(/\d+/g) ?? []).map(Number);
  const [r = 0, g = 0, b = 0] = rgb.map((v) => {
    const c = v / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.2 ? "#10151c" : "#ffffff";
}
