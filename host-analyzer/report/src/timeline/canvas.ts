// Draws rows of slices on a canvas, for one window of time.

import type { OperatorColours } from "../ui/colour.ts";
import { inkOn } from "../ui/colour.ts";
import { time } from "../ui/format.ts";
import { cssVar } from "../ui/theme.ts";
import type { Row, Slice } from "./rows.ts";

export interface Window {
  /** ns at the left and right edge. */
  from: number;
  to: number;
}

export const GEOMETRY = { axis: 26, row: 26, gap: 4, gutter: 132 };

/** Height of the drawing. */
export function heightOf(rows: Row[]): number {
  return GEOMETRY.axis + rows.length * (GEOMETRY.row + GEOMETRY.gap) + GEOMETRY.gap;
}

/** A step of 1, 2 or 5 times a power of ten that gives about `n` ticks. */
function tickStep(span: number, n: number): number {
  const raw = span / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5].find((m) => m * power >= raw) ?? 10);
}

/** First slice of a row (sorted by start) that may reach into the window. */
export function firstVisible(slices: Slice[], from: number): number {
  let low = 0;
  let high = slices.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    const s = slices[mid]!;
    if (s.start + s.length < from) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

function hatch(c: CanvasRenderingContext2D): CanvasPattern | string {
  const size = 6;
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const t = tile.getContext("2d");
  if (!t) {
    return cssVar("--wait");
  }
  t.fillStyle = cssVar("--wait");
  t.fillRect(0, 0, size, size);
  t.strokeStyle = cssVar("--wait-line");
  t.beginPath();
  for (const o of [-size, 0, size]) {
    t.moveTo(o, size);
    t.lineTo(o + size, 0);
  }
  t.stroke();
  return c.createPattern(tile, "repeat") ?? cssVar("--wait");
}

export class TimelineCanvas {
  readonly element = document.createElement("canvas");
  private readonly c: CanvasRenderingContext2D | null;
  private width = 0;
  private height = 0;

  constructor(private readonly rows: Row[], private readonly colours: OperatorColours) {
    this.c = this.element.getContext("2d");
    this.height = heightOf(rows);
  }

  /** Width in which time is drawn. */
  get span(): number {
    return Math.max(1, this.width - GEOMETRY.gutter);
  }

  resize(width: number): void {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.element.width = Math.round(width * ratio);
    this.element.height = Math.round(this.height * ratio);
    this.element.style.width = `${width}px`;
    this.element.style.height = `${this.height}px`;
    this.c?.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** The slice at a place of the canvas. */
  at(w: Window, x: number, y: number): Slice | null {
    const row = this.rows[Math.floor((y - GEOMETRY.axis) / (GEOMETRY.row + GEOMETRY.gap))];
    if (!row || x < GEOMETRY.gutter) {
      return null;
    }
    const ns = w.from + ((x - GEOMETRY.gutter) / this.span) * (w.to - w.from);
    const slack = ((w.to - w.from) / this.span) * 1.5;
    let near: Slice | null = null;
    for (let i = firstVisible(row.slices, ns - slack); i < row.slices.length; i++) {
      const s = row.slices[i]!;
      if (s.start > ns + slack) {
        break;
      }
      if (s.start <= ns && ns < s.start + s.length) {
        return s;
      }
      near ??= s;
    }
    return near;
  }

  draw(w: Window, marked: Slice | null): void {
    const c = this.c;
    if (!c) {
      return;
    }
    c.clearRect(0, 0, this.width, this.height);
    c.textBaseline = "middle";
    this.axis(c, w);
    const pattern = hatch(c);
    this.rows.forEach((row, i) => {
      const y = GEOMETRY.axis + i * (GEOMETRY.row + GEOMETRY.gap);
      c.save();
      c.beginPath();
      c.rect(GEOMETRY.gutter, y, this.span, GEOMETRY.row);
      c.clip();
      c.fillStyle = cssVar("--row");
      c.fillRect(GEOMETRY.gutter, y, this.span, GEOMETRY.row);
      this.slices(c, row, y, w, pattern, marked);
      c.restore();
      c.fillStyle = cssVar("--text");
      c.font = "12px system-ui, sans-serif";
      c.textAlign = "left";
      c.fillText(row.title, 10, y + GEOMETRY.row / 2, GEOMETRY.gutter - 18);
    });
  }

  private axis(c: CanvasRenderingContext2D, w: Window): void {
    const step = tickStep(w.to - w.from, Math.max(2, this.span / 110));
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "left";
    for (let t = Math.ceil(w.from / step) * step; t <= w.to; t += step) {
      const x = GEOMETRY.gutter + ((t - w.from) / (w.to - w.from)) * this.span;
      c.fillStyle = cssVar("--line");
      c.fillRect(Math.round(x), 4, 1, this.height);
      c.fillStyle = cssVar("--muted");
      c.fillText(t === 0 ? "0" : time(t), x + 4, GEOMETRY.axis / 2);
    }
  }

  private fill(s: Slice, pattern: CanvasPattern | string): { colour: string | CanvasPattern; ink: string } {
    if (s.kind === "barrier") {
      return { colour: pattern, ink: cssVar("--muted") };
    }
    const colour = s.kind === "op" ? this.colours.of(s.op) : cssVar(`--slice-${s.kind}`);
    return { colour, ink: inkOn(colour) };
  }

  private slices(c: CanvasRenderingContext2D, row: Row, y: number, w: Window, pattern: CanvasPattern | string, marked: Slice | null): void {
    const scale = this.span / (w.to - w.from);
    const place = (s: Slice): [number, number] => [GEOMETRY.gutter + (s.start - w.from) * scale, s.length * scale];
    c.font = "11px ui-monospace, monospace";
    c.textAlign = "left";
    const plain = cssVar("--wait");
    const fills = new Map<string, ReturnType<TimelineCanvas["fill"]>>();
    for (let i = firstVisible(row.slices, w.from); i < row.slices.length; i++) {
      const s = row.slices[i]!;
      const [x, width] = place(s);
      if (x > this.width) {
        break;
      }
      const key = `${s.kind} ${s.op}`;
      let look = fills.get(key);
      if (!look) {
        look = this.fill(s, pattern);
        fills.set(key, look);
      }
      // The hatching of a short wait would only flicker.
      c.fillStyle = s.kind === "barrier" && width < 7 ? plain : look.colour;
      // A hair of the row's ground between neighbours once there is room for it.
      c.fillRect(x, y, Math.max(0.4, width > 4 ? width - 1 : width), GEOMETRY.row);
      if (width > 34) {
        const left = Math.max(x, GEOMETRY.gutter) + 5;
        const room = x + width - left - 5;
        const fit = Math.floor(room / 6.7);
        if (fit >= 4) {
          c.fillStyle = look.ink;
          c.fillText(s.label.length > fit ? `${s.label.slice(0, fit - 1)}…` : s.label, left, y + GEOMETRY.row / 2 + 0.5);
        }
      }
      if (s === marked) {
        c.strokeStyle = cssVar("--text");
        c.lineWidth = 1.5;
        c.strokeRect(x + 0.75, y + 0.75, Math.max(1, width - 2.5), GEOMETRY.row - 1.5);
      }
    }
  }
}
