// Time per operator type, one table per phase.

import { list } from "../data/read.ts";
import type { OpType, Summary } from "../data/schema.ts";
import type { OperatorColours } from "../ui/colour.ts";
import { h } from "../ui/dom.ts";
import { count, time } from "../ui/format.ts";
import { biasNote, biasTag, captureNotes, withWaits } from "../ui/capture.ts";
import { panel, section, shareBar, swatch } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { BARRIER, shareColumn } from "./columns.ts";

const PHASES: [string, string][] = [
  ["prefill", "Prefill"],
  ["decode", "Decode"],
  ["batch_decode", "Batch decode"],
  ["draft", "Draft"],
  ["warm_up", "Warm-up"],
  ["encode", "Encode"],
];

/**
 * The engine's description of an operator, for example `SILU` for a `UNARY`; otherwise its type.
 */
export function opName(row: {
  op?: string | null | undefined;
  desc?: string | null | undefined;
}): string {
  return row.desc || row.op || "?";
}

/** Tag for backends other than the CPU. */
export function backendTag(row: { backend: string; host_side?: boolean }): HTMLElement | null {
  if (!row.backend || row.backend === "CPU") {
    return null;
  }
  const tip =
    "Computed by this backend. The share is relative to the operator time on this backend.";
  const host =
    " Host side: time to submit the operator. Its kernel runs later and is in no operator time.";
  return h(
    "em",
    { class: "tag", title: row.host_side ? tip + host : tip },
    row.host_side ? `${row.backend}, host side` : row.backend,
  );
}

/** The 95 % interval of the share. */
function interval(row: OpType): string {
  const ends = row.estimate?.share?.interval;
  return ends?.low == null || ends.high == null
    ? ""
    : `${(ends.low * 100).toFixed(1)}–${(ends.high * 100).toFixed(1)} %`;
}

function typeTable(
  phase: string,
  rows: OpType[],
  colours: OperatorColours,
  waits: boolean,
): HTMLElement {
  return table<OpType>({
    name: `op_types ${phase}`,
    rows,
    sort: { key: "wall_ns", down: true },
    limit: 14,
    columns: [
      {
        key: "desc",
        title: "Operator",
        value: (r) => opName(r),
        cell: (r) =>
          h(
            "span",
            { class: "op", title: r.op, data: { op: r.op } },
            swatch(colours.of(opName(r))),
            opName(r),
            backendTag(r),
            biasTag(r),
          ),
      },
      {
        ...shareColumn<OpType>((r) => colours.of(opName(r))),
        cell: (r) => h("span", { title: interval(r) }, shareBar(r.share, colours.of(opName(r)))),
      },
      ...(rows.some((r) => r.estimate)
        ? [
            {
              key: "estimate",
              title: "95 %",
              numeric: true,
              tip: "95 % interval of the share: only some of the tokens were traced",
              value: (r: OpType) => r.estimate?.share?.interval?.low,
              cell: (r: OpType) => interval(r) || "–",
            },
          ]
        : []),
      {
        key: "wall_ns",
        title: waits ? "Wall + wait" : "Wall",
        numeric: true,
        tip: waits
          ? "From start to next start, including the barrier wait"
          : "First start to last end over the threads, summed over executions",
        value: (r) => r.wall_ns,
        cell: (r) => time(r.wall_ns),
      },
      {
        key: "work_ns",
        title: waits ? "Work + wait" : "Work",
        numeric: true,
        tip: waits ? "From start to next start, summed over threads" : "Work, summed over threads",
        value: (r) => r.work_ns,
        cell: (r) => time(r.work_ns),
      },
      BARRIER,
      {
        key: "executions",
        title: "Runs",
        numeric: true,
        tip: "Number of executions",
        value: (r) => r.executions,
        cell: (r) => count(r.executions),
      },
    ],
  }).element;
}

export function opTypeSection(summary: Summary, colours: OperatorColours): HTMLElement {
  const rows = list(summary.op_types);
  const unknown = rows.filter((r) => !PHASES.some(([key]) => key === r.phase));
  // A program without llama_decode calls has no phases.
  const phased = unknown.length < rows.length || rows.length === 0;
  // Prefill and decode always have a panel, so that missing data is visible.
  const known = PHASES.map(([key, title]) => ({
    key,
    title,
    rows: rows.filter((r) => r.phase === key),
  })).filter((p, i) => i < 2 || p.rows.length > 0);
  const panels = phased
    ? known.map((p) => panel(p.title, typeTable(p.key, p.rows, colours, withWaits(summary))))
    : [];
  if (unknown.length > 0) {
    panels.push(
      panel(
        phased ? "Phase unknown" : "All graphs",
        typeTable("unknown", unknown, colours, withWaits(summary)),
      ),
    );
  }
  const what = `Operator time per type${phased ? " and phase" : ""}. Wall: from the first start to the last end over the threads. Work and Barrier: time in the operators, and waiting after them, summed over threads.`;
  return section(
    "op-types",
    "Operator types",
    what,
    captureNotes(summary),
    biasNote(summary),
    h("div", { class: "halves" }, ...panels),
  );
}
