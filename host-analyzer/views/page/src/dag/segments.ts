// Cuts the computed nodes, in the engine's order, into segments at waists: places that only one
// value (in a transformer the residual stream) crosses. Each segment is laid out alone, which is
// quick, gives equal layers equal pictures, and lets a long graph run over several columns.

import { isFolded } from "./fold.ts";
import type { Prepared } from "./prepare.ts";

export interface Segment {
  nodes: number[];
  /** Earlier nodes that are read here or later: they come in at the top … */
  enter: number[];
  /** … and these, from here or earlier and read later, go out at the bottom. */
  leave: number[];
}

/**
 * A chain could be cut at every node. Shorter segments would be more gap (26 px) than boxes, and
 * give dagre nothing to place.
 */
const MIN_NODES = 6;
/** Of a graph with folded parts a segment is a layer, if that has at least so many boxes … */
const MIN_BOXES = 3;
/** … and no more than about so many: where layers are not known. */
const MANY_BOXES = 24;
/** When a segment is larger than this, more values may cross a waist. */
const LARGE = 220;
/**
 * So many values still have lines of their own in the gutter between two columns (`TRUNK` of
 * layout.ts).
 */
const MAX_CROSSING = 6;

/** For every position the number of values that cross from it to the next. */
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
  // A chain of whole layers runs on, as one of single nodes does.
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
 * No waist for long: cuts where the fewest values cross, so that no part is larger than `LARGE`.
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
