// The heat map's cells: layers from the top, experts from the left, each with the part of the
// layer's tokens that used it.

import { list } from "../data/read.ts";
import type { RoutedLayer, Routing } from "../data/schema.ts";

export interface Cell {
  /** Number of the expert in its layer. */
  expert: number;
  uses: number;
  /** Uses by tokens; 0 when the layer has none. */
  density: number;
}

export interface Line {
  title: string;
  layer: RoutedLayer;
  cells: Cell[];
}

/** In the order of the experts' numbers, or the most used first. */
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

/** The largest density, for the scale. */
export function maxDensity(lines: Line[]): number {
  return lines.reduce((max, line) => line.cells.reduce((m, c) => Math.max(m, c.density), max), 0);
}
