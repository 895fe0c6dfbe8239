// Short names of the checks, and groups of those that lack data.

import type { Maybe } from "../data/maybe.ts";
import { list } from "../data/read.ts";
import type { Missing, NotKnown } from "../data/schema.ts";

/** Names of the checks by the code of the rule (docs/findings.md). */
const TOPICS: Record<string, string> = {
  bandwidth: "memory bandwidth",
  clock_limit: "clock limits",
  context_growth: "context length",
  cpu_variant: "CPU build",
  double_copy: "second copy of the weights",
  draft: "draft model",
  experts: "experts",
  fake_numa: "memory banks",
  few_threads: "idle CPUs",
  heat: "temperature",
  huge_pages: "page size",
  kernels: "arithmetic",
  memory_clock: "memory clock",
  migrations: "moves between CPUs",
  mixed_cores: "core types",
  paging: "page-ins",
  passive_wait: "sleep at barriers",
  polling: "spinning while idle",
  preempted: "other programs",
  prefix: "repeated prompts",
  quota: "CPU quota",
  repacking: "weight types",
  sampling: "sampling",
  shared_cpu: "threads that share a CPU",
  splits: "splits between backends",
  stopped: "stop signals",
  small_batches: "prompt batches",
  too_many_threads: "thread count",
};

export function hasTopic(code: string): boolean {
  return code in TOPICS;
}

/** A rule without a name here is named by its code. */
export function topic(code: Maybe<string>): string {
  return TOPICS[code ?? ""] ?? (code ?? "").replaceAll("_", " ");
}

function needed(missing: Missing): string {
  const name = String(missing.name ?? "");
  switch (missing.kind) {
    case "decode_calls":
      return `needs ${name} generated tokens`;
    case "traced_calls":
      return `needs ${name} tokens with operators`;
    case "ends":
      return "recorded without ends of operators";
    case "all_operators":
      return "recorded with a filter";
    case "cpus":
      return "CPUs of operators not recorded";
    case "level":
      return "needs --levels all";
    case "ceiling":
      return missing.why == null || missing.why === "not_measured"
        ? "needs --bench"
        : "no usable ceiling";
    case "fact":
    case "gauge":
      return "not readable here";
    case "counter":
      return "no such counter here";
    case "context_steps":
      return "needs a longer text";
    case "rounds":
      return "no complete draft rounds";
    default:
      return "data missing";
  }
}

/** `clock limits, memory clock (not readable here)`: the checks by what the first of them lacks. */
export function couldNotCheck(rows: NotKnown[]): string[] {
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    const first = list(row.missing)[0];
    const why = first ? needed(first) : "data missing";
    groups.set(why, [...(groups.get(why) ?? []), topic(row.code)]);
  }
  return [...groups].map(([why, topics]) => `${topics.join(", ")} (${why})`);
}
