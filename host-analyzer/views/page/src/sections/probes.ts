// Probes and engine files.

import { list } from "../data/read.ts";
import type { Library, Probe, Session } from "../data/schema.ts";
import { h } from "../ui/dom.ts";
import { plural } from "../ui/format.ts";
import { panel, section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";

function base(path: string | null | undefined): string {
  return (path ?? "").split("/").pop() ?? "";
}

export function probeSection(session: Session | null | undefined): HTMLElement {
  const probes = list(session?.probes);
  const off = probes.filter((p) => p.attached !== true).length;
  const grid = table<Probe>({
    name: "probes",
    rows: probes,
    limit: 30,
    columns: [
      {
        key: "attached",
        title: "State",
        value: (p) => p.attached,
        cell: (p) =>
          h(
            "span",
            { class: p.attached ? "state on" : "state off" },
            p.attached ? "attached" : "not attached",
          ),
      },
      { key: "level", title: "Level", value: (p) => p.level },
      { key: "what", title: "Observes", value: (p) => p.what },
      { key: "note", title: "Note", class: "note", value: (p) => p.note },
      { key: "symbol", title: "Symbol", class: "mono", value: (p) => p.symbol },
      {
        key: "library",
        title: "Library",
        class: "mono",
        value: (p) => p.library,
        cell: (p) => h("span", { title: p.library }, base(p.library) || "–"),
      },
      {
        key: "offset",
        title: "Offset",
        numeric: true,
        class: "mono",
        value: (p) => p.offset,
        cell: (p) => (p.offset ? `0x${p.offset.toString(16)}` : "–"),
      },
    ],
  });
  const libraries = table<Library>({
    name: "libraries",
    rows: list(session?.libraries),
    columns: [
      {
        key: "role",
        title: "Role",
        value: (l) => l.roles.map((role) => role.replaceAll("_", " ")).join(", "),
      },
      { key: "path", title: "Path", class: "mono wrap", value: (l) => l.path },
      {
        key: "build_id",
        title: "Build id",
        class: "mono",
        value: (l) => l.build_id,
        cell: (l) =>
          h("span", { title: l.build_id }, l.build_id ? l.build_id.slice(0, 12) : "none"),
      },
    ],
  });
  const lead =
    probes.length === 0
      ? ""
      : off === 0
        ? `All ${plural(probes.length, "probe")} attached.`
        : `${plural(off, "probe")} of ${probes.length} not attached.`;
  return section(
    "probes",
    "Probes",
    lead,
    panel("", grid.element),
    list(session?.libraries).length > 0 ? panel("Engine files", libraries.element) : null,
  );
}
