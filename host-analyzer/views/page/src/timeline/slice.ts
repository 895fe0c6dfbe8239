// What the timeline draws.

export interface Slice {
  row: number;
  start: number;
  length: number;
  label: string;
  /** What is written where the label has no room. */
  short?: string;
  /**
   * What the colour goes by: a phase, an operator's description, "graph", "barrier", a thread's
   * state.
   */
  kind:
    | "prefill"
    | "decode"
    | "batch_decode"
    | "draft"
    | "warm_up"
    | "call"
    | "graph"
    | "op"
    | "barrier"
    | "state";
  /** The operator's description, or the state. */
  op: string;
  /** Lines for the tooltip, after the label. */
  facts: () => string[];
}

export interface Row {
  title: string;
  slices: Slice[];
  /** Drawn lower, close below the row before it. */
  thin: boolean;
}
