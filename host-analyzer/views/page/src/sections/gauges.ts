// Sensors of the board: frequencies, temperatures, loads, memory traffic. Null if none has values.

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
        title: "Sensor",
        value: (g) => g.name,
        cell: (g) => h("span", { title: g.source ?? "" }, g.name ?? ""),
      },
      figure("min", "Min", "Smallest value of the session", (g) => g.session?.min),
      figure("mean", "Mean", "Time-weighted mean of the session", (g) => g.session?.mean),
      figure("max", "Max", "Largest value of the session", (g) => g.session?.max),
      figure("decode", "In decode", "Mean within decode calls", (g) => g.decode?.mean),
      ...(traffic
        ? [
            {
              key: "token",
              title: "Per token",
              numeric: true,
              tip: "Bytes per token, from decode calls that the samples cover completely",
              value: (g: Gauge) => g.decode_bytes_per_token,
              cell: (g: Gauge) => quantity(g.decode_bytes_per_token, "bytes"),
            },
          ]
        : []),
      {
        key: "covered",
        title: "Coverage",
        numeric: true,
        tip: "Time for which a value is known",
        value: (g) => g.session?.covered_ns,
        cell: (g) => time(g.session?.covered_ns),
      },
      {
        key: "samples",
        title: "Samples",
        numeric: true,
        tip: "Number of samples with a value",
        value: (g) => g.samples,
        cell: (g) => count(g.samples),
      },
      {
        key: "absent",
        title: "Failed",
        numeric: true,
        tip: "Samples in which the sensor could not be read",
        value: (g) => g.absent,
        cell: (g) => count(g.absent),
      },
      { key: "note", title: "Note", value: (g) => g.note },
    ],
  });
  const lead = "Sensors of the board during the session. Values are for the complete system.";
  return section("gauges", "Sensors", lead, panel("", grid.element));
}
