// A layered layout that is fast for any graph: ranks by longest path, rows in the order of their
// sources, lines without bends. It is used for segments for which dagre would be too slow. No graph
// of a model is that complex, but damaged or foreign recordings may contain one.

import type { Placed, Point } from "./placed.ts";

type Sizes = Map<string, { width: number; height: number }>;
type Edges = { from: string; to: string; weight: number }[];

const ROW_GAP = 30;
const COLUMN_GAP = 22;
/** Ranks with very many nodes are wrapped at this width, px. */
const MAX_ROW = 4000;

/** Rank of every key: length of the longest path to it. Sources must precede their readers. */
export function ranks(keys: string[], edges: Edges): Map<string, number> {
  const into = new Map<string, string[]>();
  edges.forEach((e) => into.set(e.to, [...(into.get(e.to) ?? []), e.from]));
  const rank = new Map<string, number>();
  for (const key of keys) {
    const above = (into.get(key) ?? []).map((k) => rank.get(k) ?? 0);
    rank.set(key, above.length > 0 ? Math.max(...above) + 1 : 0);
  }
  return rank;
}

/** Sum of the ranks that the edges span. The time that dagre needs grows with it. */
export function span(keys: string[], edges: Edges): number {
  const rank = ranks(keys, edges);
  return edges.reduce((sum, e) => sum + rank.get(e.to)! - rank.get(e.from)!, 0);
}

export function plain(sizes: Sizes, edges: Edges): Placed {
  const rank = ranks([...sizes.keys()], edges);
  const rows: string[][] = [];
  for (const [key, r] of rank) {
    rows[r] ??= [];
    rows[r].push(key);
  }
  const at = new Map<string, Point>();
  const sources = new Map<string, string[]>();
  edges.forEach((e) => sources.set(e.to, [...(sources.get(e.to) ?? []), e.from]));
  let y = 0;
  let width = 0;
  const set = (row: string[]): void => {
    const height = Math.max(...row.map((k) => sizes.get(k)!.height));
    const total = row.reduce((sum, k) => sum + sizes.get(k)!.width + COLUMN_GAP, 0);
    let x = -total / 2;
    for (const key of row) {
      const w = sizes.get(key)!.width + COLUMN_GAP;
      at.set(key, { x: x + w / 2, y: y + height / 2 });
      x += w;
    }
    width = Math.max(width, total);
    y += height + ROW_GAP;
  };
  for (const row of rows) {
    const wanted = new Map(
      row.map((key) => {
        const xs = (sources.get(key) ?? []).map((k) => at.get(k)?.x ?? 0);
        return [key, xs.reduce((a, b) => a + b, 0) / Math.max(1, xs.length)];
      }),
    );
    row.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
    let part: string[] = [];
    let used = 0;
    for (const key of row) {
      const w = sizes.get(key)!.width + COLUMN_GAP;
      if (used + w > MAX_ROW && part.length > 0) {
        set(part);
        [part, used] = [[], 0];
      }
      part.push(key);
      used += w;
    }
    set(part);
  }
  at.forEach((q) => (q.x += width / 2));
  return { width, height: Math.max(1, y - ROW_GAP), at, bends: new Map() };
}
