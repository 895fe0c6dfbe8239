// Positions of the timeline rows, CSS px.

import type { Row } from "./slice.ts";

/** Heights of the axis, a row, a thin row and a gap, and the width of the row titles. */
export const GEOMETRY = { axis: 26, row: 26, thin: 14, gap: 4, gutter: 132 };

export interface Place {
  top: number;
  height: number;
}

/** Position of each row. A thin row follows its main row closely. */
export function placesOf(rows: Row[]): Place[] {
  let at = GEOMETRY.axis;
  return rows.map((row, i) => {
    const place = { top: at, height: row.thin ? GEOMETRY.thin : GEOMETRY.row };
    at += place.height + (rows[i + 1]?.thin ? 1 : GEOMETRY.gap);
    return place;
  });
}

/** Total height. */
export function heightOf(places: Place[]): number {
  const last = places[places.length - 1];
  return (last ? last.top + last.height : GEOMETRY.axis) + 2 * GEOMETRY.gap;
}
