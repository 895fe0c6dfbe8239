// Speeds of the first screen: measured, and what the ladder shows as attainable.

import type { Maybe } from "../data/maybe.ts";
import { list } from "../data/read.ts";
import type { Headline, Ladder, StepKind, Summary } from "../data/schema.ts";

/** A step from this share of the time on is in the headline. */
const HEADLINE = 0.2;
/** A step below this share is not worth a line. */
export const IGNORED = 0.02;

/** Tokens per second, without more digits than a repetition would confirm. */
export function rateText(perSecond: number): string {
  return perSecond.toFixed(perSecond < 1 ? 2 : perSecond < 10 ? 1 : 0);
}

/** The ladders of the process that computed the most. */
export function mainLadders(summary: Summary): Ladder[] {
  const all = list(summary.ladders).filter((l) => (l.units ?? 0) > 0 && (l.measured_ns ?? 0) > 0);
  return all.filter((l) => l.pid === all[0]?.pid);
}

/** Tokens of all sequences. Older files have units only. */
function tokensOf(ladder: Ladder): number {
  return ladder.tokens || ladder.units;
}

export interface Without {
  likely: number;
  low: number;
  high: number;
}

/** Tokens per second without all causes; null if they do not matter. */
export function withoutCauses(ladder: Maybe<Ladder>): Without | null {
  const gain = ladder?.all_causes;
  if (!ladder || !gain || gain.likely_ns < ladder.measured_ns * IGNORED) {
    return null;
  }
  const at = (saved: number): number =>
    (tokensOf(ladder) * 1e9) / Math.max(1, ladder.measured_ns - saved);
  return { likely: at(gain.likely_ns), low: at(gain.low_ns), high: at(gain.high_ns) };
}

/** Tokens per second at the rate of the memory; null if that rate is not known. */
export function atMemoryRate(ladder: Maybe<Ladder>): number | null {
  const floor = ladder?.floor;
  return ladder && floor?.bytes && floor.bytes_per_s
    ? (floor.bytes_per_s * tokensOf(ladder)) / floor.bytes
    : null;
}

/** Few tokens may take half of the time: then the mean describes none of them. */
export function distribution(headline: Headline): string | null {
  const [few, all] = [headline.half_of_time ?? 0, headline.tokens ?? 0];
  return few > 0 && few * 5 <= all ? `${few} of ${all} tokens took half of all the time.` : null;
}

/** A cost of recording from this share on is on the card. */
const SLOWED = 0.03;

/** Measured, or the share of the probes' step in the ladder. */
export function tracingCost(headline: Headline): string | null {
  const of = headline.slowdown;
  const [text, share] =
    of?.kind === "measured"
      ? ["Measuring slows decode by about", of.slowdown]
      : ["The probes take about", headline.probes_share ?? 0];
  const what = of?.kind === "measured" ? "" : " of a token's time";
  return share >= SLOWED ? `${text} ${Math.round(share * 100)} %${what}.` : null;
}

/** Kinds of causes that are large enough for the headline, in words. */
const CAUSES: [StepKind[], string][] = [
  [["program", "unknown_holder"], "Other programs cost"],
  [["agent"], "The agent cost"],
  [["placement", "shared_cpu"], "Sharing a CPU among the engine's threads cost"],
  [["too_many_threads"], "More threads than CPUs cost"],
  [["idle_team"], "Engine threads that compute nothing cost"],
  [["steal"], "The hypervisor cost"],
  [["throttled"], "A quota or a hypervisor cost"],
  [["interrupts"], "Interrupts cost"],
  [["wake_up"], "Waking threads cost"],
  [["blocked"], "Reading pages from storage, or kernel locks, cost"],
  [["asleep"], "Sleep inside operators cost"],
  [["stopped"], "Stops of the engine cost"],
  [["shared_memory"], "Programs on other CPUs cost"],
  [["lower_speed"], "Operators slower than in the fastest part of the recording cost"],
];

/** The largest cause, if it takes a fifth of the time. */
export function largestCause(ladder: Maybe<Ladder>): string | null {
  const shares = CAUSES.map(([kinds, words]): [string, number] => [
    words,
    list(ladder?.steps).reduce((sum, s) => sum + (kinds.includes(s.kind) ? s.ns : 0), 0) /
      Math.max(1, ladder?.measured_ns ?? 0),
  ]);
  const [words, share] = shares.reduce((a, b) => (b[1] > a[1] ? b : a));
  return share >= HEADLINE ? `${words} ${Math.round(share * 100)} % of a token's time.` : null;
}
