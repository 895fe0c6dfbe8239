// The traced program, the board and the session.

import { list } from "../data/read.ts";
import type { Summary } from "../data/schema.ts";
import { cpuBackend, weightLine } from "../ui/place.ts";
import { h } from "../ui/dom.ts";
import { date, DASH, time } from "../ui/format.ts";
import { section } from "../ui/parts.ts";

function field(name: string, value: string | null | undefined, wide = false): HTMLElement {
  return h("div", wide ? { class: "wide" } : {}, h("dt", {}, name), h("dd", {}, value || DASH));
}

/** The model, or else the program; then the engine and the machine. The terminal begins with the same. */
export function title(summary: Summary): HTMLElement {
  const heading = summary.heading;
  const line = (parts: string[]): HTMLElement | null =>
    parts.length > 0 ? h("span", {}, parts.join(" · ")) : null;
  const when = date(summary.session?.start_unix_ns);
  return h(
    "header",
    { class: "head" },
    h("h1", {}, heading?.name || "Recording"),
    h("p", { class: "model" }, list(heading?.model).join(" · ")),
    h(
      "p",
      { class: "muted lines" },
      line(list(heading?.engine)),
      line(list(heading?.machine)),
      when === DASH ? null : line([when]),
    ),
  );
}

export function sessionSection(summary: Summary): HTMLElement {
  const session = summary.session;
  const backends = [
    ...new Set(
      list(summary.engines)
        .map(cpuBackend)
        .filter((b) => b !== null),
    ),
  ];
  const weights = [...new Set(list(summary.weights).map(weightLine))];
  const processes = list(session?.processes);
  const engines = [...new Set(processes.map((p) => p.engine_version).filter(Boolean))];
  const commands = processes.map((p) =>
    h("code", { class: "command", title: p.command, tabindex: 0 }, p.command || p.name || DASH),
  );
  const cpu = session?.cpus
    ? `${session.cpu_model || "unknown CPU"} · ${session.cpus} CPUs`
    : session?.cpu_model;
  return section(
    "session",
    "Session",
    "",
    h(
      "div",
      { class: "head" },
      ...commands,
      h(
        "dl",
        { class: "facts" },
        field("Board", session?.board),
        field("CPU", cpu),
        field("Engine", engines.join(", ") || "version not recorded"),
        field("CPU backend", backends.join(" · ") || "not recorded"),
        ...weights.map((line, i) =>
          field(weights.length > 1 ? `Weights, context ${i + 1}` : "Weights", line, true),
        ),
        field("Kernel", [session?.machine, session?.kernel].filter(Boolean).join(" · ")),
        field("Recorded", date(session?.start_unix_ns)),
        field("Duration", time(session?.duration_ns)),
        field("Levels", list(session?.levels).join(", ")),
        field("Agent", session?.agent),
      ),
    ),
  );
}
