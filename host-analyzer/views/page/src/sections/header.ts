// The traced program, the board and the session.

import { list } from "../data/read.ts";
import type { Str } from "../data/maybe.ts";
import type { Dag, Summary } from "../data/schema.ts";
import { modelFacts, modelName } from "../first/model.ts";
import { cpuBackend, weightLine } from "../ui/place.ts";
import { h } from "../ui/dom.ts";
import { programs } from "../ui/program.ts";
import { date, DASH, plural, time } from "../ui/format.ts";
import { section } from "../ui/parts.ts";
import { cpuRanges } from "../ui/quantity.ts";

function field(name: string, value: string | null | undefined, wide = false): HTMLElement {
  return h("div", wide ? { class: "wide" } : {}, h("dt", {}, name), h("dd", {}, value || DASH));
}

/** `2 threads on CPUs 0-1`; empty if no operator was traced. */
function threadsOnCpus(summary: Summary): string {
  const threads = summary.findings?.headline?.threads ?? 0;
  const masks = list(summary.conditions?.processes).map((p) => cpuRanges(p.affinity));
  const cpus = new Set(masks.filter((mask) => mask !== DASH));
  const on = cpus.size === 1 ? ` on CPUs ${[...cpus][0]}` : "";
  return threads > 0 ? plural(threads, "thread") + on : "";
}

/** The model, or else the program; then the engine and the machine. */
export function title(summary: Summary, dag: Dag | null): HTMLElement {
  const names = programs(summary).join(", ");
  const session = summary.session;
  const model = modelName(summary);
  const versions = list(session?.processes).map((p) => p.engine_version ?? "");
  const board = session?.board === "host" ? "" : session?.board;
  const engine = [
    model ? names : "",
    [...new Set(versions)].filter(Boolean).join(", ").replaceAll(" (unknown)", ""),
    threadsOnCpus(summary),
  ];
  const machine = [
    board,
    session?.cpu_model,
    session?.cpus ? plural(session.cpus, "CPU") : "",
    session?.kernel ? `Linux ${session.kernel}` : "",
  ];
  const when = [
    session?.duration_ns ? time(session.duration_ns) : "",
    date(session?.start_unix_ns),
  ];
  const line = (parts: Str[]): HTMLElement | null => {
    const known = parts.filter((part) => part && part !== DASH);
    return known.length > 0 ? h("span", {}, known.join(" · ")) : null;
  };
  return h(
    "header",
    { class: "head" },
    h("h1", {}, model || names || "Recording"),
    h("p", { class: "model" }, modelFacts(summary, dag).join(" · ")),
    h("p", { class: "muted lines" }, line(engine), line(machine), line(when)),
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
