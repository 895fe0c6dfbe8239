// Where a ceiling comes from, and why there is none.

import type { Maybe, Num } from "../data/maybe.ts";
import type { Ceiling, CeilingSource } from "../data/schema.ts";
import { date } from "./format.ts";

/** `measured on 2026-11-20`; empty in the output of older versions. */
export function sourceText(source: Maybe<CeilingSource>, keptUnixNs: Num): string {
  switch (source) {
    case "recording":
      return "this session";
    case "given":
      return "--ceilings";
    case "kept":
      return keptUnixNs == null ? "measured here before" : `measured on ${date(keptUnixNs)}`;
    case "profile":
      return "board profile";
    case "best_seen":
      return "best seen";
    default:
      return source ?? "";
  }
}

/** Who held the CPUs during the measurement, if that may have lowered it. */
export function pollutedText(c: Pick<Ceiling, "polluted" | "load">): string {
  const load = c.load;
  if (!c.polluted || load == null) {
    return "";
  }
  const cpus = (load.others_ns ?? 0) / Math.max(load.wall_ns ?? 0, 1);
  const most = load.pid ? `, most by ${load.name} (${load.pid})` : "";
  return `others used ${cpus.toFixed(1)} CPUs during the measurement${most}: the figures may be too low`;
}

/** Why there is no read ceiling for so many threads, and what to do. */
export function noReadText(why: Maybe<string>, threads: string): string {
  switch (why) {
    case "other_threads":
      return `The read bandwidth was measured, but not for ${threads}.`;
    case "unstable":
      return `The measured read bandwidth for ${threads} cannot be used: its repetitions differ too much. Measure again on a quiet machine.`;
    case "engine_ran":
      return `The measured read bandwidth for ${threads} cannot be used: an engine ran during the measurement. Measure before it starts.`;
    case "noted":
    case "unknown":
      return `The measured read bandwidth for ${threads} cannot be used: the agent doubts it.`;
    default:
      return `The limits of this board were not measured for ${threads}. Record with --bench, or pass a file with --ceilings.`;
  }
}
