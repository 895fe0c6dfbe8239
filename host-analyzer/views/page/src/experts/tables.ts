// Experts in figures: layer by layer, and what pinning the most used ones would be worth.

import type { Num } from "../data/maybe.ts";
import type { Pin, RoutedLayer } from "../data/schema.ts";
import { h } from "../ui/dom.ts";
import { bytes, count, DASH, figureText, percent } from "../ui/format.ts";
import { table, type Table } from "../ui/table.ts";

export function balanceText(value: Num): string {
  return value == null ? DASH : value.toFixed(3);
}

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
        title: "For a token",
        numeric: true,
        tip: "Experts that the router chooses for each token",
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
        title: "By a batch",
        numeric: true,
        tip: "Different experts that a batch uses, mean; in decode a batch is a token",
        value: (l) => l.distinct_per_batch,
        cell: (l) => figureText(l.distinct_per_batch),
      },
      {
        key: "bytes_per_batch",
        title: "Weights",
        numeric: true,
        tip: "Bytes of these experts' weights, mean of a batch",
        value: (l) => l.bytes_per_batch,
        cell: (l) => bytes(l.bytes_per_batch),
      },
      {
        key: "balance",
        title: "Balance",
        numeric: true,
        tip: "Entropy of the uses by the largest possible: 1 when all experts are used equally, 0 when one alone is",
        value: (l) => l.balance,
        cell: (l) => balanceText(l.balance),
      },
      {
        key: "share",
        title: "As token before",
        numeric: true,
        tip: "Part of a token's experts that the token before used too",
        value: (l) => l.reuse?.share,
        cell: (l) => percent(l.reuse?.share),
      },
      {
        key: "median_tokens",
        title: "Distance",
        numeric: true,
        tip: "Decode tokens since the same expert was used the last time, median; 1 is the token before",
        value: (l) => l.reuse?.median_tokens,
        cell: (l) => count(l.reuse?.median_tokens),
      },
      {
        key: "p90_tokens",
        title: "p90",
        numeric: true,
        tip: "90th percentile of that distance",
        value: (l) => l.reuse?.p90_tokens,
        cell: (l) => count(l.reuse?.p90_tokens),
      },
    ],
  });
}

export function pinTable(): Table<Pin> {
  return table<Pin>({
    name: "pins",
    rows: [],
    columns: [
      { key: "rule", title: "Kept in each layer", value: (p) => p.rule },
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
        title: "In hindsight",
        numeric: true,
        tip: "Part of all uses that these experts serve, had they been known from the beginning",
        value: (p) => p.share,
        cell: (p) => percent(p.share),
      },
      {
        key: "ahead_share",
        title: "Picked ahead",
        numeric: true,
        tip: "Part of the uses of the second half of the batches that those serve which the first half used most",
        value: (p) => p.ahead_share,
        cell: (p) => percent(p.ahead_share),
      },
      {
        key: "even_share",
        title: "By chance",
        numeric: true,
        tip: "What picking ahead would serve if every expert were as likely as any other",
        value: (p) => p.even_share,
        cell: (p) => percent(p.even_share),
      },
    ],
  });
}
