// Layered top-down layout of one segment with dagre. Equal segments share one layout.

import { Graph, layout } from "./dagre.ts";
import { isView } from "../data/dag.ts";
import type { DagEdge } from "../data/schema.ts";
import { plain, span } from "./plain.ts";
import type { Placed, Point } from "./placed.ts";
import type { Prepared } from "./prepare.ts";
import type { Segment } from "./segments.ts";

/** Sizes of boxes, px: nodes (two lines of text), views (one line), and docks left of a node. */
export const NODE = { width: 154, height: 34 };
export const VIEW = { width: 126, height: 18 };
export const DOCK = { width: 92, height: 15, gap: 9, step: 18 };
/** Limit of `span` up to which dagre is fast. A layer of a model has a few hundred. */
const PATIENCE = 3000;
/** Placeholder for a value that enters or leaves a segment. */
const GHOST = { width: 8, height: 1 };

/** Small box left of a node: a leaf, or a reference to a distant tensor. */
export interface Dock {
  source: number;
  ref: boolean;
  edge: DagEdge;
}

export interface Docks {
  of: (node: number) => Dock[];
  /** Space left of every node of the segment, px. */
  width: number;
}

export function nodeSize(p: Prepared, index: number): { width: number; height: number } {
  return isView(p.graph, p.node.get(index)!) ? VIEW : NODE;
}

/** Edges of the segment as pairs of keys, without repetitions. */
function pairs(p: Prepared, s: Segment): { from: string; to: string; weight: number }[] {
  const inside = new Set(s.nodes);
  const entering = new Set(s.enter);
  const seen = new Set<string>();
  const out: { from: string; to: string; weight: number }[] = [];
  const add = (from: string, to: string, weight: number): void => {
    if (!seen.has(`${from}>${to}`)) {
      seen.add(`${from}>${to}`);
      out.push({ from, to, weight });
    }
  };
  const fed = new Set<number>();
  const read = new Set<string>();
  for (const n of s.nodes) {
    for (const e of p.into.get(n) ?? []) {
      if (p.kind.get(e) === "flow" && (inside.has(e.from) || entering.has(e.from))) {
        const from = inside.has(e.from) ? String(e.from) : `in:${e.from}`;
        add(from, String(n), 2);
        fed.add(n);
        read.add(from);
      }
    }
  }
  for (const l of s.leave) {
    const from = inside.has(l) ? String(l) : `in:${l}`;
    add(from, `out:${l}`, 2);
    read.add(from);
  }
  // Edges of weight 0 keep entering values at the top and leaving values at the bottom.
  for (const n of s.nodes) {
    if (!fed.has(n)) {
      s.enter.forEach((e) => add(`in:${e}`, String(n), 0));
    }
    if (!read.has(String(n))) {
      s.leave.forEach((l) => add(String(n), `out:${l}`, 0));
    }
  }
  return out;
}

/**
 * Moves an entering value above its first reader and a leaving value below its origin, if no box is
 * in between. dagre moves them sideways because of the edges of weight 0.
 */
function straighten(
  placed: Placed,
  sizes: Map<string, { width: number; height: number }>,
  edges: ReturnType<typeof pairs>,
): void {
  const ghosts = [...placed.at].filter(([key]) => sizes.get(key) === GHOST);
  const free = (x: number, low: number, high: number): boolean =>
    [...placed.at].every(([key, q]) => {
      const size = sizes.get(key)!;
      return size === GHOST || Math.abs(q.x - x) > size.width / 2 || q.y <= low || q.y >= high;
    }) &&
    ghosts.every(([, q]) => Math.abs(q.x - x) > GHOST.width || q.y < low - 1 || q.y > high + 1);
  for (const [key, ghost] of ghosts) {
    const partners = edges
      .filter((e) => e.weight > 0 && (e.from === key || e.to === key))
      .map((e) => placed.at.get(e.from === key ? e.to : e.from)!)
      .sort((a, b) => Math.abs(a.y - ghost.y) - Math.abs(b.y - ghost.y));
    const near = partners[0];
    if (
      near &&
      near.x !== ghost.x &&
      free(near.x, Math.min(near.y, ghost.y), Math.max(near.y, ghost.y))
    ) {
      placed.at.set(key, { x: near.x, y: ghost.y });
    }
  }
}

function compute(
  sizes: Map<string, { width: number; height: number }>,
  edges: ReturnType<typeof pairs>,
): Placed {
  const g = new Graph({ directed: true });
  g.setGraph({
    rankdir: "TB",
    ranker: "network-simplex",
    nodesep: 22,
    edgesep: 12,
    ranksep: 24,
    marginx: 14,
    marginy: 4,
  });
  sizes.forEach((size, key) => g.setNode(key, { ...size }));
  edges.forEach((e) => g.setEdge(e.from, e.to, { weight: e.weight }));
  layout(g);
  const placed: Placed = { width: 0, height: 0, at: new Map(), bends: new Map() };
  for (const key of g.nodes()) {
    const n = g.node(key) as Point;
    placed.at.set(key, { x: n.x, y: n.y });
  }
  edges.forEach((e) => {
    if (e.weight > 0) {
      const { points } = g.edge(e.from, e.to) as { points: Point[] };
      placed.bends.set(`${e.from}>${e.to}`, points.slice(1, -1));
    }
  });
  const { width = 0, height = 0 } = g.graph() as { width?: number; height?: number };
  placed.width = width;
  placed.height = height;
  straighten(placed, sizes, edges);
  return placed;
}

/** Lays out segments, with a cache because layers repeat. */
export class Placer {
  private readonly cache = new Map<string, Placed>();

  place(p: Prepared, s: Segment, docks: Docks): Placed {
    // Keys relative to the segment, so that equal layers share a cache entry.
    const name = new Map<string, string>();
    s.enter.forEach((e, i) => name.set(`in:${e}`, `i${i}`));
    s.nodes.forEach((n, i) => name.set(String(n), `n${i}`));
    s.leave.forEach((l, i) => name.set(`out:${l}`, `o${i}`));
    const sizes = new Map<string, { width: number; height: number }>();
    name.forEach((short, key) => {
      if (key.includes(":")) {
        sizes.set(short, GHOST);
      } else {
        const { height } = nodeSize(p, Number(key));
        const stack = docks.of(Number(key)).length * DOCK.step;
        sizes.set(short, { width: docks.width + NODE.width, height: Math.max(height, stack) });
      }
    });
    const edges = pairs(p, s).map((e) => ({
      from: name.get(e.from)!,
      to: name.get(e.to)!,
      weight: e.weight,
    }));
    const signature = JSON.stringify([[...sizes], edges.map((e) => [e.from, e.to, e.weight])]);
    let short = this.cache.get(signature);
    if (!short) {
      // `pairs` makes edges from earlier to later keys, as `span` requires.
      short =
        span([...sizes.keys()], edges) > PATIENCE ? plain(sizes, edges) : compute(sizes, edges);
      this.cache.set(signature, short);
    }
    const long = new Map([...name].map(([key, value]) => [value, key]));
    const edgeName = (pair: string): string =>
      pair
        .split(">")
        .map((k) => long.get(k)!)
        .join(">");
    return {
      width: short.width,
      height: short.height,
      at: new Map([...short.at].map(([k, v]) => [long.get(k)!, v])),
      bends: new Map([...short.bends].map(([k, v]) => [edgeName(k), v])),
    };
  }
}
