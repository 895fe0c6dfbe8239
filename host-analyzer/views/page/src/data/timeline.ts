// Types of the timeline excerpt in the page; host-analyzer/views/src/timeline/page writes it.
//
// The excerpt has parts: the first request that generated something, up to its fourth decode call,
// and the longest decode tokens. If none of the first calls was traced, it starts before the first
// traced call. It has at most 20,000 slices, and at most 6,000 states: the preempted and the longest
// ones.
//
// Slices are four integers each; times are ns from `start_ns`, negative if they started before it:
//   token   start, length, phase (0 unknown, 1 prefill, 2 decode, 3 batch_decode, 4 draft,
//           5 warm_up, 6 encode), tokens
//   graph   start, length, nodes, backend (index into `texts`; -1: complete graph of the scheduler)
//   thread  start, length, node (index into `nodes`; -1: barrier wait), cpu (-1: unknown)
//   probes  start, length, label (index into `labels`), 0: operators captured, 1: probes are being
//           attached or detached, 2: duty set by the controller; only if probes were switched
//   state   start, length, state (index into `states`), cpu

export type TrackKind = "token" | "graph" | "thread" | "state" | "probes";

export interface Track {
  kind: TrackKind;
  process: number;
  track: string;
  slices: number[];
}

/** Name, operator, description, type, last fused tensor (indices into `texts`), dimensions. */
type TimelineNode = [number, number, number, number, number | null, number[]];

/** Thread id, process id, name, first 80 bytes of the command, part of a traced process. */
export type TimelineTask = [number, number, string, string, boolean];

/** State name, and the task that had the CPU (index into `tasks`). */
type TimelineState = [string, number | null];

/** Completeness of the tracks of states. */
interface TimelineScheduler {
  recorded: boolean;
  left_out: number;
  left_out_longest_ns: number;
}

/** A part of the recording that the excerpt contains, ns from session start. */
export interface TimelinePart {
  start_ns: number;
  end_ns: number;
  long_token: boolean;
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
  /** By time. Absent in pages of older versions: one part. */
  parts?: TimelinePart[];
  texts: string[];
  nodes: TimelineNode[];
  scheduler?: TimelineScheduler;
  tasks?: TimelineTask[];
  states?: TimelineState[];
  labels?: string[];
  tracks: Track[];
}

export const STRIDE = 4;

export function partsOf(t: Timeline): TimelinePart[] {
  return t.parts ?? [{ start_ns: t.start_ns, end_ns: t.end_ns, long_token: false }];
}
