// Data of the chart of times per output token.

import type { Call } from "../data/schema.ts";

type Point = number | null;

export type Columns = [number[], Point[], Point[], Point[], Point[]];

/** Columns of the chart: number of the decode call, then ns per series. */
export function columns(calls: Call[]): Columns {
  const lastEnd = new Map<string, number>();
  const out: Columns = [[], [], [], [], []];
  for (const c of calls) {
    if (c.start_ns == null || c.duration_ns == null || (c.status ?? 0) !== 0) {
      continue;
    }
    const context = String(c.context);
    const end = c.start_ns + c.duration_ns;
    if (c.phase === "decode" || c.phase === "batch_decode") {
      const before = lastEnd.get(context);
      out[0].push(out[0].length + 1);
      out[1].push(before === undefined ? null : end - before);
      out[2].push(c.duration_ns);
      out[3].push(c.graph_ns ?? null);
      out[4].push(c.op_wall_ns ?? null);
    }
    lastEnd.set(context, end);
  }
  return out;
}

/** Positions at least `distance` apart, as close to the wanted ones as the frame allows. */
export function apart(wanted: number[], distance: number, top: number, bottom: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!);
  const at = [...wanted];
  order.forEach((i, n) => {
    const above = n === 0 ? top : at[order[n - 1]!]! + distance;
    at[i] = Math.max(at[i]!, above);
  });
  [...order].reverse().forEach((i, n, turned) => {
    const below = n === 0 ? bottom : at[turned[n - 1]!]! - distance;
    at[i] = Math.min(at[i]!, below);
  });
  return at;
}

/** Median of the times between tokens; null without any. */
export function medianOf(data: Columns): number | null {
  const times = data[1].filter((v): v is number => v != null).sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)] ?? null;
}

/** A few long tokens must not flatten the others. */
export function needsLog(data: Columns): boolean {
  return Math.max(0, ...data[1].map((v) => v ?? 0)) > 4 * (medianOf(data) ?? Number.MAX_VALUE);
}
