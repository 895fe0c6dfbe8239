// Slots, and the cost of a call by the number of its sequences.

import { list } from "../data/read.ts";
import type { Step, Summary } from "../data/schema.ts";
import { contextColumn } from "../ui/contexts.ts";
import { FIRST_TOKEN, PER_TOKEN } from "../ui/definitions.ts";
import { count, figureText, time } from "../ui/format.ts";
import { table } from "../ui/table.ts";

/** Calls per second, or tokens if each gives several. */
function perSecond(ns: number, tokens = 1): number | null {
  return ns > 0 ? (1e9 / ns) * tokens : null;
}

/** The cost of a call by the number of its sequences; null if each has one. */
export function stepTable(steps: Step[]): HTMLElement | null {
  if (steps.every((s) => s.sequences === 1)) {
    return null;
  }
  return table<Step>({
    name: "steps",
    rows: steps,
    columns: [
      ...contextColumn(steps),
      { key: "sequences", title: "Sequences", numeric: true, value: (s) => s.sequences },
      {
        key: "calls",
        title: "Calls",
        numeric: true,
        value: (s) => s.calls,
        cell: (s) => count(s.calls),
      },
      {
        key: "median_ns",
        title: "Per call",
        tip: "Median duration of a call that gives each of its sequences one token",
        numeric: true,
        value: (s) => s.median_ns,
        cell: (s) => time(s.median_ns),
      },
      {
        key: "token_ns",
        title: "Per token",
        tip: "The same divided by the number of sequences",
        numeric: true,
        value: (s) => s.token_ns,
        cell: (s) => time(s.token_ns),
      },
      {
        key: "all",
        title: "t/s in all",
        numeric: true,
        value: (s) => perSecond(s.median_ns, s.sequences),
        cell: (s) => figureText(perSecond(s.median_ns, s.sequences)),
      },
      {
        key: "each",
        title: "t/s each",
        numeric: true,
        value: (s) => perSecond(s.median_ns),
        cell: (s) => figureText(perSecond(s.median_ns)),
      },
    ],
  }).element;
}

interface SlotRow {
  pid: number;
  context: string | null;
  slot: number;
  requests: number;
  ttft_ns: number | null;
  tpot_ns: number | null;
  cost_ns: number;
}

/** The requests of each slot; null if there is one. */
export function slotTable(summary: Summary): HTMLElement | null {
  const rows = list(summary.server?.contexts).flatMap(({ pid, context, slots }) =>
    list(slots).map(
      (s): SlotRow => ({
        pid,
        context: context ?? null,
        slot: s.slot,
        requests: s.requests,
        ttft_ns: s.ttft_ns.p50 ?? null,
        tpot_ns: s.tpot_ns.p50 ?? null,
        cost_ns: s.cost_ns ?? 0,
      }),
    ),
  );
  if (rows.length < 2) {
    return null;
  }
  return table<SlotRow>({
    name: "slots",
    rows,
    limit: 16,
    columns: [
      ...contextColumn(rows),
      { key: "slot", title: "Slot", numeric: true, value: (r) => r.slot },
      {
        key: "requests",
        title: "Requests",
        numeric: true,
        value: (r) => r.requests,
        cell: (r) => count(r.requests),
      },
      {
        key: "ttft_ns",
        title: "Time to first token",
        tip: `Median. ${FIRST_TOKEN}`,
        numeric: true,
        value: (r) => r.ttft_ns,
        cell: (r) => time(r.ttft_ns),
      },
      {
        key: "tpot_ns",
        title: "Time per token",
        tip: `Median. ${PER_TOKEN}`,
        numeric: true,
        value: (r) => r.tpot_ns,
        cell: (r) => time(r.tpot_ns),
      },
      {
        key: "rate",
        title: "t/s",
        tip: "Of the median time per token",
        numeric: true,
        value: (r) => (r.tpot_ns == null ? null : perSecond(r.tpot_ns)),
        cell: (r) => figureText(r.tpot_ns == null ? null : perSecond(r.tpot_ns)),
      },
      {
        key: "cost_ns",
        title: "Of the calls",
        tip: "The time of each call, divided by the tokens that its slots have in it",
        numeric: true,
        value: (r) => r.cost_ns,
        cell: (r) => time(r.cost_ns),
      },
    ],
  }).element;
}
