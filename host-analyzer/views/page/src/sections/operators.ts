// Operators by tensor name: sortable, with a filter.

import { list } from "../data/read.ts";
import type { Operator, Summary } from "../data/schema.ts";
import type { OperatorColours } from "../ui/colour.ts";
import { h } from "../ui/dom.ts";
import { contextColumn } from "../ui/contexts.ts";
import { count, dims, phaseName, plural, time } from "../ui/format.ts";
import { captureNotes, withWaits } from "../ui/capture.ts";
import { choice, panel, section, swatch } from "../ui/parts.ts";
import { onPart } from "../ui/part_link.ts";
import { table } from "../ui/table.ts";
import { BARRIER, shareColumn } from "./columns.ts";
import { backendTag, opName } from "./op_types.ts";

function sources(row: Operator): string {
  return list(row.src)
    .map((x) => `${x.name || "?"} ${x.dtype ?? ""} ${dims(x.ne)}`)
    .join("\n");
}

/** Module and layer, in the syntax of the filter. */
function part(row: Operator): string {
  return `module:${row.module ?? "other"} layer:${row.layer ?? "none"}`;
}

/** Operators of the same name in all layers. */
interface Named {
  name: string;
  op: string;
  backend: string;
  layers: number;
  executions: number;
  wall_ns: number;
  wait_ns: number;
  share: number;
}

export const UNNAMED = "unnamed";

/** `ffn_up-3` in layer 3 is `ffn_up`. The engine numbers nodes without a name. */
export function nameWithoutLayer(row: Pick<Operator, "name" | "layer">): string {
  const name = (row.name ?? "").replace(/^node_\d+/, UNNAMED);
  return row.layer == null ? name : name.replace(new RegExp(`-${row.layer}(?!\\d)`), "");
}

export function byName(rows: Operator[]): Named[] {
  const all = new Map<string, Named>();
  for (const row of rows) {
    const [name, op] = [nameWithoutLayer(row), opName(row)];
    const { backend } = row;
    const key = [name, op, backend].join("\n");
    const sum = all.get(key) ?? {
      ...{ name, op, backend },
      ...{ layers: 0, executions: 0, wall_ns: 0, wait_ns: 0, share: 0 },
    };
    sum.layers += 1;
    sum.executions += row.executions ?? 0;
    sum.wall_ns += row.wall_ns ?? 0;
    sum.wait_ns += row.wait_ns ?? 0;
    sum.share += row.share ?? 0;
    all.set(key, sum);
  }
  return [...all.values()];
}

function namedTable(colours: OperatorColours): ReturnType<typeof table<Named>> {
  return table<Named>({
    name: "operator names",
    rows: [],
    limit: 15,
    sort: { key: "wall_ns", down: true },
    columns: [
      { key: "name", title: "Tensor", class: "mono", value: (r) => r.name || "–" },
      {
        key: "op",
        title: "Operator",
        value: (r) => r.op,
        cell: (r) => h("span", { class: "op" }, swatch(colours.of(r.op)), r.op, backendTag(r)),
      },
      shareColumn((r) => colours.of(r.op)),
      {
        key: "wall_ns",
        title: "Wall",
        numeric: true,
        tip: "First start to last end over the threads, summed over executions",
        value: (r) => r.wall_ns,
        cell: (r) => time(r.wall_ns),
      },
      BARRIER,
      {
        key: "layers",
        title: "Nodes",
        numeric: true,
        tip: "Nodes of this name, usually one per layer",
        value: (r) => r.layers,
      },
    ],
  });
}

function haystack(row: Operator): string {
  return [
    row.name,
    row.op,
    row.desc,
    row.dtype,
    row.backend,
    part(row),
    ...list(row.src).map((x) => x.name),
  ]
    .join(" ")
    .toLowerCase();
}

export function operatorSection(summary: Summary, colours: OperatorColours): HTMLElement {
  const rows = list(summary.operators);
  const text = new Map(rows.map((r) => [r, haystack(r)]));
  const present = [
    "decode",
    "batch_decode",
    "prefill",
    "encode",
    "draft",
    "warm_up",
    "unknown",
  ].filter((p) => rows.some((r) => r.phase === p));
  const phases = present.length > 0 ? present : ["decode"];
  let phase = phases[0]!;
  let query = "";
  const found = h("span", { class: "muted", "aria-live": "polite" });
  const grid = table<Operator>({
    name: "operators",
    rows: [],
    limit: 40,
    sort: { key: "wall_ns", down: true },
    columns: [
      {
        key: "name",
        title: "Tensor",
        class: "mono",
        value: (r) => r.name,
        cell: (r) =>
          h(
            "span",
            { title: sources(r) },
            r.name || "–",
            (r.nth ?? 1) > 1
              ? h(
                  "span",
                  { class: "muted", title: "Number among the nodes with this name and operator" },
                  ` #${r.nth}`,
                )
              : null,
            r.fused
              ? h(
                  "em",
                  {
                    class: "tag",
                    title: `Computed by one kernel together with the following nodes, up to ${r.fused}`,
                  },
                  "fused",
                )
              : null,
          ),
      },
      ...contextColumn(rows),
      {
        key: "op",
        title: "Operator",
        value: (r) => opName(r),
        cell: (r) =>
          h("span", { class: "op" }, swatch(colours.of(opName(r))), opName(r), backendTag(r)),
      },
      ...(rows.some((r) => r.module && r.module !== "other")
        ? [
            {
              key: "module",
              title: "Module",
              tip: "Module and layer of the model",
              value: (r: Operator) => r.module,
              cell: (r: Operator) => `${r.module ?? "–"}${r.layer == null ? "" : ` ${r.layer}`}`,
            },
          ]
        : []),
      { key: "ne", title: "Dimensions", class: "mono", value: (r) => dims(r.ne) },
      { key: "dtype", title: "Type", class: "mono", value: (r) => r.dtype },
      {
        key: "executions",
        title: "Runs",
        numeric: true,
        value: (r) => r.executions,
        cell: (r) => count(r.executions),
      },
      {
        key: "median_ns",
        title: withWaits(summary) ? "Median + wait" : "Median",
        numeric: true,
        tip: "Median wall time per execution",
        value: (r) => r.median_ns,
        cell: (r) => time(r.median_ns),
      },
      {
        key: "p95_ns",
        title: "p95",
        numeric: true,
        tip: "95th percentile of the wall time per execution",
        value: (r) => r.p95_ns,
        cell: (r) => time(r.p95_ns),
      },
      {
        key: "wall_ns",
        title: "Wall",
        numeric: true,
        tip: "Wall time of all executions",
        value: (r) => r.wall_ns,
        cell: (r) => time(r.wall_ns),
      },
      BARRIER,
      shareColumn((r) => colours.of(opName(r))),
    ],
  });
  const names = namedTable(colours);
  const each = h("details", { class: "each" }, h("summary", {}, "Each tensor of each layer"));
  function show(): void {
    names.show(byName(rows.filter((r) => r.phase === phase)));
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = rows.filter(
      (r) =>
        r.phase === phase &&
        words.every((w) =>
          /^(module|layer):/.test(w)
            ? ` ${text.get(r)} `.includes(` ${w} `)
            : text.get(r)!.includes(w),
        ),
    );
    found.textContent = plural(hits.length, "operator");
    grid.show(hits);
  }
  const filter = h("input", {
    type: "search",
    id: "operator-filter",
    placeholder: "Filter: tensor, operator, layer:3",
    "aria-label": "Filter operators",
    on: {
      input: (e: Event) => {
        query = (e.target as HTMLInputElement).value;
        show();
      },
    },
  });
  show();
  const buttons =
    phases.length > 1
      ? choice("Phase", phases.map(phaseName), (i) => {
          phase = phases[i]!;
          show();
        })
      : null;
  each.append(h("div", { class: "tools" }, filter, found), grid.element);
  onPart(({ phase: wanted, filter: words }) => {
    each.open = true;
    query = filter.value = words;
    const at = phases.indexOf(wanted);
    if (at >= 0 && buttons) {
      buttons.querySelectorAll("button")[at]?.click();
    } else {
      show();
    }
  });
  return section(
    "operators",
    "Operators",
    "Operators by the tensor that they compute, summed over the layers.",
    captureNotes(summary),
    panel("", buttons ? h("div", { class: "tools" }, buttons) : null, names.element, each),
  );
}
