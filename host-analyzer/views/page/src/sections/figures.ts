// Figures of programs without llama_decode calls, and the table of requests.

import { hasTokenLevel } from "../data/levels.ts";
import { list } from "../data/read.ts";
import type { Num } from "../data/maybe.ts";
import type { Request, Summary } from "../data/schema.ts";
import { contextColumn } from "../ui/contexts.ts";
import { FIRST_TOKEN, PER_TOKEN } from "../ui/definitions.ts";
import { figure, h } from "../ui/dom.ts";
import { count, figureText, time } from "../ui/format.ts";
import { type Column, table } from "../ui/table.ts";

function card(
  title: string,
  tip: string,
  key: string,
  value: Num,
  text: string,
  note: string,
): HTMLElement {
  return h(
    "div",
    { class: "card", title: tip },
    h("div", { class: "title" }, title),
    h("div", { class: "value" }, figure(key, value, text)),
    h("div", { class: "note" }, note),
  );
}

/** Figures of a program without llama_decode calls: graphs and operators. Null for others. */
export function graphFigures(summary: Summary): HTMLElement | null {
  if (hasTokenLevel(summary)) {
    return null;
  }
  const graphs = list(summary.graphs);
  const scheduler = graphs.filter((g) => g.layer === "scheduler");
  const whole = scheduler.length > 0 ? scheduler : graphs;
  const types = list(summary.op_types);
  const sum = (values: Num[]): number => values.reduce<number>((a, b) => a + (b ?? 0), 0);
  const [calls, ns] = [sum(whole.map((g) => g.calls)), sum(whole.map((g) => g.time_ns))];
  const [runs, wall] = [sum(types.map((t) => t.executions)), sum(types.map((t) => t.wall_ns))];
  return h(
    "div",
    { class: "cards", id: "figures" },
    card(
      "Graph calls",
      "Complete graphs that the program gave to the scheduler",
      "graph_calls",
      calls,
      count(calls),
      calls > 0 ? `mean ${time(ns / calls)}` : "",
    ),
    card("Time in graphs", "Sum of the graph call durations", "graph_ns", ns, time(ns), ""),
    card(
      "Operator runs",
      "Executions of operators; one execution covers all its threads",
      "op_runs",
      runs,
      count(runs),
      runs > 0 ? `${time(wall)} of wall time` : "",
    ),
  );
}

/** A column with the time of an encoder of images or sound; empty if no request has any. */
function encoderColumn(requests: Request[]): Column<Request>[] {
  if (requests.every((r) => !r.encode_ns)) {
    return [];
  }
  return [
    {
      key: "encode_ns",
      title: "Of it, encoder",
      numeric: true,
      tip: "Part of the time to first token in which an encoder of images or sound computed",
      value: (r) => r.encode_ns,
      cell: (r) => time(r.encode_ns),
    },
  ];
}

export function requestTable(requests: Request[]): HTMLElement {
  return table<Request>({
    name: "requests",
    rows: requests,
    limit: 20,
    columns: [
      {
        key: "index",
        title: "Request",
        numeric: true,
        value: (r) => r.index,
        cell: (r) => count(r.index == null ? null : r.index + 1),
      },
      ...contextColumn(requests),
      {
        key: "prompt_tokens",
        title: "Prompt tokens",
        numeric: true,
        value: (r) => r.prompt_tokens,
        cell: (r) => count(r.prompt_tokens),
      },
      {
        key: "ttft_ns",
        title: "Time to first token",
        numeric: true,
        tip: FIRST_TOKEN,
        value: (r) => r.ttft_ns,
        cell: (r) => time(r.ttft_ns),
      },
      ...encoderColumn(requests),
      {
        key: "generated",
        title: "Generated",
        numeric: true,
        value: (r) => r.generated,
        cell: (r) => count(r.generated),
      },
      {
        key: "tpot_ns",
        title: "Time per token",
        numeric: true,
        tip: PER_TOKEN,
        value: (r) => r.tpot_ns,
        cell: (r) => time(r.tpot_ns),
      },
      {
        key: "decode_tokens_per_s",
        title: "Decode t/s",
        numeric: true,
        value: (r) => r.decode_tokens_per_s,
        cell: (r) => figureText(r.decode_tokens_per_s),
      },
    ],
  }).element;
}
