// What is to be known of figures of operators: of how many tokens they are, what was left out, and
// what the probes put into them.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Coverage, OpType, Summary } from "../data/schema.ts";
import { h, type Child } from "./dom.ts";
import { count, phaseName, plural } from "./format.ts";

/** The coverage of a phase of which only a part of the calls was traced. */
export function partOf(summary: Summary, phase: Maybe<string>): Coverage | null {
  const found = list(summary.capture?.coverage).find((c) => c.phase === phase);
  return found && (found.traced ?? 0) < (found.calls ?? 0) ? found : null;
}

export function fromPart(c: Coverage): string {
  return `from ${count(c.traced)} of ${count(c.calls)} ${c.phase === "decode" ? "tokens" : `${phaseName(c.phase ?? "")} calls`} in ${plural(c.bursts ?? 0, "burst")}`;
}

/** Times have the waits behind the operators in them. */
export function withWaits(summary: Summary): boolean {
  return summary.capture?.ends === "none";
}

const FILTERED: Record<string, string> = {
  op: "operators of type",
  name: "nodes named",
  layer: "operators of layer",
  thread: "operators on thread",
  token: "operators of decode token",
  request: "operators of request",
};

/** What a section of operators is from; nothing where it is from all of all tokens. */
export function captureNotes(summary: Summary): Child {
  const parts = list(summary.capture?.coverage)
    .filter((c) => partOf(summary, c.phase))
    .map(fromPart);
  const filters = list(summary.capture?.filters).filter((f) => !f.refused);
  const lines = [
    parts.length > 0 ? `Figures are ${parts.join(", ")}. Sums are of these, not scaled.` : "",
    ...filters.map(
      (f) =>
        `Only ${FILTERED[f.on ?? ""] ?? "operators by"} ${f.text ?? ""} were captured; the rest was left out and is not 0.`,
    ),
    withWaits(summary)
      ? "Without ends: each time goes on to the next start and has the wait behind the operator in it."
      : "",
  ].filter(Boolean);
  return lines.length > 0
    ? h(
        "p",
        { class: "capture-note" },
        ...lines.flatMap((line, i) => (i > 0 ? [h("br", {}), line] : [line])),
      )
    : null;
}

/** How much longer each operator looks by its probe. */
export function biasNote(summary: Summary): Child {
  const ns = summary.cost?.probe_inside_ns;
  if (!ns || list(summary.op_types).length === 0) {
    return null;
  }
  const types = list(summary.op_types);
  return h(
    "p",
    { class: "muted" },
    `Each run looks ${count(ns)} ns longer by its probes${types.some((t) => t.biased) ? "; where that is more than a tenth of the median, the operator is marked" : ""}.`,
  );
}

/** Marks a type whose time its own probe makes doubtful. */
export function biasTag(row: Pick<OpType, "biased">): HTMLElement | null {
  return row.biased
    ? h(
        "em",
        {
          class: "tag",
          title: "What its probe puts into its time is more than a tenth of the median",
        },
        "probe",
      )
    : null;
}
