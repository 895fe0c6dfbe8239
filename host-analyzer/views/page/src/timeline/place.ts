// Where the rows of the timeline stand, in CSS px.

import type { Row } from "./slice.ts";

export const GEOMETRY = { axis: 26, row: 26, thin: 14, gap: 4, gutter: 132 };

export interface Place {
  top: number;
  height: number;
}

/** The place of each row: a thin one stands close below the row that it is about. */
export function placesOf(rows: Row[]): Place[] {
  let at = GEOMETRY.axis;
  return rows.map((row, i) => {
    const place = { top: at, height: row.thin ? GEOMETRY.thin : GEOMETRY.row };
    at += place.height + (rows[i + 1]?.thin ? 1 : GEOMETRY.gap);
    return place;
  });
}

/** Height of the drawing. */
export function heightOf(places: Place[]): number {
  const last = places[places.length - 1];
  return (last ? last.top + last.height : GEOMETRY.axis) + 2 * GEOMETRY.gap;
}
