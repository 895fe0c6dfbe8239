// Cells of the heat map: one row per layer, one column per expert.

import { list } from "../data/read.ts";
import type { RoutedLayer, Routing } from "../data/schema.ts";

interface Cell {
  /** Number of the expert in its layer. */
  expert: number;
  uses: number;
  /** Uses per token of the layer; 0 without tokens. */
  density: number;
}

export interface Line {
  title: string;
  layer: RoutedLayer;
  cells: Cell[];
}

/** By expert number, or most used first. */
export type Order = "number" | "use";

export function linesOf(routing: Routing | undefined, order: Order): Line[] {
  return list(routing?.layers).map((layer) => {
    const tokens = layer.tokens ?? 0;
    const cells = list(layer.expert_uses).map((uses, expert) => ({
      expert,
      uses,
      density: tokens > 0 ? uses / tokens : 0,
    }));
    if (order === "use") {
      cells.sort((a, b) => b.uses - a.uses || a.expert - b.expert);
    }
    return { title: layer.layer == null ? (layer.name ?? "") : String(layer.layer), layer, cells };
  });
}

/** Largest density: the end of the colour scale. */
export function maxDensity(lines: Line[]): number {
  return lines.reduce((max, line) => line.cells.reduce((m, c) => Math.max(m, c.density), max), 0);
}
