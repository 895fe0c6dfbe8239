// Cuts the computed nodes, in the engine's order, into segments. A cut is made at a waist: a
// position that only one value crosses (in a transformer the residual stream). Each segment is laid
// out separately. This is fast, draws equal layers equally, and allows several columns.

import { isFolded } from "./fold.ts";
import type { Prepared } from "./prepare.ts";

export interface Segment {
  nodes: number[];
  /** Earlier nodes that this or a later segment reads. Their lines enter at the top. */
  enter: number[];
  /** Nodes of this or an earlier segment that later ones read. Their lines leave at the bottom. */
  leave: number[];
}

/**
 * Minimum number of nodes in a segment. A chain has a waist at every node; shorter segments would
 * consist mostly of gaps (`GAP`, 26 px; a box is 34 px high), and dagre would have nothing to
 * place.
 */
const MIN_NODES = 6;
/** With folded modules a segment ends at the end of a layer, if it has at least this many boxes. */
const MIN_BOXES = 3;
/** With folded modules a segment also ends after this many boxes, in case layers are unknown. */
const MANY_BOXES = 24;
/**
 * Maximum number of nodes in a segment. If a segment is larger, waists with more crossing values
 * are accepted, up to `MAX_CROSSING`. After that the segment is cut where the fewest values cross.
 */
const LARGE = 220;
/** Number of lines that fit into the gutter between two columns (`TRUNK` in layout.ts). */
const MAX_CROSSING = 6;

/** For every position, the number of values that cross to the next position. */
function crossings(
  p: Prepared,
  position: Map<number, number>,
): { count: number[]; lastUse: Map<number, number> } {
  const lastUse = new Map<number, number>();
  for (const [edge, kind] of p.kind) {
    if (kind === "flow") {
      const at = position.get(edge.to)!;
      lastUse.set(edge.from, Math.max(at, lastUse.get(edge.from) ?? 0));
    }
  }
  const steps = new Array<number>(p.computed.length + 1).fill(0);
  for (const [source, last] of lastUse) {
    steps[position.get(source)!]! += 1;
    steps[last]! -= 1;
  }
  let now = 0;
  return { count: steps.map((step) => (now += step)), lastUse };
}

function cut(p: Prepared, count: number[], allowed: number): number[][] {
  const parts: number[][] = [];
  let part: number[] = [];
  const layer = (index: number | undefined): number | null =>
    index === undefined ? null : (p.node.get(index)?.layer ?? null);
  const folded = p.computed.some((index) => isFolded(p.node.get(index)!));
  // Folded layers form a chain of boxes. It is cut like a chain of single nodes.
  const layers =
    folded &&
    p.computed.filter((index, i) => layer(index) !== layer(p.computed[i + 1])).length * 2 >
      p.computed.length;
  const enough = (i: number): boolean => {
    if (!folded || layers) {
      return part.length >= MIN_NODES;
    }
    return (
      (part.length >= MIN_BOXES && layer(p.computed[i]) !== layer(p.computed[i + 1])) ||
      part.length >= MANY_BOXES
    );
  };
  p.computed.forEach((index, i) => {
    part.push(index);
    if (enough(i) && count[i]! <= allowed) {
      parts.push(part);
      part = [];
    }
  });
  if (part.length > 0) {
    const before = parts[parts.length - 1];
    if (before && part.length < MIN_NODES) {
      before.push(...part);
    } else {
      parts.push(part);
    }
  }
  return parts;
}

/**
 * Cuts a part without waists where the fewest values cross, so that parts have from `LARGE` / 3
 * to `LARGE` nodes.
 */
function force(part: number[], position: Map<number, number>, count: number[]): number[][] {
  const parts: number[][] = [];
  let rest = part;
  while (rest.length > LARGE) {
    let best = LARGE;
    for (let size = LARGE; size >= LARGE / 3; size--) {
      if (count[position.get(rest[size - 1]!)!]! < count[position.get(rest[best - 1]!)!]!) {
        best = size;
      }
    }
    parts.push(rest.slice(0, best));
    rest = rest.slice(best);
  }
  return [...parts, rest];
}

/** The segments of a graph, in order. */
export function segments(p: Prepared): Segment[] {
  const position = new Map(p.computed.map((index, i) => [index, i]));
  const { count, lastUse } = crossings(p, position);
  let parts: number[][] = [];
  for (let allowed = 1; allowed <= MAX_CROSSING; allowed++) {
    parts = cut(p, count, allowed);
    if (parts.every((part) => part.length <= LARGE)) {
      break;
    }
  }
  parts = parts.flatMap((part) => force(part, position, count));
  let open: number[] = [];
  return parts.map((nodes) => {
    const enter = open;
    const end = position.get(nodes[nodes.length - 1]!)!;
    open = [...enter, ...nodes].filter((n) => (lastUse.get(n) ?? -1) > end);
    return { nodes, enter, leave: open };
  });
}
