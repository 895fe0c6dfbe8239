// Combines the laid-out segments to a graph: absolute boxes, lines and labels.

import type { DagEdge } from "../data/schema.ts";
import { columns, GAP, type Columns } from "./columns.ts";
import { DOCK, nodeSize, Placer, type Dock } from "./place.ts";
import type { Placed, Point } from "./placed.ts";
import type { Prepared } from "./prepare.ts";
import { segments, type Segment } from "./segments.ts";
import { layerOf } from "./layer.ts";

export interface Rect extends Point {
  width: number;
  height: number;
}

export interface Line {
  points: Point[];
  /** The edge; null for a trunk, which several edges share. */
  edge: DagEdge | null;
  source: number;
  /** Drawn with right angles instead of a curve. */
  square: boolean;
}

interface Reference extends Rect {
  source: number;
  edge: DagEdge;
}

interface Block extends Rect {
  label: string;
}

export interface Layout {
  width: number;
  height: number;
  boxes: Map<number, Rect>;
  references: Reference[];
  lines: Line[];
  blocks: Block[];
}

/**
 * Vertical distance in which a line moves to its lane, px. It is less than half of dagre's distance
 * between ranks (24), so that the line is in its lane before the boxes of the next rank begin.
 */
const LANE_START = 10;
/**
 * Lines from the bottom of one column to the top of the next, px. The first is 34 px right of the
 * left edge of the gutter (56 px). Each further line is 6 px left of the previous one and 4 px
 * further from the boxes. Six lines fit: the maximum of a waist (`MAX_CROSSING`). More lines occur
 * only where a segment without a waist is cut.
 */
const TRUNK = { x: 34, apart: 6, below: 4 };
/** Minimum distance of a line end from the rounded corners of a box, px. */
const CORNER = 3;
/** Distance between leafs without readers, px. */
const LOOSE_GAP = 8;
const ORIGIN = { x: 0, y: 0 };
const top = (r: Rect): Point => ({ x: r.x + r.width / 2, y: r.y });
const bottom = (r: Rect): Point => ({ x: r.x + r.width / 2, y: r.y + r.height });

/** Docks of each node, in source order. */
function docksOf(p: Prepared, shown: (leaf: number) => boolean): (node: number) => Dock[] {
  const map = new Map<number, Dock[]>();
  for (const n of p.computed) {
    const docks = (p.into.get(n) ?? [])
      .filter((e) => p.kind.get(e) !== "flow" && shown(e.from))
      .map((e) => ({ source: e.from, ref: p.kind.get(e) === "ref", edge: e }));
    map.set(n, docks);
  }
  return (node) => map.get(node) ?? [];
}

/**
 * Removes the points that dagre adds at every rank and half rank, except where the line turns.
 * Between its ends the line stays in its lane, from `LANE_START` below the first point to
 * `LANE_START` above the last one.
 */
export function thin(points: Point[]): Point[] {
  const between = points.slice(1, -1);
  const [first, last] = [between[0], between[between.length - 1]];
  if (!first || !last) {
    return [];
  }
  const turns = between.filter(
    (q, i) =>
      Math.abs((between[i - 1] ?? q).x - q.x) > 1 || Math.abs((between[i + 1] ?? q).x - q.x) > 1,
  );
  const lane = (q: Point, y: number): Point => ({ x: q.x, y });
  return [
    lane(first, points[0]!.y + LANE_START),
    ...turns,
    lane(last, points[points.length - 1]!.y - LANE_START),
  ];
}

/** A segment with its offset `o`; `width`: space for docks left of every node. */
interface Part {
  s: Segment;
  placed: Placed;
  width: number;
  o: Point;
}

/**
 * Where a value enters or leaves a segment: aligned with the boxes, which are right of their docks.
 */
function gate(placed: Placed, key: string, width: number, o: Point): Point {
  const at = placed.at.get(key)!;
  return { x: at.x + o.x + width / 2, y: at.y + o.y };
}

class Composer {
  readonly out: Layout = {
    width: 0,
    height: 0,
    boxes: new Map(),
    references: [],
    lines: [],
    blocks: [],
  };

  constructor(
    private readonly p: Prepared,
    private readonly docks: (node: number) => Dock[],
  ) {}

  /** Boxes of the nodes, docked leafs and references of a segment. */
  boxes(s: Segment, placed: Placed, width: number, o: Point): void {
    for (const n of s.nodes) {
      const c = placed.at.get(String(n))!;
      const size = nodeSize(this.p, n);
      const box = {
        x: o.x + c.x + width / 2 - size.width / 2,
        y: o.y + c.y - size.height / 2,
        ...size,
      };
      this.out.boxes.set(n, box);
      const docks = this.docks(n);
      docks.forEach((d, i) => {
        const y = o.y + c.y + (i - (docks.length - 1) / 2) * DOCK.step;
        const rect = {
          x: box.x - DOCK.gap - DOCK.width,
          y: y - DOCK.height / 2,
          width: DOCK.width,
          height: DOCK.height,
        };
        if (d.ref) {
          this.out.references.push({ ...rect, source: d.source, edge: d.edge });
        } else {
          this.out.boxes.set(d.source, rect);
        }
        const end = {
          x: box.x,
          y: Math.min(box.y + box.height - CORNER, Math.max(box.y + CORNER, y)),
        };
        this.out.lines.push({
          points: [{ x: rect.x + rect.width, y }, end],
          edge: d.edge,
          source: d.source,
          square: true,
        });
      });
    }
  }

  /**
   * Lines of a segment. Entering and leaving values meet the trunks at its upper and lower edge.
   */
  lines(s: Segment, placed: Placed, width: number, o: Point): void {
    const inside = new Set(s.nodes);
    const shift = (q: Point): Point => ({ x: q.x + o.x, y: q.y + o.y });
    const start = (key: string, n: number): Point =>
      inside.has(n) ? bottom(this.out.boxes.get(n)!) : gate(placed, key, width, o);
    const draw = (
      from: string,
      to: string,
      source: number,
      end: Point,
      edge: DagEdge | null,
    ): void => {
      const bends = placed.bends.get(`${from}>${to}`);
      this.out.lines.push({
        points: [start(from, source), ...thin(bends ?? []).map(shift), end],
        edge,
        source,
        square: false,
      });
    };
    const key = (n: number): string => (inside.has(n) ? String(n) : `in:${n}`);
    for (const n of s.nodes) {
      for (const e of this.p.into.get(n) ?? []) {
        if (this.p.kind.get(e) === "flow") {
          draw(key(e.from), String(n), e.from, top(this.out.boxes.get(n)!), e);
        }
      }
    }
    for (const l of s.leave) {
      draw(key(l), `out:${l}`, l, gate(placed, `out:${l}`, width, o), null);
    }
  }

  /** Lines from a segment to the next one, through the gutter if that is in the next column. */
  trunks(above: Part, below: Part, gutter: number | null): void {
    below.s.enter.forEach((source, i) => {
      const from = gate(above.placed, `out:${source}`, above.width, above.o);
      const to = gate(below.placed, `in:${source}`, below.width, below.o);
      const points = [from];
      if (gutter != null) {
        const x = gutter - i * TRUNK.apart;
        const away = GAP / 2 + i * TRUNK.below;
        points.push(
          { x: from.x, y: from.y + away },
          { x, y: from.y + away },
          { x, y: to.y - away },
          { x: to.x, y: to.y - away },
        );
      }
      points.push(to);
      this.out.lines.push({ points, edge: null, source, square: gutter != null });
    });
  }

  /** Edges to leafs. No engine builds them, but all edges of a recording are drawn. */
  strays(): void {
    for (const l of this.p.leafs) {
      for (const edge of this.p.into.get(l) ?? []) {
        const [from, to] = [this.out.boxes.get(edge.from), this.out.boxes.get(l)];
        if (from && to) {
          this.out.lines.push({
            points: [bottom(from), top(to)],
            edge,
            source: edge.from,
            square: true,
          });
        }
      }
    }
  }

  /** Leafs without readers are in rows below the graph. */
  loose(leafs: number[]): void {
    const perRow = Math.max(1, Math.floor(this.out.width / (DOCK.width + LOOSE_GAP)));
    leafs.forEach((l, i) => {
      const x = LOOSE_GAP + (i % perRow) * (DOCK.width + LOOSE_GAP);
      const y = this.out.height + GAP + Math.floor(i / perRow) * DOCK.step;
      this.out.boxes.set(l, { x, y, width: DOCK.width, height: DOCK.height });
    });
    if (leafs.length > 0) {
      this.out.height += GAP + Math.ceil(leafs.length / perRow) * DOCK.step;
    }
  }

  /** Frames around neighbouring segments of the same layer in a column. */
  blocks(parts: Segment[], placed: Placed[], grid: Columns): void {
    let last: (Block & { column: number }) | null = null;
    parts.forEach((s, i) => {
      const label = layerOf(this.p, s.nodes);
      const spot = grid.spots[i]!;
      const box = { x: spot.x, y: spot.y, width: placed[i]!.width, height: placed[i]!.height };
      if (last && label && last.label === label && last.column === spot.column) {
        const right = Math.max(last.x + last.width, box.x + box.width);
        last.x = Math.min(last.x, box.x);
        last.width = right - last.x;
        last.height = box.y + box.height - last.y;
      } else {
        last = { ...box, label: label ?? "", column: spot.column };
        if (label) {
          this.out.blocks.push(last);
        }
      }
    });
  }
}

/** Layout of a graph. `weights`: weights are shown; `aspect`: width / height of the view. */
export function layoutGraph(p: Prepared, options: { weights: boolean; aspect: number }): Layout {
  const shown = (leaf: number): boolean => options.weights || p.node.get(leaf)?.role !== "weight";
  const docks = docksOf(p, shown);
  const parts = segments(p);
  const placer = new Placer();
  const places = parts.map((s) => {
    const width = s.nodes.some((n) => docks(n).length > 0) ? DOCK.width + DOCK.gap : 0;
    return { s, width, placed: placer.place(p, s, { of: docks, width }) };
  });
  const boxes = places.map((x, i) => ({
    width: x.placed.width,
    height: x.placed.height,
    // Where the first value enters this segment and the next one: `columns` aligns these.
    entry: x.s.enter.length > 0 ? gate(x.placed, `in:${x.s.enter[0]!}`, x.width, ORIGIN).x : null,
    exit:
      places[i + 1]?.s.enter[0] === undefined
        ? null
        : gate(x.placed, `out:${places[i + 1]!.s.enter[0]!}`, x.width, ORIGIN).x,
  }));
  const grid = columns(boxes, options.aspect);
  const c = new Composer(p, docks);
  c.out.width = grid.width;
  c.out.height = grid.height;
  const set: Part[] = places.map((x, i) => ({ ...x, o: grid.spots[i]! }));
  set.forEach((x) => c.boxes(x.s, x.placed, x.width, x.o));
  set.forEach((x) => c.lines(x.s, x.placed, x.width, x.o));
  set.forEach((x, i) => {
    if (i > 0) {
      const { column } = grid.spots[i]!;
      const wraps = grid.spots[i - 1]!.column !== column;
      c.trunks(set[i - 1]!, x, wraps ? grid.left[column]! + TRUNK.x : null);
    }
  });
  c.blocks(
    parts,
    places.map((x) => x.placed),
    grid,
  );
  c.loose(p.leafs.filter((l) => shown(l) && !c.out.boxes.has(l)));
  c.strays();
  return c.out;
}
