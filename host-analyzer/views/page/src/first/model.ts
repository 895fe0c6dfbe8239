// What the recording shows of the model: its files, types, layers and size.

import { list } from "../data/read.ts";
import type { Dag, Summary, Weights } from "../data/schema.ts";
import { bytes, plural } from "../ui/format.ts";

/** A type with a smaller share of the bytes is not named. */
const NAMED_SHARE = 0.05;

function base(path: string): string {
  return path.split("/").pop() ?? "";
}

/** Files of the weights, the one with the most bytes first. Split models give their first part. */
function files(weights: Weights[]): string[] {
  const largest = new Map<string, number>();
  for (const { memory, path, bytes: size } of weights.flatMap((w) => list(w.buffers))) {
    if (memory === "file" && path) {
      largest.set(base(path), Math.max(largest.get(base(path)) ?? 0, size ?? 0));
    }
  }
  return [...largest].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

/** The file that a command line names after `-m` or `--model`; null without one. */
export function namedModel(command: string): string | null {
  const named = /(?:^|\s)(?:-m|--model)[\s=](\S+)/.exec(command)?.[1];
  return named ? base(named) : null;
}

/** Name of the model by its file; null if neither the weights nor the command line name one. */
export function modelName(summary: Summary): string | null {
  const mapped = files(list(summary.weights));
  const named = list(summary.session?.processes).flatMap((p) => namedModel(p.command ?? "") ?? []);
  const names = mapped.length > 0 ? mapped : [...new Set(named)];
  return names.length > 0 ? names.join(" + ") : null;
}

/** `q4_1 69 %, q8_0 31 %`: types of the weights by bytes; empty if no graph was recorded. */
export function weightTypes(dag: Dag | null): string {
  const sizes = new Map<string, [string, number]>();
  for (const graph of list(dag?.graphs)) {
    for (const node of list(graph.nodes)) {
      if (node.role === "weight") {
        sizes.set(`${graph.context} ${node.name}`, [node.dtype ?? "", node.bytes ?? 0]);
      }
    }
  }
  const types = new Map<string, number>();
  let all = 0;
  for (const [type, size] of sizes.values()) {
    types.set(type, (types.get(type) ?? 0) + size);
    all += size;
  }
  const named = [...types]
    .filter(([, size]) => size > 0 && size >= all * NAMED_SHARE)
    .sort((a, b) => b[1] - a[1]);
  return named.length === 1
    ? named[0]![0]
    : named.map(([type, size]) => `${type} ${Math.round((size / all) * 100)} %`).join(", ");
}

/** Types, layers and size, as far as they are known. */
export function modelFacts(summary: Summary, dag: Dag | null): string[] {
  const layers = list(summary.work?.layers).reduce((n, l) => Math.max(n, (l.layer ?? -1) + 1), 0);
  const largest = list(summary.weights).reduce((n, w) => Math.max(n, w.bytes ?? 0), 0);
  return [
    weightTypes(dag),
    layers > 0 ? plural(layers, "layer") : "",
    largest > 0 ? bytes(largest) : "",
  ].filter(Boolean);
}
