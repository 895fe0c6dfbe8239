// Hardware and software counters per operator type and core type. Null if nothing was counted.

import { list } from "../data/read.ts";
import type { Counted, Summary } from "../data/schema.ts";
import { h } from "../ui/dom.ts";
import { count, figureText, percent, phaseName, time } from "../ui/format.ts";
import { panel, section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";

function countedOf(row: Counted, name: string): { sum: number; spans: number } | null {
  const value = list(row.values).find((v) => v.name === name);
  return value?.sum == null || !value.spans ? null : { sum: value.sum, spans: value.spans };
}

function mean(row: Counted, name: string): number | null {
  const value = countedOf(row, name);
  return value && value.sum / value.spans;
}

/** Instructions per cycle; null unless both were counted in the same spans. */
function ipc(row: Counted): number | null {
  const [instructions, cycles] = [countedOf(row, "INST_RETIRED"), countedOf(row, "CPU_CYCLES")];
  return instructions && cycles && instructions.spans === cycles.spans && cycles.sum > 0
    ? instructions.sum / cycles.sum
    : null;
}

function number(value: number | null): string {
  return value == null ? "–" : value >= 100 ? count(Math.round(value)) : figureText(value);
}

/** Text of a mean that rounds to zero. */
const ZERO = number(0);

export function counterSection(summary: Summary): HTMLElement | null {
  const order = ["decode", "batch_decode", "prefill"];
  const rank = (r: Counted): number =>
    (order.indexOf(r.phase ?? "") + order.length + 1) % (order.length + 1);
  const rows = [...list(summary.counters)].sort((a, b) => rank(a) - rank(b));
  const names = [...new Set(rows.flatMap((r) => list(r.values).map((v) => v.name ?? "")))].filter(
    Boolean,
  );
  if (rows.length === 0) {
    return null;
  }
  // Columns of zeros would push the others out of the window.
  const nothing = names.filter(
    (name) =>
      rows.some((r) => mean(r, name) != null) &&
      rows.every((r) => number(mean(r, name) ?? 0) === ZERO),
  );
  const shown = names.filter((name) => !nothing.includes(name));
  if (shown.length === 0 && !rows.some((r) => r.switches)) {
    return null;
  }
  const least = (r: Counted): number | null =>
    r.spans ? Math.min(...names.map((n) => countedOf(r, n)?.spans ?? 0)) / r.spans : null;
  const grid = table<Counted>({
    name: "counters",
    rows,
    limit: 20,
    columns: [
      { key: "phase", title: "Phase", value: (r) => r.phase, cell: (r) => phaseName(r.phase) },
      { key: "desc", title: "Operator", value: (r) => r.desc || r.op },
      ...(rows.some((r) => r.pmu)
        ? [
            {
              key: "pmu",
              title: "Core",
              value: (r: Counted) => r.pmu,
              cell: (r: Counted) => r.pmu || "–",
            },
          ]
        : []),
      {
        key: "work_ns",
        title: "Work",
        numeric: true,
        value: (r) => r.work_ns,
        cell: (r) => time(r.work_ns),
      },
      ...(rows.some((r) => ipc(r) != null)
        ? [
            {
              key: "ipc",
              title: "IPC",
              numeric: true,
              tip: "Instructions per cycle",
              value: ipc,
              cell: (r: Counted) => number(ipc(r)),
            },
          ]
        : []),
      ...shown.map((name) => ({
        key: name,
        title: name,
        numeric: true,
        tip: `${name}: mean per counted span`,
        value: (r: Counted) => mean(r, name),
        cell: (r: Counted) =>
          h(
            "span",
            {
              title: `${count(countedOf(r, name)?.sum)} in ${count(countedOf(r, name)?.spans)} spans`,
            },
            number(mean(r, name)),
          ),
      })),
      {
        key: "switches",
        title: "Switches",
        numeric: true,
        tip: "How often threads lost their CPU",
        value: (r) => r.switches,
        cell: (r) => count(r.switches),
      },
      {
        key: "counted",
        title: "Counted",
        numeric: true,
        tip: "Share of the spans in which every counter was read",
        value: least,
        cell: (r) => percent(least(r)),
      },
    ],
  });
  const lead = "Means per span, in user mode, without counts of other threads.";
  return section(
    "counters",
    "Counters",
    lead,
    panel(
      "",
      grid.element,
      nothing.length > 0
        ? h("p", { class: "hint" }, `${ZERO} in every row: ${nothing.join(", ")}.`)
        : null,
    ),
  );
}
