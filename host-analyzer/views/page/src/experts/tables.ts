// Tables of experts: per layer, and the benefit of pinning the most used ones.

import type { Pin, RoutedLayer } from "../data/schema.ts";
import { h } from "../ui/dom.ts";
import { bytes, count, figureText, percent } from "../ui/format.ts";
import { table, type Table } from "../ui/table.ts";

/** Entropy in words. */
export const EVENNESS =
  "How evenly the experts are used: 100 % if all equally, 0 % if only one. It is the entropy of the uses divided by the maximum entropy.";

export function layerTable(): Table<RoutedLayer> {
  return table<RoutedLayer>({
    name: "experts",
    rows: [],
    limit: 16,
    columns: [
      {
        key: "layer",
        title: "Layer",
        numeric: true,
        value: (l) => l.layer,
        cell: (l) => h("span", { title: `${l.name ?? ""}: ${l.weights ?? ""}` }, count(l.layer)),
      },
      {
        key: "n_used",
        title: "Per token",
        numeric: true,
        tip: "Experts that the router selects per token",
        value: (l) => l.n_used,
        cell: (l) => count(l.n_used),
      },
      {
        key: "tokens",
        title: "Tokens",
        numeric: true,
        value: (l) => l.tokens,
        cell: (l) => count(l.tokens),
      },
      {
        key: "never_used",
        title: "Never used",
        numeric: true,
        tip: "Experts that no token used",
        value: (l) => l.never_used,
        cell: (l) => `${count(l.never_used)} of ${count(l.n_expert)}`,
      },
      {
        key: "distinct_per_batch",
        title: "Per batch",
        numeric: true,
        tip: "Mean number of different experts per batch; in decode a batch is one token",
        value: (l) => l.distinct_per_batch,
        cell: (l) => figureText(l.distinct_per_batch),
      },
      {
        key: "bytes_per_batch",
        title: "Weights",
        numeric: true,
        tip: "Mean bytes of these experts' weights per batch",
        value: (l) => l.bytes_per_batch,
        cell: (l) => bytes(l.bytes_per_batch),
      },
      {
        key: "balance",
        title: "Evenness",
        numeric: true,
        tip: EVENNESS,
        value: (l) => l.balance,
        cell: (l) => percent(l.balance),
      },
      {
        key: "share",
        title: "Reuse",
        numeric: true,
        tip: "Share of a token's experts that the previous token also used",
        value: (l) => l.reuse?.share,
        cell: (l) => percent(l.reuse?.share),
      },
      {
        key: "median_tokens",
        title: "Last use",
        numeric: true,
        tip: "Tokens since the last use of an expert, median; 1 is the previous token",
        value: (l) => l.reuse?.median_tokens,
        cell: (l) => count(l.reuse?.median_tokens),
      },
      {
        key: "p90_tokens",
        title: "p90",
        numeric: true,
        tip: "Tokens since the last use of an expert, 90th percentile",
        value: (l) => l.reuse?.p90_tokens,
        cell: (l) => count(l.reuse?.p90_tokens),
      },
    ],
  });
}

/** Numbers of experts per layer in words. */
const KEPT: Record<string, string> = {
  n_used: "as many as a token uses",
  "n_expert/4": "a quarter",
  "n_expert/2": "half",
};

export function pinTable(): Table<Pin> {
  return table<Pin>({
    name: "pins",
    rows: [],
    columns: [
      {
        key: "rule",
        title: "Kept per layer",
        value: (p) => p.rule,
        cell: (p) => KEPT[p.rule ?? ""] ?? p.rule,
      },
      {
        key: "experts",
        title: "Experts",
        numeric: true,
        tip: "Over all layers",
        value: (p) => p.experts,
        cell: (p) => count(p.experts),
      },
      {
        key: "bytes",
        title: "Memory",
        numeric: true,
        tip: "Bytes of their weights",
        value: (p) => p.bytes,
        cell: (p) => bytes(p.bytes),
      },
      {
        key: "share",
        title: "Serve at best",
        numeric: true,
        tip: "Share of all uses that these experts serve: an upper limit, because they are chosen by the same uses",
        value: (p) => p.share,
        cell: (p) => percent(p.share),
      },
      {
        key: "ahead_share",
        title: "Serve later",
        numeric: true,
        tip: "Share of the uses in the second half of the batches that the most used experts of the first half serve",
        value: (p) => p.ahead_share,
        cell: (p) => percent(p.ahead_share),
      },
      {
        key: "even_share",
        title: "By chance",
        numeric: true,
        tip: "Share that as many experts serve if all are equally likely",
        value: (p) => p.even_share,
        cell: (p) => percent(p.even_share),
      },
    ],
  });
}
