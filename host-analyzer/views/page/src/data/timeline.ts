// Types of the timeline excerpt in the page; host-analyzer/views/src/timeline/page writes it.
//
// Slices are flat arrays of four integers each, times in ns from `start_ns`:   token:  start,
// length, phase (0 unknown, 1 prefill, 2 decode, 3 batch_decode, 4 draft, 5 warm_up), tokens
// graph:  start, length, nodes, backend (index into `texts`; -1: the scheduler's whole graph)
// thread: start, length, node (index into `nodes`; -1: waiting at the barrier), cpu   probes: start
// (before 0 where it began before the window), length, text (index into `labels`), 0 on, 1
// switching, 2 a step of the duty   state:  start (before 0 where it began before the window),
// length, state (index into `states`), cpu

export type TrackKind = "token" | "graph" | "thread" | "state" | "probes";

export interface Track {
  kind: TrackKind;
  process: number;
  track: string;
  slices: number[];
}

/**
 * Name, operator, description, type, last tensor that was computed too: indices into `texts`;
 * dimensions.
 */
export type TimelineNode = [number, number, number, number, number | null, number[]];

/**
 * Thread id, process, name, beginning of the command line, whether it is a thread of a traced
 * process.
 */
export type TimelineTask = [number, number, string, string, boolean];

/** What a thread did: a state's name, and who had the CPU that it wanted (index into `tasks`). */
export type TimelineState = [string, number | null];

/** How much the tracks of states tell. */
export interface TimelineScheduler {
  recorded: boolean;
  left_out: number;
  left_out_longest_ns: number;
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
  nodes: TimelineNode[];
  scheduler?: TimelineScheduler;
  tasks?: TimelineTask[];
  states?: TimelineState[];
  labels?: string[];
  tracks: Track[];
}

export const STRIDE = 4;
