// The decode tokens of the headline, and where one of them is in the timeline.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Summary, TokenBudget } from "../data/schema.ts";
import { partsOf, type Timeline } from "../data/timeline.ts";

/** Decode tokens of the process with the most decode time. Its first call has no begin, so it is no token. */
export function decodeTokens(summary: Summary): TokenBudget[] {
  const phase = summary.findings?.headline.phase ?? "decode";
  const calls = list(summary.budget?.tokens);
  const callers = new Map(list(summary.tokens?.calls).map((c) => [c.id, c.thread]));
  const processes = new Map(list(summary.threads).map((t) => [t.tid, t.pid]));
  const pid = (t: TokenBudget): number | undefined => processes.get(callers.get(t.call) ?? -1);
  const time = new Map<number | undefined, number>();
  for (const token of calls.filter((t) => t.phase === phase)) {
    time.set(pid(token), (time.get(pid(token)) ?? 0) + (token.time_ns ?? 0));
  }
  const most = [...time].sort((a, b) => b[1] - a[1])[0]?.[0];
  const own = calls.filter((t) => pid(t) === most).slice(1);
  return own.filter((t) => t.phase === phase);
}

export function longest(tokens: TokenBudget[]): TokenBudget | null {
  return tokens.reduce<TokenBudget | null>((a, b) => (a && a.time_ns >= b.time_ns ? a : b), null);
}

/** Whether the page's timeline contains the token. */
export function isShown(token: TokenBudget, timeline: Maybe<Timeline>): boolean {
  return (
    timeline != null &&
    partsOf(timeline).some(
      (part) => token.start_ns >= part.start_ns && token.start_ns + token.time_ns <= part.end_ns,
    )
  );
}

/** Heights from 0 to 1. Logarithmic if one token is far above the median. */
export function heights(times: number[], median: number): { values: number[]; log: boolean } {
  const top = Math.max(1, ...times);
  const low = Math.max(1, Math.min(...times) / 2);
  const log = top > 4 * median;
  const at = (ns: number): number =>
    log ? Math.log(Math.max(ns, low) / low) / Math.log(top / low) : ns / top;
  return { values: times.map(at), log };
}

/** At most `most` columns; a column has the longest of its tokens. */
export function columnsOf(times: number[], most: number): number[] {
  const each = Math.max(1, Math.ceil(times.length / most));
  return Array.from({ length: Math.ceil(times.length / each) }, (_, i) =>
    Math.max(...times.slice(i * each, (i + 1) * each)),
  );
}
