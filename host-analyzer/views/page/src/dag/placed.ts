/** A position in the drawing, px. */
export interface Point {
  x: number;
  y: number;
}

/** Positions inside a segment, from its top left. Keys: node index, `in:INDEX`, `out:INDEX`. */
export interface Placed {
  width: number;
  height: number;
  /** Centre of a node, including its docks. */
  at: Map<string, Point>;
  /** Points of an edge between its ends, by `FROM>TO` with the keys of `at`. */
  bends: Map<string, Point[]>;
}
