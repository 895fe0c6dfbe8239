// Runs the segments of a long graph over columns, as a newspaper does, so that the whole fills the
// view.

export interface Box {
  width: number;
  height: number;
  /** From the left edge to where the first value enters at the top and leaves at the bottom. */
  entry: number | null;
  exit: number | null;
}

export interface Spot {
  column: number;
  x: number;
  y: number;
}

export interface Columns {
  spots: Spot[];
  /** Left edge of each column's gutter, in which values travel to the next column's top. */
  left: number[];
  width: number;
  height: number;
}

export const GAP = 26;
export const GUTTER = 56;
const MAX_COLUMNS = 24;

/**
 * Sets the boxes of one column so that the value between two of them runs straight, where there is
 * space.
 */
function align(boxes: Box[], spots: Spot[], column: number, left: number, width: number): void {
  let line: number | null = null;
  spots.forEach((spot, i) => {
    const box = boxes[i]!;
    if (spot.column === column) {
      const space = width - box.width;
      const wanted: number =
        line === null || box.entry === null ? space / 2 : line - left - box.entry;
      spot.x = left + Math.min(space, Math.max(0, wanted));
      line = box.exit === null ? null : spot.x + box.exit;
    }
  });
}

function fill(boxes: Box[], limit: number): Columns {
  const width: number[] = [0];
  const spots: Spot[] = [];
  let column = 0;
  let y = 0;
  let height = 0;
  for (const box of boxes) {
    if (y > 0 && y + box.height > limit) {
      column += 1;
      width.push(0);
      y = 0;
    }
    spots.push({ column, x: 0, y });
    width[column] = Math.max(width[column]!, box.width);
    y += box.height + GAP;
    height = Math.max(height, y - GAP);
  }
  const left: number[] = [];
  let x = GUTTER;
  for (const w of width) {
    left.push(x - GUTTER);
    align(boxes, spots, left.length - 1, x, w);
    x += w + GUTTER;
  }
  return { spots, left, width: x, height };
}

/** The number of columns with which the whole is largest in a view of `aspect` (width / height). */
export function columns(boxes: Box[], aspect: number): Columns {
  const total = boxes.reduce((sum, b) => sum + b.height + GAP, 0);
  let best = fill(boxes, Number.POSITIVE_INFINITY);
  const zoom = (c: Columns): number => Math.min(aspect / c.width, 1 / c.height);
  for (let n = 2; n <= Math.min(MAX_COLUMNS, boxes.length); n++) {
    const next = fill(boxes, (total / n) * 1.04);
    if (zoom(next) > zoom(best)) {
      best = next;
    }
  }
  return best;
}
