// Operators by shape on several backends: host times, and device times from accelerator profiles.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Accelerators, Done, OnBackend, ProfileJoin, Shape } from "../data/schema.ts";
import type { OperatorColours } from "../ui/colour.ts";
import { h } from "../ui/dom.ts";
import { count, DASH, dims, figureText, percent, time } from "../ui/format.ts";
import { panel, section, swatch } from "../ui/parts.ts";
import { table } from "../ui/table.ts";

/** One backend of one shape. */
interface Line {
  op: string;
  shape: string;
  sources: string;
  on: OnBackend;
}

function shapeText(shapes: Shape[]): string {
  const [shape] = shapes;
  if (shapes.length !== 1 || !shape) {
    return `${shapes.length} shapes`;
  }
  const p = shape.product;
  const batch = p?.batch != null && p.batch > 1 ? ` batch=${p.batch}` : "";
  return p
    ? `${list(shape.types)[0] ?? ""} m=${p.m} n=${p.n} k=${p.k}${batch}`
    : `${shape.dtype ?? ""} ${dims(shape.ne)}`;
}

/** Result and sources of every shape, for the tooltip. */
function sourceText(shapes: Shape[]): string {
  const source = (s: Shape): string =>
    list(s.src)
      .map((ne, i) => `${list(s.types)[i] ?? ""} ${dims(ne)}`)
      .join(", ");
  return shapes
    .map((s) => `${s.op ?? ""} ${s.dtype ?? ""} ${dims(s.ne)} of ${source(s)}`)
    .join("\n");
}

/** Device time if known; otherwise host time, unless it only covers submission. */
function computing(on: OnBackend): { ns: number; runs: number; work: Maybe<Done> } | null {
  if (on.device?.device_ns != null) {
    return { ns: on.device.device_ns, runs: on.device.kernels ?? 0, work: on.device.work };
  }
  return on.host?.wall_ns != null && !on.host.host_side
    ? { ns: on.host.wall_ns, runs: on.host.executions ?? 0, work: on.host.work }
    : null;
}

function each(on: OnBackend): number | null {
  const taken = computing(on);
  return taken && taken.runs > 0 ? taken.ns / taken.runs : null;
}

function rate(perS: Maybe<number>): string {
  return perS == null ? DASH : figureText(perS / 1e9);
}

function fusedText(on: OnBackend): string {
  const parts = list(on.device?.fused).map((f) => `${f.what ?? ""} ${count(f.kernels)}`);
  return (on.device?.at_once ? ["parallel to others", ...parts] : parts).join(", ");
}

function lines(backends: Accelerators): Line[] {
  return list(backends.rows).flatMap((row) => {
    const shapes = list(row.shapes);
    const op = shapes[0]?.desc ?? "";
    return list(row.backends)
      .filter((on) => on.host || on.device)
      .map((on) => ({ op, shape: shapeText(shapes), sources: sourceText(shapes), on }));
  });
}

function unjoined(profile: ProfileJoin): HTMLElement | null {
  const kinds = list(profile.unjoined_kinds);
  if (kinds.length === 0) {
    return null;
  }
  const why: Record<string, string> = {
    no_backend: "no graph of this backend",
    not_recorded: "the profile does not name its operator",
    no_node: "no matching node",
  };
  const grid = table({
    name: `unjoined-${profile.name ?? ""}`,
    rows: kinds,
    columns: [
      { key: "text", title: "Unmatched kernel", class: "mono", value: (r) => r.text },
      { key: "why", title: "Reason", value: (r) => why[r.why ?? ""] ?? r.why },
      {
        key: "kernels",
        title: "Kernels",
        numeric: true,
        value: (r) => r.kernels,
        cell: (r) => count(r.kernels),
      },
      {
        key: "device_ns",
        title: "Device",
        numeric: true,
        value: (r) => r.device_ns,
        cell: (r) => time(r.device_ns),
      },
    ],
  });
  return panel(profile.name ?? "", grid.element);
}

function balance(profile: ProfileJoin): HTMLElement | null {
  const rows = list(profile.operators);
  if (rows.length === 0) {
    return null;
  }
  const number = (
    key: "executions" | "kernels" | "fused" | "without" | "beyond",
    title: string,
    tip: string,
  ) => ({
    key,
    title,
    numeric: true,
    tip,
    value: (r: (typeof rows)[number]) => r[key],
    cell: (r: (typeof rows)[number]) => count(r[key]),
  });
  const grid = table({
    name: `balance-${profile.name ?? ""}`,
    rows,
    columns: [
      { key: "op", title: "Operator", value: (r) => r.op },
      number(
        "executions",
        "Executions",
        "Nodes of the backend's graphs times graph calls, from the recording",
      ),
      number("kernels", "Kernels", "Kernels that computed it alone or first, from the profile"),
      number("fused", "Fused", "Kernels that computed it as a later part of a fusion"),
      number("without", "Without kernel", "Executions without a kernel"),
      number("beyond", "Extra", "Kernels without an execution"),
    ],
  });
  const share = profile.device_ns
    ? ((profile.joined?.device_ns ?? 0) + (profile.grouped?.device_ns ?? 0)) / profile.device_ns
    : null;
  const summary = `${percent(share)} of ${time(profile.device_ns)} device time matched: ${count(profile.joined?.kernels)} of ${count(profile.kernels)} kernels match one shape, ${count(profile.grouped?.kernels)} match several.`;
  return panel(
    `${profile.name ?? ""} and ${profile.backend ?? "no backend"}`,
    h("p", { class: "hint" }, summary),
    grid.element,
  );
}

/** Null for a recording of one backend without a profile: there is nothing to compare. */
export function backendSection(
  backends: Maybe<Accelerators>,
  colours: OperatorColours,
): HTMLElement | null {
  const rows = backends ? lines(backends) : [];
  const profiles = list(backends?.profiles);
  if (rows.length === 0 && profiles.length === 0) {
    return null;
  }
  const fused = rows.some((r) => fusedText(r.on));
  const grid = table<Line>({
    name: "backends",
    rows,
    limit: 30,
    columns: [
      {
        key: "op",
        title: "Operator",
        value: (r) => r.op,
        cell: (r) => h("span", { class: "op" }, swatch(colours.of(r.op)), r.op),
      },
      {
        key: "shape",
        title: "Shape",
        value: (r) => r.shape,
        cell: (r) => h("span", { class: "mono", title: r.sources }, r.shape),
      },
      { key: "backend", title: "Backend", value: (r) => r.on.backend },
      {
        key: "executions",
        title: "Runs",
        numeric: true,
        tip: "Nodes of the graphs times graph calls",
        value: (r) => r.on.executions,
        cell: (r) => count(r.on.executions),
      },
      {
        key: "host",
        title: "Host",
        numeric: true,
        tip: "Wall time on the host. In brackets: submission only",
        value: (r) => r.on.host?.wall_ns,
        cell: (r) =>
          r.on.host?.host_side ? `(${time(r.on.host.wall_ns)})` : time(r.on.host?.wall_ns),
      },
      {
        key: "kernels",
        title: "Kernels",
        numeric: true,
        value: (r) => r.on.device?.kernels,
        cell: (r) => count(r.on.device?.kernels),
      },
      {
        key: "device",
        title: "Device",
        numeric: true,
        tip: "Time by the accelerator's clock; not part of the host time",
        value: (r) => r.on.device?.device_ns,
        cell: (r) => time(r.on.device?.device_ns),
      },
      {
        key: "each",
        title: "Mean",
        numeric: true,
        tip: "Device time per kernel; without kernels, host time per run",
        value: (r) => each(r.on),
        cell: (r) => time(each(r.on)),
      },
      {
        key: "gb",
        title: "GB/s",
        numeric: true,
        tip: "Bytes read and written per second of that time",
        value: (r) => computing(r.on)?.work?.bytes_per_s,
        cell: (r) => rate(computing(r.on)?.work?.bytes_per_s),
      },
      {
        key: "gop",
        title: "GOP/s",
        numeric: true,
        tip: "Operations per second of that time",
        value: (r) => computing(r.on)?.work?.operations_per_s,
        cell: (r) => rate(computing(r.on)?.work?.operations_per_s),
      },
      ...(fused
        ? [
            {
              key: "fused",
              title: "Fused",
              tip: "Kernels that also computed further operators; rates count only the first one",
              value: (r: Line) => fusedText(r.on),
            },
          ]
        : []),
    ],
  });
  const lead = "Times of the same operator, types and dimensions on each backend.";
  return section(
    "backends",
    "Accelerators",
    lead,
    ...profiles.map(unjoined),
    panel("", grid.element),
    ...profiles.map(balance),
  );
}
