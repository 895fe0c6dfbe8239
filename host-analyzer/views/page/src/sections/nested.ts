// Backend functions called inside operators: CLBlast products in operators of the CPU backend, RKNN
// parts on the cores of the NPU.

import { list } from "../data/read.ts";
import type { NestedCalls, Summary } from "../data/schema.ts";
import { captureNotes } from "../ui/capture.ts";
import type { OperatorColours } from "../ui/colour.ts";
import { h } from "../ui/dom.ts";
import { count, time } from "../ui/format.ts";
import { panel, section, shareBar, swatch } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { opName } from "./op_types.ts";

/** Null without such calls, as on most engines. */
export function nestedSection(summary: Summary, colours: OperatorColours): HTMLElement | null {
  const rows = list(summary.nested_calls);
  if (rows.length === 0) {
    return null;
  }
  const grid = table<NestedCalls>({
    name: "nested_calls",
    rows,
    sort: { key: "time_ns", down: true },
    columns: [
      {
        key: "desc",
        title: "Operator",
        value: (r) => opName(r),
        cell: (r) => h("span", { class: "op" }, swatch(colours.of(opName(r))), opName(r)),
      },
      { key: "phase", title: "Phase", value: (r) => r.phase },
      { key: "function", title: "Function", class: "mono", value: (r) => r.function },
      { key: "backend", title: "Backend", value: (r) => r.backend },
      {
        key: "calls",
        title: "Calls",
        numeric: true,
        value: (r) => r.calls,
        cell: (r) => count(r.calls),
      },
      {
        key: "time_ns",
        title: "Time",
        numeric: true,
        tip: "Durations of the calls, summed over threads",
        value: (r) => r.time_ns,
        cell: (r) => time(r.time_ns),
      },
      {
        key: "wall_ns",
        title: "Wall",
        numeric: true,
        tip: "Time in which at least one such call was running",
        value: (r) => r.wall_ns,
        cell: (r) => time(r.wall_ns),
      },
      {
        key: "share",
        title: "Share",
        numeric: true,
        tip: "Share of the wall time of the operators around the calls",
        value: (r) => r.share,
        cell: (r) => shareBar(r.share, colours.of(opName(r))),
      },
    ],
  });
  return section(
    "nested-calls",
    "Nested calls",
    "Backend functions called inside operators. Operator times include these calls.",
    captureNotes(summary),
    panel("", grid.element),
  );
}
