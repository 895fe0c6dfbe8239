// Growth of the decode time with the number of KV cells, and the operators that cause it.

import { list } from "../data/read.ts";
import type { Maybe, Num } from "../data/maybe.ts";
import type { GrowingOperators, Growth, Kv } from "../data/schema.ts";
import { h, type Child } from "../ui/dom.ts";
import { count, DASH, percent, time } from "../ui/format.ts";
import { panel, section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";

function signed(ns: Num): string {
  return ns == null ? DASH : ns < 0 ? `−${time(-ns)}` : time(ns);
}

function slope(g: Growth): string {
  return `${signed(g.ns_per_1000_cells)} (${signed(g.low_ns)} to ${signed(g.high_ns)})`;
}

function one(token: Growth, kv: Kv): Child {
  const { at_limit } = kv;
  const limit = at_limit
    ? ` With a full cache (${count(kv.limit_cells)} KV cells): ${time(at_limit.token_ns)} per token (${time(at_limit.low_ns)} to ${time(at_limit.high_ns)}).`
    : "";
  const steps = table({
    name: "kv-steps",
    rows: list(kv.steps),
    limit: 12,
    columns: [
      {
        key: "cells",
        title: "KV cells",
        numeric: true,
        value: (s) => s.cells,
        cell: (s) => count(s.cells),
      },
      {
        key: "tokens",
        title: "Tokens",
        numeric: true,
        value: (s) => s.tokens,
        cell: (s) => count(s.tokens),
      },
      {
        key: "median_ns",
        title: "Median",
        numeric: true,
        value: (s) => s.median_ns,
        cell: (s) => time(s.median_ns),
      },
    ],
  });
  const growing = table<GrowingOperators>({
    name: "kv-operators",
    rows: list(kv.names),
    limit: 10,
    columns: [
      { key: "name", title: "Operators", class: "mono", value: (o) => o.name ?? o.desc },
      { key: "op", title: "Type", value: (o) => o.desc || o.op },
      {
        key: "ns_per_1000_cells",
        title: "Per 1,000 KV cells",
        numeric: true,
        tip: "Extra time per token for 1,000 more KV cells, with the 95 % interval",
        value: (o) => o.ns_per_1000_cells,
        cell: slope,
      },
      {
        key: "grows",
        title: "Grows",
        value: (o) => o.grows,
        cell: (o) => (o.grows ? "yes" : "not significant"),
      },
      {
        key: "share",
        title: "Share now",
        numeric: true,
        value: (o) => o.share,
        cell: (o) => percent(o.share),
      },
    ],
  });
  return h(
    "div",
    {},
    h(
      "p",
      {
        class: "lead",
        data: { key: "kv.ns_per_1000_cells", value: token.ns_per_1000_cells ?? "" },
      },
      `${slope(token)} per token for every 1,000 KV cells.${limit}`,
    ),
    h(
      "div",
      { class: "halves" },
      panel("Operators", growing.element),
      panel("Steps", steps.element),
    ),
  );
}

/** Null if no growth is known. */
export function contextSection(kv: Maybe<Kv[]>): HTMLElement | null {
  // Without three steps of the KV cache nothing is known; "Could not check" on the first screen has it.
  const rows = list(kv).flatMap((row) => (row.token ? [one(row.token, row)] : []));
  return rows.length === 0
    ? null
    : section("context", "Context", "Growth of the decode time with the context length.", ...rows);
}
