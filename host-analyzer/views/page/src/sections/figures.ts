// Key figures, and the table of requests.

import { hasTokenLevel } from "../data/levels.ts";
import { list } from "../data/read.ts";
import type { Num } from "../data/maybe.ts";
import type { Request, Summary } from "../data/schema.ts";
import { contextColumn } from "../ui/contexts.ts";
import { figure, h } from "../ui/dom.ts";
import { count, DASH, figureText, plural, time } from "../ui/format.ts";
import { table } from "../ui/table.ts";

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

function rate(perSecond: Num): string {
  return perSecond == null ? DASH : `${figureText(perSecond)} tok/s`;
}

/** The request used for the key figures: the first one that generated tokens. */
function mainRequest(requests: Request[]): Request | undefined {
  return requests.find((r) => r.ttft_ns != null && (r.generated ?? 0) > 0) ?? requests[0];
}

/** Figures of a program without llama_decode calls: graphs and operators. */
function graphFigures(summary: Summary): HTMLElement {
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

export function figures(summary: Summary): HTMLElement {
  if (!hasTokenLevel(summary)) {
    return graphFigures(summary);
  }
  const requests = list(summary.tokens?.requests);
  const main = mainRequest(requests);
  const prefill = summary.tokens?.prefill;
  const decode = summary.tokens?.decode;
  const batch = summary.tokens?.batch_decode;
  const which =
    requests.length > 1 && main ? `request ${(main.index ?? 0) + 1} of ${requests.length}` : "";
  const prompt =
    main?.prompt_tokens == null
      ? which
      : [plural(main.prompt_tokens, "prompt token"), which].filter(Boolean).join(" · ");
  // From the headline, so that equal names have equal values on the page.
  const headline = summary.findings?.headline;
  const tpot = headline?.token_ns ?? main?.tpot_ns;
  const of =
    headline?.token_ns != null
      ? `mean of ${plural(headline.tokens ?? 0, "token")}`
      : main?.generated == null
        ? which
        : [`${count(main.generated)} generated`, which].filter(Boolean).join(" · ");
  const spread =
    headline?.median_ns == null
      ? ""
      : `median ${time(headline.median_ns)} · p95 ${time(headline.p95_ns)}`;
  const calls = (prefill?.calls ?? 0) + (decode?.calls ?? 0);
  return h(
    "div",
    { class: "cards", id: "figures" },
    card(
      "TTFT",
      "Time to first token: start of the first prefill call to the end of the last",
      "ttft_ns",
      main?.ttft_ns,
      time(main?.ttft_ns),
      prompt,
    ),
    card(
      "TPOT",
      "Time per output token: mean time between the ends of decode calls, including sampling. Excludes the first decode token, which warms up the caches",
      "tpot_ns",
      tpot,
      time(tpot),
      of,
    ),
    card(
      prefill?.phase_by_token_count ? "Prefill, by token count" : "Prefill",
      "Prompt tokens per second in prefill calls",
      "prefill_tokens_per_s",
      prefill?.tokens_per_s,
      rate(prefill?.tokens_per_s),
      prefill?.tokens == null
        ? ""
        : `${plural(prefill.tokens, "token")} in ${time(prefill.time_ns)}`,
    ),
    card(
      "Decode",
      "Tokens per second, including sampling: 1 / TPOT",
      "tokens_per_s",
      headline?.tokens_per_s,
      rate(headline?.tokens_per_s),
      spread,
    ),
    card(
      "Decode, calls only",
      "Tokens per second in decode calls, without the time between them, including the first token: the engine's eval time",
      "decode_tokens_per_s",
      decode?.tokens_per_s,
      rate(decode?.tokens_per_s),
      "without sampling",
    ),
    ...(batch?.calls
      ? [
          card(
            "Batch decode",
            "Tokens per second in calls with parallel sequences or draft verification",
            "batch_decode_tokens_per_s",
            batch.tokens_per_s,
            rate(batch.tokens_per_s),
            `${plural(batch.tokens ?? 0, "token")} in ${time(batch.time_ns)}`,
          ),
        ]
      : []),
    card(
      "Calls",
      "llama_decode calls",
      "calls",
      summary.tokens ? calls : null,
      summary.tokens ? count(calls) : DASH,
      summary.tokens
        ? `${count(prefill?.calls ?? 0)} prefill · ${count(decode?.calls ?? 0)} decode`
        : "",
    ),
  );
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
        title: "TTFT",
        numeric: true,
        value: (r) => r.ttft_ns,
        cell: (r) => time(r.ttft_ns),
      },
      {
        key: "generated",
        title: "Generated",
        numeric: true,
        value: (r) => r.generated,
        cell: (r) => count(r.generated),
      },
      {
        key: "tpot_ns",
        title: "TPOT",
        numeric: true,
        value: (r) => r.tpot_ns,
        cell: (r) => time(r.tpot_ns),
      },
      {
        key: "decode_tokens_per_s",
        title: "Decode tok/s",
        numeric: true,
        value: (r) => r.decode_tokens_per_s,
        cell: (r) => figureText(r.decode_tokens_per_s),
      },
    ],
  }).element;
}
