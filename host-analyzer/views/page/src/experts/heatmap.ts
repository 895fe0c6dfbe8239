// Draws the heat map on a canvas. A tooltip describes the cell under the pointer, or the one
// selected with the arrow keys.

import { HeatScale } from "../ui/colour.ts";
import { h } from "../ui/dom.ts";
import { count, percent, plural } from "../ui/format.ts";
import { cssVar, onTheme } from "../ui/theme.ts";
import { maxDensity, type Line, type Order } from "./cells.ts";

/** Space for layer names and expert numbers, CSS px. */
const LEFT = 56;
const TOP = 18;
/** Limits of the cell width; cell height of many layers and of few. */
const CELL = { least: 2, most: 22, low: 7, high: 16 };

interface Geometry {
  width: number;
  height: number;
  columns: number;
}

/** Cells fill the width, up to a maximum width. */
function geometry(lines: Line[], space: number): Geometry {
  const columns = lines.reduce((max, line) => Math.max(max, line.cells.length), 1);
  const width = Math.min(CELL.most, Math.max(CELL.least, (space - LEFT) / columns));
  const height = lines.length > 40 ? CELL.low : CELL.high;
  return { width, height, columns };
}

/** "layer 3, expert 17: used 42 times, by 5.2 % of the tokens". */
function words(line: Line, index: number): [string, string] {
  const cell = line.cells[index];
  const head = `${line.layer.layer == null ? line.title : `layer ${line.title}`}, expert ${cell?.expert ?? "?"}`;
  return [
    head,
    cell?.uses
      ? `used ${plural(cell.uses, "time")}, by ${percent(cell.density)} of ${plural(line.layer.tokens ?? 0, "token")}`
      : "never used",
  ];
}

export class HeatMap {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas");
  private readonly tip = h("div", { class: "tip", hidden: true, "aria-live": "polite" });
  private readonly scaleLine = h("div", { class: "heat-scale" });
  private readonly view: HTMLElement;
  private lines: Line[] = [];
  private order: Order = "number";
  private geometry: Geometry = { width: 1, height: 1, columns: 1 };
  /** Row and column of the described cell. */
  private at: [number, number] | null = null;

  constructor() {
    this.view = h(
      "div",
      {
        class: "heat-view",
        tabindex: 0,
        role: "application",
        "aria-label": "Expert uses per layer. Arrow keys move between cells.",
        on: {
          mousemove: (e: MouseEvent) => this.point(e),
          mouseleave: () => this.describe(null),
          keydown: (e: KeyboardEvent) => this.key(e),
          blur: () => this.describe(null),
        },
      },
      this.canvas,
    );
    // The tooltip is outside of the scrolling element, which would clip it.
    this.element = h(
      "div",
      { class: "heat-map" },
      h("div", { class: "scroll" }, this.view),
      this.scaleLine,
      this.tip,
    );
    new ResizeObserver(() => this.draw()).observe(this.element);
    onTheme(() => this.draw());
  }

  show(lines: Line[], order: Order): void {
    this.lines = lines;
    this.order = order;
    this.describe(null);
    this.draw();
  }

  private draw(): void {
    const g = geometry(this.lines, this.element.clientWidth || 900);
    this.geometry = g;
    const [width, height] = [
      LEFT + g.columns * g.width + 1,
      TOP + this.lines.length * g.height + 1,
    ];
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.ceil(width * ratio);
    this.canvas.height = Math.ceil(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const max = maxDensity(this.lines);
    const scale = new HeatScale(1, 2);
    const c = this.canvas.getContext("2d");
    if (!c) {
      return;
    }
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    this.axes(c, g);
    const never = cssVar("--panel");
    // Edges on device pixels, so that no light line appears between two cells.
    const edge = (i: number): number => Math.round((LEFT + i * g.width) * ratio) / ratio;
    this.lines.forEach((line, y) => {
      line.cells.forEach((cell, x) => {
        c.fillStyle = cell.uses > 0 ? scale.at(cell.density / max) : never;
        c.fillRect(edge(x), TOP + y * g.height, edge(x + 1) - edge(x), g.height);
      });
    });
    c.strokeStyle = cssVar("--line");
    this.lines.forEach((line, y) =>
      c.strokeRect(LEFT + 0.5, TOP + y * g.height + 0.5, edge(line.cells.length) - LEFT, g.height),
    );
    Object.assign(this.view.dataset, {
      lines: this.lines.length,
      columns: g.columns,
      left: LEFT,
      top: TOP,
      cellWidth: g.width,
      cellHeight: g.height,
      max,
    });
    this.legend(scale, max);
  }

  private axes(c: CanvasRenderingContext2D, g: Geometry): void {
    c.fillStyle = cssVar("--muted");
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    const every = (space: number, size: number): number =>
      [1, 2, 4, 5, 8, 10, 16, 20, 32, 64, 128, 256, 512].find((n) => n * size >= space) ?? 1024;
    c.textAlign = "right";
    const rows = every(12, g.height);
    this.lines.forEach((line, y) => {
      if (y % rows === 0) {
        c.fillText(line.title, LEFT - 6, TOP + (y + 0.5) * g.height, LEFT - 8);
      }
    });
    c.textAlign = "left";
    c.fillText("layer", 0, TOP / 2 - 1);
    c.textAlign = "center";
    const step = every(28, g.width);
    for (let x = 0; x < g.columns; x += step) {
      c.fillText(
        String(this.order === "number" ? x : x + 1),
        LEFT + (x + 0.5) * g.width,
        TOP / 2 - 1,
      );
    }
  }

  private legend(scale: HeatScale, max: number): void {
    const ramp = h("span", { class: "ramp", "aria-hidden": "true" });
    ramp.style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map((p) => scale.at(p)).join(",")})`;
    const never = h("span", { class: "never", "aria-hidden": "true" });
    const across =
      this.order === "number" ? "experts by number" : "most used experts of each layer first";
    this.scaleLine.replaceChildren(
      "used by 0 %",
      ramp,
      `${percent(max)} of a layer's tokens`,
      never,
      "never used",
      h("span", { class: "grow" }),
      `left to right: ${across}`,
    );
  }

  private point(e: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const x = Math.floor((e.clientX - box.left - LEFT) / this.geometry.width);
    const y = Math.floor((e.clientY - box.top - TOP) / this.geometry.height);
    this.describe(this.lines[y]?.cells[x] ? [y, x] : null);
  }

  private key(e: KeyboardEvent): void {
    const step: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
    };
    const by = step[e.key];
    if (e.key === "Escape") {
      this.describe(null);
    } else if (by && this.lines.length > 0) {
      e.preventDefault();
      const [y, x] = this.at ? [this.at[0] + by[0], this.at[1] + by[1]] : [0, 0];
      if (this.lines[y]?.cells[x]) {
        this.describe([y, x]);
      }
    }
  }

  private describe(at: [number, number] | null): void {
    this.at = at;
    const line = at && this.lines[at[0]];
    this.tip.hidden = !line;
    if (!at || !line) {
      return;
    }
    const [head, text] = words(line, at[1]);
    this.tip.replaceChildren(
      h("strong", {}, head),
      h("span", {}, text),
      h(
        "span",
        { class: "muted" },
        `${count(line.cells.length)} experts, ${count(line.layer.n_used)} per token`,
      ),
    );
    const right = at[1] > this.geometry.columns / 2;
    const [box, canvas] = [
      this.element.getBoundingClientRect(),
      this.canvas.getBoundingClientRect(),
    ];
    const x =
      canvas.left -
      box.left +
      LEFT +
      (at[1] + (right ? 0 : 1)) * this.geometry.width +
      (right ? -8 : 8);
    const y = canvas.top - box.top + TOP + (at[0] + 1) * this.geometry.height + 4;
    this.tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)${right ? " translateX(-100%)" : ""}`;
  }
}
