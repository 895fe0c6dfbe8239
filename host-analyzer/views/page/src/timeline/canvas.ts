// Draws rows of slices on a canvas, for one time window.

import type { OperatorColours } from "../ui/colour.ts";
import { inkOn } from "../ui/colour.ts";
import { time } from "../ui/format.ts";
import { stateColour } from "../ui/states.ts";
import { cssVar } from "../ui/theme.ts";
import { GEOMETRY, heightOf, placesOf, type Place } from "./place.ts";
import type { Row, Slice } from "./slice.ts";
import { firstVisible, textFor, tickStep } from "./visible.ts";

export interface Window {
  /** ns at the left and right edge. */
  from: number;
  to: number;
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
  readonly places: Place[];
  private readonly c: CanvasRenderingContext2D | null;
  private width = 0;
  private readonly height: number;

  constructor(
    private readonly rows: Row[],
    private readonly colours: OperatorColours,
    /** What the rows contain; the background shows it. */
    private readonly parts: Window[],
  ) {
    this.c = this.element.getContext("2d");
    this.places = placesOf(rows);
    this.height = heightOf(this.places);
  }

  /** Width of the time area, CSS px. */
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

  /** The slice at a position on the canvas. */
  at(w: Window, x: number, y: number): Slice | null {
    const row = this.rows[this.places.findIndex((p) => p.top <= y && y < p.top + p.height)];
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
      const place = this.places[i]!;
      c.save();
      c.beginPath();
      c.rect(GEOMETRY.gutter, place.top, this.span, place.height);
      c.clip();
      c.fillStyle = cssVar("--row");
      const scale = this.span / (w.to - w.from);
      for (const { from, to } of this.parts) {
        c.fillRect(
          GEOMETRY.gutter + (from - w.from) * scale,
          place.top,
          (to - from) * scale,
          place.height,
        );
      }
      this.slices(c, row, place, w, pattern, marked);
      c.restore();
      c.fillStyle = cssVar(row.thin ? "--muted" : "--text");
      c.font = `${row.thin ? 11 : 12}px system-ui, sans-serif`;
      c.textAlign = "left";
      c.fillText(row.title, 10, place.top + place.height / 2, GEOMETRY.gutter - 18);
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

  private fill(
    s: Slice,
    pattern: CanvasPattern | string,
  ): { colour: string | CanvasPattern; ink: string } {
    if (s.kind === "barrier" || (s.kind === "state" && s.op === "unknown")) {
      return { colour: pattern, ink: cssVar("--muted") };
    }
    const state = s.kind === "state" ? stateColour(s.op) : `--slice-${s.kind}`;
    const colour = s.kind === "op" ? this.colours.of(s.op) : cssVar(state);
    return { colour, ink: inkOn(colour) };
  }

  private slices(
    c: CanvasRenderingContext2D,
    row: Row,
    { top, height }: Place,
    w: Window,
    pattern: CanvasPattern | string,
    marked: Slice | null,
  ): void {
    const scale = this.span / (w.to - w.from);
    c.font = `${row.thin ? 10 : 11}px ui-monospace, monospace`;
    c.textAlign = "left";
    // Width of a letter in this monospace font, CSS px.
    const letter = row.thin ? 6.1 : 6.7;
    const plain = cssVar("--wait");
    const fills = new Map<string, ReturnType<TimelineCanvas["fill"]>>();
    for (let i = firstVisible(row.slices, w.from); i < row.slices.length; i++) {
      const s = row.slices[i]!;
      const x = GEOMETRY.gutter + (s.start - w.from) * scale;
      const width = s.length * scale;
      if (x > this.width) {
        break;
      }
      const key = `${s.kind} ${s.op}`;
      let look = fills.get(key);
      if (!look) {
        look = this.fill(s, pattern);
        fills.set(key, look);
      }
      // Hatching would flicker on short waits.
      c.fillStyle = s.kind === "barrier" && width < 7 ? plain : look.colour;
      // A gap of 1 px between neighbours if there is room for it.
      c.fillRect(x, top, Math.max(0.4, width > 4 ? width - 1 : width), height);
      const left = Math.max(x, GEOMETRY.gutter) + 5;
      const text = textFor(s, Math.floor((Math.min(x + width, this.width) - left - 5) / letter));
      if (width > 34 && text) {
        c.fillStyle = look.ink;
        c.fillText(text, left, top + height / 2 + 0.5);
      }
      if (s === marked) {
        c.strokeStyle = cssVar("--text");
        c.lineWidth = 1.5;
        c.strokeRect(x + 0.75, top + 0.75, Math.max(1, width - 2.5), height - 1.5);
      }
    }
  }
}
