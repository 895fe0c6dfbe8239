// What the board's sensors said: frequencies, temperatures, loads, traffic of the memory. Absent
// when none was asked for.

import { list } from "../data/read.ts";
import type { Num } from "../data/maybe.ts";
import type { Gauge, Summary } from "../data/schema.ts";
import { h } from "../ui/dom.ts";
import { count, time } from "../ui/format.ts";
import { panel, section } from "../ui/parts.ts";
import { quantity } from "../ui/quantity.ts";
import { table } from "../ui/table.ts";

export function gaugeSection(summary: Summary): HTMLElement | null {
  const rows = list(summary.gauges);
  if (!rows.some((g) => g.session)) {
    return null;
  }
  const figure = (key: string, title: string, tip: string, of: (g: Gauge) => Num) => ({
    key,
    title,
    numeric: true,
    tip,
    value: of,
    cell: (g: Gauge) => quantity(of(g), g.unit),
  });
  const traffic = rows.some((g) => g.decode_bytes_per_token != null);
  const grid = table<Gauge>({
    name: "gauges",
    rows,
    limit: 20,
    columns: [
      {
        key: "name",
        title: "Gauge",
        value: (g) => g.name,
        cell: (g) => h("span", { title: g.source ?? "" }, g.name ?? ""),
      },
      figure("min", "Min", "Least value of the session", (g) => g.session?.min),
      figure("mean", "Mean", "Mean of the session, weighted by time", (g) => g.session?.mean),
      figure("max", "Max", "Greatest value of the session", (g) => g.session?.max),
      figure("decode", "In decode", "Mean while decode calls ran", (g) => g.decode?.mean),
      ...(traffic
        ? [
            {
              key: "token",
              title: "Per token",
              numeric: true,
              tip: "Bytes per token of the decode calls that were covered whole",
              value: (g: Gauge) => g.decode_bytes_per_token,
              cell: (g: Gauge) => quantity(g.decode_bytes_per_token, "bytes"),
            },
          ]
        : []),
      {
        key: "covered",
        title: "Known for",
        numeric: true,
        tip: "Time for which a value is known",
        value: (g) => g.session?.covered_ns,
        cell: (g) => time(g.session?.covered_ns),
      },
      {
        key: "samples",
        title: "Samples",
        numeric: true,
        tip: "Samples with a value",
        value: (g) => g.samples,
        cell: (g) => count(g.samples),
      },
      {
        key: "absent",
        title: "Absent",
        numeric: true,
        tip: "Samples without: the sensor could not be read",
        value: (g) => g.absent,
        cell: (g) => count(g.absent),
      },
      { key: "note", title: "Note", value: (g) => g.note },
    ],
  });
  const lead =
    "What the board's sensors said while the session ran, of the whole system. What could not be read has no figures.";
  return section("gauges", "Board", lead, panel("", grid.element));
}
