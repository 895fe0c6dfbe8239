// Shape of the timeline cut inside the page; host-analyzer/src/views/report_timeline.rs writes it.
//
// Slices are flat arrays of integers, `stride` numbers each; times are ns from `start_ns`.
//   token:  start, length, phase (0 unknown, 1 prefill, 2 decode), tokens
//   graph:  start, length, depth, nodes, backend (index into `texts`)
//   thread: start, work, wait (-1 unknown), node (index into `nodes`), last node, cpu

export type TrackKind = "token" | "graph" | "thread";

export interface Track {
  kind: TrackKind;
  pid: number;
  tid: number;
  process: string;
  name: string;
  slices: number[];
}

export interface Timeline {
  schema: number;
  start_ns: number;
  end_ns: number;
  calls: number;
  calls_total: number;
  spans: number;
  spans_total: number;
  complete: boolean;
  texts: string[];
  /** name, operator, description, type (indices into `texts`), then ne. */
  nodes: [number, number, number, number, ...number[]][];
  tracks: Track[];
}

export const STRIDE: Record<TrackKind, number> = { token: 4, graph: 5, thread: 6 };
