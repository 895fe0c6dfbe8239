// Draws the layout as SVG. Every tensor of dag.json is one element with `data-node`, every edge one
// element with `data-edge`. References and trunks have neither.

import { isLeaf, isView } from "../data/dag.ts";
import type { DagNode } from "../data/schema.ts";
import { HeatScale, inkOn } from "../ui/colour.ts";
import { s } from "../ui/dom.ts";
import { dims, shorten, time } from "../ui/format.ts";
import { isFolded } from "./fold.ts";
import type { Layout, Line, Rect } from "./layout.ts";
import type { Point } from "./placed.ts";
import type { Prepared } from "./prepare.ts";

export interface Drawing {
  root: SVGGElement;
  nodes: Map<number, SVGGElement>;
  /** Lines and references to highlight with a node, by node. */
  touching: Map<number, SVGElement[]>;
}

/** Height of a caption with its distance to a box, px. Blocks are 26 px apart (`GAP`). */
const CAPTION = 18;
const SCALE_FALLBACK = { min: 1, max: 10 };

/** Colour scale of the mean wall times of a graph. */
export function heatOf(p: Prepared): HeatScale {
  const times = p.computed.map((n) => p.node.get(n)?.wall_ns ?? 0).filter((t) => t > 0);
  const min = times.length > 0 ? Math.min(...times) : SCALE_FALLBACK.min;
  const max = times.length > 0 ? Math.max(...times) : SCALE_FALLBACK.max;
  return new HeatScale(min, Math.max(max, min * 1.01));
}

function curve(points: Point[]): string {
  const [first, ...rest] = points;
  let d = `M${first!.x.toFixed(1)} ${first!.y.toFixed(1)}`;
  let at = first!;
  for (const q of rest) {
    if (Math.abs(q.x - at.x) < 0.5) {
      d += `V${q.y.toFixed(1)}`;
    } else {
      const mid = ((at.y + q.y) / 2).toFixed(1);
      d += `C${at.x.toFixed(1)} ${mid} ${q.x.toFixed(1)} ${mid} ${q.x.toFixed(1)} ${q.y.toFixed(1)}`;
    }
    at = q;
  }
  return d;
}

function angular(points: Point[]): string {
  return points.map((q, i) => `${i === 0 ? "M" : "L"}${q.x.toFixed(1)} ${q.y.toFixed(1)}`).join("");
}

/** Midpoint of the longest vertical part of a line. */
function middle(points: Point[]): Point {
  let best = { x: points[0]!.x, y: points[0]!.y, length: -1 };
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1]!, points[i]!];
    const length = Math.abs(a.y - b.y);
    if (length > best.length) {
      best = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, length };
    }
  }
  return best;
}

/** Name of a leaf in its small box. The outline already identifies weights. */
function shortName(n: DagNode): string {
  return (n.name || "(lost)").replace(/\.weight$/, "");
}

/** Second line of a node: operator and time. */
function subtitle(n: DagNode): string {
  if (isFolded(n)) {
    return `${n.part.nodes.length} nodes · ${time(n.wall_ns)}`;
  }
  const what = n.desc || n.op || "?";
  if (n.fused_with != null) {
    return `${what} · fused`;
  }
  if (n.not_captured) {
    return `${what} · not captured`;
  }
  return n.wall_ns == null ? what : `${what} · ${time(n.wall_ns)}`;
}

export class Painter {
  readonly out: Drawing;
  private readonly labels = s("g", { class: "labels" });

  constructor(
    private readonly p: Prepared,
    private readonly layout: Layout,
    private readonly heat: HeatScale,
  ) {
    this.out = { root: s("g"), nodes: new Map(), touching: new Map() };
  }

  paint(): Drawing {
    const { root } = this.out;
    const blocks = s("g", { class: "blocks" });
    const captions = s("g", { class: "captions" });
    for (const b of this.layout.blocks) {
      const top = this.capped(b) ? b.y - CAPTION : b.y - 6;
      blocks.append(
        s("rect", {
          x: b.x - 4,
          y: top,
          width: b.width + 8,
          height: b.y + b.height + 6 - top,
          rx: 10,
        }),
      );
      captions.append(s("text", { x: b.x + 6, y: this.capped(b) ? top + 4 : b.y + 4 }, b.label));
    }
    const lines = s("g", { class: "lines" });
    this.layout.lines.forEach((l) => lines.append(this.line(l)));
    const references = s("g", { class: "references" });
    this.layout.references.forEach((r) => {
      const e = this.small("reference", r, this.p.node.get(r.source)!);
      e.dataset.jump = String(r.source);
      references.append(e);
      this.touch(r.source, e);
      this.touch(r.edge.to, e);
    });
    const nodes = s("g", { class: "nodes" });
    this.layout.boxes.forEach((box, index) => {
      const n = this.p.node.get(index)!;
      const e = isLeaf(this.p.graph, n) ? this.leaf(n, box) : this.node(n, box);
      e.dataset.node = String(index);
      this.out.nodes.set(index, e);
      nodes.append(e);
    });
    // Captions are above the lines, and cover them.
    root.append(blocks, lines, references, this.labels, nodes, captions);
    return this.out;
  }

  /** A box is where the caption of a block usually is: the caption is above the block's boxes. */
  private capped(b: Rect): boolean {
    return [...this.layout.boxes.values()].some(
      (box) =>
        box.x < b.x + CAPTION * 4 &&
        box.x + box.width > b.x &&
        box.y < b.y + CAPTION &&
        box.y + box.height > b.y,
    );
  }

  private touch(index: number, element: SVGElement): void {
    const there = this.out.touching.get(index);
    if (there) {
      there.push(element);
    } else {
      this.out.touching.set(index, [element]);
    }
  }

  private line(l: Line): SVGElement {
    const path = s("path", {
      class: l.edge ? "edge" : "trunk",
      d: l.square ? angular(l.points) : curve(l.points),
    });
    this.touch(l.source, path);
    if (l.edge) {
      path.dataset.edge = `${l.edge.from}-${l.edge.to}-${l.edge.slot ?? 0}`;
      this.touch(l.edge.to, path);
      // An edge between folded parts has no shape if it stands for several tensors.
      if (this.p.kind.get(l.edge) === "flow" && l.edge.ne != null) {
        const at = middle(l.points);
        this.labels.append(s("text", { x: at.x + 3, y: at.y + 3 }, dims(l.edge.ne)));
      }
    }
    return path;
  }

  private node(n: DagNode, box: Rect): SVGGElement {
    const view = isView(this.p.graph, n);
    const e = s("g", {
      class: view ? "node view" : "node",
      transform: `translate(${box.x.toFixed(1)} ${box.y.toFixed(1)})`,
    });
    const rect = s("rect", { width: box.width, height: box.height, rx: view ? 9 : 6 });
    if (n.fused_with != null) {
      e.classList.add("fused");
    }
    if (n.critical === true && !view) {
      e.classList.add("critical");
    }
    if (!view && n.wall_ns != null && n.wall_ns > 0) {
      const colour = this.heat.colour(n.wall_ns);
      rect.style.fill = colour;
      e.style.setProperty("--ink", inkOn(colour));
    }
    if (isFolded(n)) {
      e.classList.add("folded");
      Object.assign(e.dataset, {
        part: n.part.key,
        count: String(n.part.nodes.length),
        wall: String(n.wall_ns ?? ""),
      });
      e.append(
        s("rect", { class: "under", x: 4, y: 4, width: box.width, height: box.height, rx: 6 }),
      );
    }
    e.append(rect);
    const name = n.name || "(lost)";
    if (view) {
      e.append(
        s(
          "text",
          { x: box.width / 2, y: 12.5, class: "one" },
          shorten(`${(n.desc || n.op || "").toLowerCase()} ${name}`, 23),
        ),
      );
    } else {
      e.append(s("text", { x: 9, y: 14.5, class: "name" }, shorten(name, 22)));
      e.append(s("text", { x: 9, y: 27, class: "sub" }, subtitle(n)));
    }
    return e;
  }

  private small(kind: string, box: Rect, n: DagNode): SVGGElement {
    const e = s("g", {
      class: kind,
      transform: `translate(${box.x.toFixed(1)} ${box.y.toFixed(1)})`,
    });
    e.append(
      s("rect", { width: box.width, height: box.height, rx: 3 }),
      s("text", { x: box.width / 2, y: 10.5 }, shorten(shortName(n), 16)),
    );
    return e;
  }

  private leaf(n: DagNode, box: Rect): SVGGElement {
    const e = this.small("node leaf", box, n);
    e.classList.add(n.role ?? "other");
    return e;
  }
}
