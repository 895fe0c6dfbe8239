// Rows of thread states: what the scheduler did with each thread, and which task had its CPU.

import { list } from "../data/read.ts";
import { partsOf, STRIDE, type Timeline, type TimelineTask, type Track } from "../data/timeline.ts";
import { plural, time } from "../ui/format.ts";
import { stateName } from "../ui/states.ts";
import type { Slice } from "./slice.ts";

function culprit([tid, pid, name, , engine]: TimelineTask, state: string): string {
  const of =
    pid === 0
      ? "its process had ended"
      : pid === tid
        ? `process ${pid}`
        : `thread ${tid} of process ${pid}`;
  return `${state === "woken" ? "CPU occupied by" : "by"} ${name || "an unnamed task"}, ${of}${engine ? ", part of the engine" : ""}`;
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
      ? `${state === "woken" ? "woken, waiting for" : `${state} by`} ${name}`
      : stateName(state);
    const who = task
      ? culprit(task, state)
      : state === "throttled"
        ? "the CPU is idle: the group's quota is used up"
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

/** The slices of a track. Gaps in a part become slices of state `unknown`; running is never assumed. */
export function stateSlices(t: Timeline, track: Track, row: number): Slice[] {
  const left = t.scheduler?.left_out ?? 0;
  const why =
    left > 0
      ? `not recorded, or one of the short stretches omitted here (up to ${time(t.scheduler?.left_out_longest_ns)})`
      : "scheduler events were lost, or the thread had no event yet";
  const out: Slice[] = [];
  let at = 0;
  const gap = (to: number): void => {
    for (const part of partsOf(t)) {
      const start = Math.max(at, part.start_ns - t.start_ns);
      const length = Math.min(to, part.end_ns - t.start_ns) - start;
      if (length > 0) {
        const [op, label] = ["unknown", stateName("unknown")];
        out.push({ row, start, length, kind: "state", op, label, facts: () => [why] });
      }
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

/** States that occur, in legend order. */
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

/** What is missing from the rows of states; empty if nothing is. */
export function statesMissing(t: Timeline): string {
  if (!t.scheduler?.recorded) {
    return "The scheduler level was not recorded, so thread states are unknown. Record with --levels all.";
  }
  const { left_out, left_out_longest_ns } = t.scheduler;
  return left_out > 0
    ? `This page omits ${plural(left_out, "thread state")} of at most ${time(left_out_longest_ns)}; timeline.pftrace has all.`
    : "";
}
