// Data that the timeline draws.

export interface Slice {
  row: number;
  start: number;
  length: number;
  label: string;
  /** Text if the label does not fit. */
  short?: string;
  /** Determines the colour. */
  kind:
    | "prefill"
    | "decode"
    | "batch_decode"
    | "draft"
    | "warm_up"
    | "encode"
    | "call"
    | "graph"
    | "op"
    | "barrier"
    | "state";
  /** Operator description, or thread state. */
  op: string;
  /** Tooltip lines after the label. */
  facts: () => string[];
}

export interface Row {
  title: string;
  slices: Slice[];
  /** Lower height, directly below its main row. */
  thin: boolean;
}
