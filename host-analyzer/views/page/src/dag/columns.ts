// Arranges the segments of a long graph in columns, like a newspaper, so that the graph fills the
// view.

export interface Box {
  width: number;
  height: number;
  /** Distance from the left edge to where the first value enters (top) or leaves (bottom), px. */
  entry: number | null;
  exit: number | null;
}

interface Spot {
  column: number;
  x: number;
  y: number;
}

export interface Columns {
  spots: Spot[];
  /** Left edge of each column's gutter. Lines reach the top of the column through its gutter. */
  left: number[];
  width: number;
  height: number;
}

/** Vertical distance between segments, px: about one row gap of dagre. */
export const GAP = 26;
/** Width between columns, px: space for six lines (`TRUNK` in layout.ts). */
const GUTTER = 56;
/** Upper limit of the search for the best number of columns. */
const MAX_COLUMNS = 24;
/** Allowance over the mean column height, because segments cannot be split. */
const SLACK = 1.04;

/**
 * Aligns the boxes of a column, so that the line between two of them is straight if space allows.
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

/** Chooses the number of columns with the largest zoom in a view of `aspect` (width / height). */
export function columns(boxes: Box[], aspect: number): Columns {
  const total = boxes.reduce((sum, b) => sum + b.height + GAP, 0);
  let best = fill(boxes, Number.POSITIVE_INFINITY);
  const zoom = (c: Columns): number => Math.min(aspect / c.width, 1 / c.height);
  for (let n = 2; n <= Math.min(MAX_COLUMNS, boxes.length); n++) {
    const next = fill(boxes, (total / n) * SLACK);
    if (zoom(next) > zoom(best)) {
      best = next;
    }
  }
  return best;
}
