// Notes on operator figures: how many tokens they cover, filters, and probe overhead.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Coverage, OpType, Summary } from "../data/schema.ts";
import { h, type Child } from "./dom.ts";
import { count, phaseName, plural } from "./format.ts";

/** Coverage of a phase if only some of its calls were traced. */
function partOf(summary: Summary, phase: Maybe<string>): Coverage | null {
  const found = list(summary.capture?.coverage).find((c) => c.phase === phase);
  return found && (found.traced ?? 0) < (found.calls ?? 0) ? found : null;
}

function fromPart(c: Coverage): string {
  return `from ${count(c.traced)} of ${count(c.calls)} ${c.phase === "decode" ? "tokens" : `${phaseName(c.phase ?? "")} calls`} in ${plural(c.bursts ?? 0, "burst")}`;
}

/** Operator times include the barrier waits. */
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

/** Which calls and operators a section covers; null if it covers all. */
export function captureNotes(summary: Summary): Child {
  const parts = list(summary.capture?.coverage)
    .filter((c) => partOf(summary, c.phase))
    .map(fromPart);
  const filters = list(summary.capture?.filters).filter((f) => !f.refused);
  const lines = [
    parts.length > 0 ? `Figures are ${parts.join(", ")}. Sums are not scaled up.` : "",
    ...filters.map(
      (f) =>
        `Filter: only ${FILTERED[f.on ?? ""] ?? "operators by"} ${f.text ?? ""} were captured.`,
    ),
    withWaits(summary)
      ? "Captured without operator ends: times last until the next start and include the barrier wait."
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

/** Apparent extra time of each operator by its probe. */
export function biasNote(summary: Summary): Child {
  const ns = summary.cost?.probe_inside_ns;
  if (!ns || list(summary.op_types).length === 0) {
    return null;
  }
  const types = list(summary.op_types);
  return h(
    "p",
    { class: "muted" },
    `Probes add ${count(ns)} ns to each run${types.some((t) => t.biased) ? "; operators are marked if that exceeds 10 % of the median" : ""}.`,
  );
}

/** Marks a type whose time is dominated by probe overhead. */
export function biasTag(row: Pick<OpType, "biased">): HTMLElement | null {
  return row.biased
    ? h(
        "em",
        {
          class: "tag",
          title: "Probe overhead exceeds 10 % of the median time",
        },
        "probe",
      )
    : null;
}
