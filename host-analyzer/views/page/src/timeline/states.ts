// Rows of threads' states: what the scheduler did with each thread, and who had the CPU that it
// wanted.

import { list } from "../data/read.ts";
import { STRIDE, type Timeline, type TimelineTask, type Track } from "../data/timeline.ts";
import { plural, time } from "../ui/format.ts";
import { stateName } from "../ui/states.ts";
import type { Slice } from "./slice.ts";

function culprit([tid, pid, name, , engine]: TimelineTask, state: string): string {
  const of =
    pid === 0
      ? "its process was gone"
      : pid === tid
        ? `process ${pid}`
        : `thread ${tid} of process ${pid}`;
  return `${state === "woken" ? "the CPU was taken by" : "by"} ${name || "a task without a name"}, ${of}${engine ? ", the engine's own" : ""}`;
}

function known(t: Timeline, track: Track, row: number): Slice[] {
  const out: Slice[] = [];
  for (let i = 0; i + STRIDE <= track.slices.length; i += STRIDE) {
    const [start, length, index, cpu] = track.slices.slice(i, i + STRIDE) as [
      number,
      number,
      number,
      number,
    ];
    const [state, by] = list(t.states)[index] ?? ["unknown", null];
    const task = by == null ? undefined : list(t.tasks)[by];
    const name = task?.[2] ?? "";
    const label = name
      ? `${state === "woken" ? "woken, waits for" : `${state} by`} ${name}`
      : stateName(state);
    const who = task
      ? culprit(task, state)
      : state === "throttled"
        ? "the CPU did nothing meanwhile: the group's quota is used up"
        : "";
    const command = task && task[3] !== name ? task[3] : "";
    const where = ["running", "preempted", "throttled", "woken"].includes(state)
      ? `CPU ${cpu}`
      : `last on CPU ${cpu}`;
    out.push({
      row,
      start,
      length,
      kind: "state",
      op: state,
      label,
      short: name,
      facts: () => [who, where, command].filter(Boolean),
    });
  }
  return out;
}

/**
 * The slices of a track, and what is not known between them: nothing is drawn as running that was
 * not seen to be.
 */
export function stateSlices(t: Timeline, track: Track, row: number): Slice[] {
  const left = t.scheduler?.left_out ?? 0;
  const why =
    left > 0
      ? `not seen, or one of the short stretches that are left out here (up to ${time(t.scheduler?.left_out_longest_ns)})`
      : "events of the scheduler were lost, or the thread was not seen yet";
  const out: Slice[] = [];
  let at = 0;
  const gap = (to: number): void => {
    if (to > at) {
      out.push({
        row,
        start: at,
        length: to - at,
        kind: "state",
        op: "unknown",
        label: stateName("unknown"),
        facts: () => [why],
      });
    }
  };
  for (const slice of known(t, track, row)) {
    gap(slice.start);
    out.push(slice);
    at = Math.max(at, slice.start + slice.length);
  }
  gap(t.end_ns - t.start_ns);
  return out;
}

/** The states of all rows, in the order of the key. */
export function statesIn(slices: Slice[]): string[] {
  const order = [
    "running",
    "preempted",
    "throttled",
    "woken",
    "sleeping",
    "blocked",
    "stopped",
    "unknown",
  ];
  const seen = new Set(slices.filter((s) => s.kind === "state").map((s) => s.op));
  return order.filter((state) => seen.has(state));
}

/** What the rows of states do not tell; empty when they tell all. */
export function statesMissing(t: Timeline): string {
  if (!t.scheduler?.recorded) {
    return "The scheduler level was not recorded, so that nothing is known of the threads' states: record with --levels all.";
  }
  const { left_out, left_out_longest_ns } = t.scheduler;
  return left_out > 0
    ? `${plural(left_out, "stretch", "stretches")} of threads of at most ${time(left_out_longest_ns)} ${left_out === 1 ? "is" : "are"} left out of this page; timeline.pftrace has all.`
    : "";
}
