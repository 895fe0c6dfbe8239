/** A place in the picture, in pixels. */
export interface Point {
  x: number;
  y: number;
}

/**
 * Positions inside the segment, origin at its top left. Keys: node index, `in:INDEX`, `out:INDEX`.
 */
export interface Placed {
  width: number;
  height: number;
  /** Centre of the area of a node, docks included. */
  at: Map<string, Point>;
  /** Points of an edge between its ends, by `FROM>TO` as used in `at`. */
  bends: Map<string, Point[]>;
}
