// Short names of the checks, and groups of those that lack data.

import type { Maybe } from "../data/maybe.ts";
import { list } from "../data/read.ts";
import type { Missing, NotKnown, Question, RuledOut } from "../data/schema.ts";

/** What was checked. Files of older versions have the code only. */
export function topic(row: Maybe<RuledOut | NotKnown>): string {
  return row?.topic || (row?.code ?? "").replaceAll("_", " ");
}

/** What the calls are that the rules judge. */
export function judgedCalls(question: Maybe<Question>): string {
  switch (question) {
    case "prompt":
      return "calls that read prompts";
    case "encode":
      return "calls of the encoder";
    default:
      return "generated tokens";
  }
}

function needed(missing: Missing, calls: string): string {
  const name = String(missing.name ?? "");
  switch (missing.kind) {
    case "calls":
      return `needs ${name} ${calls}`;
    case "traced_calls":
      return `needs ${name} ${calls} with operators`;
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
        : "no usable measured peak";
    case "fact":
    case "gauge":
      return "not readable here";
    case "counter":
      return "no such counter here";
    case "context_steps":
      return "needs a longer text";
    case "rounds":
      return "no complete draft rounds";
    case "plain_tokens":
      return "needs a recording without guesses";
    case "other_type":
      return "needs a recording with weights of another type";
    case "other_kv_type":
      return "needs a recording with keys of another type";
    case "text_lengths":
      return "needs eight calls with texts of different lengths";
    case "without_neighbours":
      return "needs a recording without the programs on other CPUs";
    case "culprit":
      return "what delays come from was not recorded";
    default:
      return "data missing";
  }
}

/** `clock limits, memory clock (not readable here)`: the checks by what the first of them lacks. */
export function couldNotCheck(rows: NotKnown[], question?: Maybe<Question>): string[] {
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    const first = list(row.missing)[0];
    const why = first ? needed(first, judgedCalls(question)) : "data missing";
    groups.set(why, [...(groups.get(why) ?? []), topic(row)]);
  }
  return [...groups].map(([why, topics]) => `${topics.join(", ")} (${why})`);
}
