// Time, bytes and operations per module and per layer of the model.

import { list } from "../data/read.ts";
import type { LayerSum, ModuleSum, Summary } from "../data/schema.ts";
import { captureNotes } from "../ui/capture.ts";
import { h, type Child } from "../ui/dom.ts";
import { bytes, plural, time } from "../ui/format.ts";
import { choice, panel, section } from "../ui/parts.ts";
import { PHASES } from "../ui/phases.ts";
import { partLink } from "../ui/part_link.ts";
import { quantity } from "../ui/quantity.ts";
import { table, type Column } from "../ui/table.ts";
import { BARRIER, shareColumn } from "./columns.ts";

type PartSum = ModuleSum | LayerSum;

/** Marks values that are bounds or estimates. */
function accurate(row: PartSum, text: string): string {
  return row.accuracy === "at_most"
    ? `≤ ${text}`
    : row.accuracy === "estimated"
      ? `≈ ${text}`
      : row.accuracy === "at_least"
        ? `≥ ${text}`
        : text;
}

/** A number of operations, not a rate: without the `/s` of the unit. */
function operations(row: PartSum): string {
  return row.operations === 0 ? "0" : quantity(row.operations, "ops_per_s").replace("/s", "");
}

function columns<Row extends PartSum>(first: Column<Row>): Column<Row>[] {
  return [
    first,
    shareColumn(() => "var(--work)", ""),
    {
      key: "wall_ns",
      title: "Wall",
      numeric: true,
      tip: "Wall time of all executions",
      value: (r) => r.wall_ns,
      cell: (r) => h("span", { title: plural(r.executions ?? 0, "execution") }, time(r.wall_ns)),
    },
    BARRIER,
    {
      key: "read_bytes",
      title: "Read",
      numeric: true,
      tip: "Bytes read, computed from the shapes",
      value: (r) => r.read_bytes,
      cell: (r) =>
        h(
          "span",
          { title: `weights ${bytes(r.weight_bytes)}, written ${bytes(r.written_bytes)}` },
          accurate(r, bytes(r.read_bytes)),
        ),
    },
    {
      key: "operations",
      title: "Operations",
      numeric: true,
      tip: "Additions and multiplications, computed from the shapes",
      value: (r) => r.operations,
      cell: (r) => accurate(r, operations(r)),
    },
  ];
}

function byModule(rows: ModuleSum[]): HTMLElement {
  const first: Column<ModuleSum> = {
    key: "module",
    title: "Module",
    value: (r) => r.module,
    cell: (r) =>
      partLink(r.module ?? "–", { phase: r.phase ?? "", filter: `module:${r.module ?? "other"}` }),
  };
  return table<ModuleSum>({
    name: "modules",
    rows,
    columns: columns(first),
    sort: { key: "wall_ns", down: true },
  }).element;
}

function byLayer(rows: LayerSum[]): HTMLElement {
  const first: Column<LayerSum> = {
    key: "layer",
    title: "Layer",
    numeric: true,
    value: (r) => r.layer,
    cell: (r) =>
      partLink(r.layer == null ? "outside of layers" : String(r.layer), {
        phase: r.phase ?? "",
        filter: `layer:${r.layer ?? "none"}`,
      }),
  };
  return table<LayerSum>({
    name: "layers",
    rows,
    columns: columns(first),
    sort: { key: "layer", down: false },
    limit: 10,
  }).element;
}

/** Null if no operator has a module or layer. */
export function moduleSection(summary: Summary): HTMLElement | null {
  const [modules, layers] = [list(summary.work?.modules), list(summary.work?.layers)];
  const phases = Object.keys(PHASES).filter((phase) =>
    [...modules, ...layers].some((r) => r.phase === phase),
  );
  if (phases.length === 0) {
    return null;
  }
  const body = h("div", { class: "halves" });
  const draw = (index: number): void => {
    const of = <Row extends PartSum>(rows: Row[]): Row[] =>
      rows.filter((r) => r.phase === phases[index]);
    const parts: Child[] = [
      of(modules).length > 0 ? panel("By module", byModule(of(modules))) : null,
      of(layers).length > 0 ? panel("By layer", byLayer(of(layers))) : null,
    ];
    body.replaceChildren(...parts.filter((p): p is Node => p instanceof Node));
  };
  draw(0);
  const names = phases.map((p) => PHASES[p] ?? "All graphs");
  const picker =
    phases.length > 1 ? h("div", { class: "tools" }, choice("Phase", names, draw)) : null;
  return section(
    "modules",
    "Modules and layers",
    "Operator times per module and layer. Click a name to list its operators.",
    captureNotes(summary),
    picker,
    body,
  );
}
