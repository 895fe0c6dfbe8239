// Configuration and state of the system and of the engine's processes.

import type { Maybe, Num, Str } from "../data/maybe.ts";
import type {
  AbsentFact,
  Conditions,
  CpuFacts,
  ProcessFacts,
  Quota,
  Rise,
  Seen,
  Summary,
  SystemFacts,
  ThreadFacts,
} from "../data/schema.ts";
import { list } from "../data/read.ts";
import { h, type Child } from "../ui/dom.ts";
import { bytes, count, DASH, plural, time } from "../ui/format.ts";
import { panel, section } from "../ui/parts.ts";
import { cpuRanges, quantity } from "../ui/quantity.ts";
import { table, type Column } from "../ui/table.ts";

/** Other programs that are named, and the CPU use from which on they are. */
const NAMED_PROGRAMS = 3;
const NAMED_CPUS = 0.01;

type Line = [string, string | null];

/** The value, or its range if it changed; null if unknown. */
function seen(value: Maybe<Seen>, text: (n: Num) => string): string | null {
  if (value?.min == null || value.max == null) {
    return null;
  }
  const [low, high] = [text(value.min), text(value.max)];
  return low === high ? high : `${low} to ${high}`;
}

function rise(value: Maybe<Rise>, text: (n: Num) => string): string | null {
  return value?.total == null
    ? null
    : `${text(value.total)}${!value.total || value.decode == null ? "" : value.decode === 0 ? ", none in decode calls" : `, ${text(value.decode)} in decode calls`}`;
}

const hertz = (n: Num): string => quantity(n, "hertz");
const known = (n: Num, text: (n: Num) => string): string | null => (n == null ? null : text(n));
const words = (text: Str): string | null => text || null;

/** Known values. `absentList` has the others, with reasons. */
function pairs(lines: Line[]): Child {
  const rows = lines.flatMap(([name, value]) =>
    value == null || value === DASH ? [] : [h("dt", {}, name), h("dd", {}, value)],
  );
  return rows.length > 0 ? h("dl", { class: "pairs" }, ...rows) : null;
}

/** Lines that rarely matter. */
function further(lines: Line[]): Child {
  const rows = pairs(lines);
  return rows ? h("details", { class: "not-read" }, h("summary", {}, "Further"), rows) : null;
}

/** `0.98 of 2 CPUs: python3 0.95, rustc 0.03`; null if the use of the CPUs was not recorded. */
export function usedByOthers(summary: Pick<Summary, "sched" | "session">): string | null {
  const others = summary.sched?.other_programs;
  const length = summary.session?.duration_ns ?? 0;
  if (!others || length === 0) {
    return null;
  }
  const cpus = (ns: number): string => (ns / length).toFixed(2);
  const named = list(others.programs)
    .slice(0, NAMED_PROGRAMS)
    .filter((p) => p.busy_ns / length >= NAMED_CPUS)
    .map((p) => `${p.program} ${cpus(p.busy_ns)}`);
  const of = `${cpus(others.busy_ns)} of ${plural(summary.session?.cpus ?? 0, "CPU")}`;
  return [of, named.join(", ")].filter(Boolean).join(": ");
}

/** `1.20 to 1.80 GHz of 2.40 GHz, governor schedutil`: limits of the CPUs' clocks. */
function clocks(cpus: CpuFacts[]): string | null {
  const values = (of: (c: CpuFacts) => Num): number[] => cpus.flatMap((c) => of(c) ?? []);
  const low = values((c) => c.frequency_limit_hz?.min);
  const high = values((c) => c.frequency_limit_hz?.max);
  const most = values((c) => c.frequency_max_hz);
  const governors = [...new Set(cpus.flatMap((c) => c.governor ?? []))];
  const [a, b] = [Math.min(...low), Math.max(...high)];
  const limits = low.length === 0 ? "" : a === b ? hertz(a) : `${hertz(a)} to ${hertz(b)}`;
  const parts = [
    [limits, most.length > 0 ? hertz(Math.max(...most)) : ""].filter(Boolean).join(" of "),
    governors.length > 0 ? `governor ${governors.join(", ")}` : "",
  ].filter(Boolean);
  return parts.join(", ") || null;
}

function stolen(cpus: CpuFacts[]): string | null {
  const ns = cpus.reduce((sum, c) => sum + (c.steal_ns?.total ?? 0), 0);
  return ns > 0 ? time(ns) : null;
}

function systemPanel(summary: Summary): Child {
  const s: Maybe<SystemFacts> = summary.conditions?.system;
  const cpus = list(summary.conditions?.cpus);
  const first = pairs([
    ["CPU time of other programs", usedByOthers(summary)],
    ["Load average before", known(s?.load_average_milli, (n) => ((n ?? 0) / 1000).toFixed(2))],
    ["CPU clock, limits", clocks(cpus)],
    ["CPU time taken by the hypervisor", stolen(cpus)],
    ["Available memory", seen(s?.memory_available_bytes, bytes)],
    ["Memory", known(s?.memory_total_bytes, bytes)],
    ["Swap", s?.swap_total_bytes === 0 ? "none" : known(s?.swap_total_bytes, bytes)],
    ["Free swap", s?.swap_total_bytes === 0 ? null : seen(s?.swap_free_bytes, bytes)],
    ["Memory clock", seen(s?.ddr_frequency_hz, hertz)],
    ["Memory clock limit", known(s?.ddr_frequency_max_hz, hertz)],
    ["Memory governor", words(s?.ddr_governor)],
  ]);
  const rest = further([
    ["Huge pages", words(s?.hugepages_policy)],
    ["Page size", known(s?.page_size_bytes, bytes)],
    ["NUMA nodes", known(s?.numa_nodes, count)],
    ["Hypervisor", s?.hypervisor === "not named" ? "unnamed" : words(s?.hypervisor)],
    ["Preemption", words(s?.preemption)],
    [
      "Private BPF stacks",
      s?.private_stacks == null ? null : s.private_stacks ? "yes (unused by the agent)" : "no",
    ],
    ["Kernel options", list(s?.kernel_options).join(" ") || null],
    ["CPU features", list(s?.cpu_features).join(" ") || null],
  ]);
  return first || rest ? panel("System", first, rest) : null;
}

function quotaText(quota: Maybe<Quota | string>): string | null {
  if (quota == null || typeof quota === "string") {
    return quota || null;
  }
  const cpus = quota.milli_cpus == null ? DASH : `${(quota.milli_cpus / 1000).toFixed(2)} CPUs`;
  const of = quota.level ? `, set ${plural(quota.level, "level")} above its group` : "";
  return `${cpus}: ${time((quota.quota_us ?? 0) * 1e3)} per ${time((quota.period_us ?? 0) * 1e3)}${of}`;
}

function limit(value: Maybe<number | string>): string | null {
  return typeof value === "number" ? bytes(value) : value || null;
}

function processPanel(p: ProcessFacts): Child {
  const c = p.cgroup;
  const variables = list(p.environment);
  const environment = variables.map((v) =>
    h(
      "li",
      {},
      `${v.name ?? "?"}=`,
      v.value == null ? h("span", { class: "muted" }, "(not recorded)") : v.value,
    ),
  );
  const unlimited = c?.quota === "none";
  const settings = pairs([
    ["CPU affinity", list(p.affinity).length > 0 ? cpuRanges(p.affinity) : null],
    ["CPU quota", quotaText(c?.quota)],
    ["Throttled time", unlimited ? null : rise(c?.throttled_ns, time)],
    ["Throttled periods", unlimited ? null : rise(c?.throttled_periods, count)],
    ["Major page faults", rise(p.major_faults, count)],
    ["Storage reads", rise(p.storage_read_bytes, bytes)],
    ["Anonymous memory", seen(p.rss_anonymous_bytes, bytes)],
    ["File mappings", seen(p.rss_file_bytes, bytes)],
    ["Memory limit", limit(c?.memory_limit_bytes)],
    ["memory.high", limit(c?.memory_high_bytes)],
    ["Exceeded memory.high", rise(c?.memory_high_events, count)],
    ["Stalled for memory", rise(c?.memory_stalled_ns, time)],
    ["Threads", seen(p.threads, count)],
    ["Nice", known(p.nice, String)],
  ]);
  const rest = further([
    ["Program", words(p.program)],
    ["Minor page faults", rise(p.minor_faults, count)],
    ["Shared memory", seen(p.rss_shared_bytes, bytes)],
    ["Huge pages, anonymous", seen(p.huge_anonymous_bytes, bytes)],
    ["Huge pages, files", seen(p.huge_file_bytes, bytes)],
    ["Control group cpuset", list(c?.cpuset).length > 0 ? cpuRanges(c?.cpuset) : null],
    ["Control group", c?.path == null ? null : `${c.path} (version ${c.version ?? "?"})`],
  ]);
  const named =
    variables.length > 0
      ? h("ul", { class: "environment mono" }, ...environment)
      : p.variables === 0
        ? h("p", { class: "muted" }, "No variables of OpenMP, GGML or llama.cpp are set.")
        : null;
  return settings || rest
    ? panel(
        `Process ${p.pid ?? "?"}`,
        settings,
        named ? h("h5", {}, "Environment") : null,
        named,
        rest,
      )
    : null;
}

/** Drops columns without any value. */
function withValues<T>(columns: Column<T>[], rows: T[]): Column<T>[] {
  return columns.filter((c) => rows.some((r) => c.value(r) != null && c.value(r) !== ""));
}

function cpuTable(rows: CpuFacts[]): Child {
  if (rows.length === 0) {
    return null;
  }
  const columns: Column<CpuFacts>[] = [
    { key: "cpu", title: "CPU", numeric: true, value: (c) => c.cpu },
    {
      key: "online",
      title: "State",
      value: (c) => c.online,
      cell: (c) => (c.online == null ? DASH : c.online ? "online" : "offline"),
    },
    { key: "core", title: "Core", value: (c) => c.core },
    {
      key: "capacity",
      title: "Capacity",
      numeric: true,
      tip: "1024 for the fastest CPU",
      value: (c) => c.capacity,
      cell: (c) => count(c.capacity),
    },
    { key: "governor", title: "Governor", value: (c) => c.governor },
    {
      key: "frequency_limit_hz",
      title: "Clock limit",
      numeric: true,
      tip: "Maximum clock that the governor may choose",
      value: (c) => c.frequency_limit_hz?.min,
      cell: (c) => seen(c.frequency_limit_hz, hertz) ?? DASH,
    },
    {
      key: "frequency_min_hz",
      title: "Min clock",
      numeric: true,
      tip: "Minimum clock that the governor may choose",
      value: (c) => c.frequency_min_hz,
      cell: (c) => hertz(c.frequency_min_hz),
    },
    {
      key: "frequency_max_hz",
      title: "Hardware max",
      numeric: true,
      tip: "Maximum clock of the hardware",
      value: (c) => c.frequency_max_hz,
      cell: (c) => hertz(c.frequency_max_hz),
    },
    {
      key: "steal_ns",
      title: "Steal",
      numeric: true,
      tip: "Time in which the hypervisor ran something else",
      value: (c) => c.steal_ns?.total,
      cell: (c) => time(c.steal_ns?.total),
    },
    {
      key: "steal_decode_ns",
      title: "In decode",
      numeric: true,
      tip: "Steal time within decode calls",
      value: (c) => c.steal_ns?.decode,
      cell: (c) => time(c.steal_ns?.decode),
    },
  ];
  return panel(
    "CPUs",
    table<CpuFacts>({ name: "cpus", rows, columns: withValues(columns, rows), limit: 16 }).element,
  );
}

function threadTable(rows: ThreadFacts[]): Child {
  if (rows.length === 0) {
    return null;
  }
  const columns: Column<ThreadFacts>[] = [
    { key: "tid", title: "Thread", numeric: true, value: (t) => t.tid },
    {
      key: "affinity",
      title: "Affinity",
      class: "mono",
      value: (t) => (list(t.affinity).length > 0 ? cpuRanges(t.affinity) : null),
    },
    { key: "policy", title: "Policy", value: (t) => t.policy },
    {
      key: "run_ns",
      title: "On a CPU",
      numeric: true,
      value: (t) => t.run_ns?.total,
      cell: (t) => time(t.run_ns?.total),
    },
    {
      key: "run_decode_ns",
      title: "In decode",
      numeric: true,
      value: (t) => t.run_ns?.decode,
      cell: (t) => time(t.run_ns?.decode),
    },
    {
      key: "run_delay_ns",
      title: "Run queue",
      numeric: true,
      value: (t) => t.run_delay_ns?.total,
      cell: (t) => time(t.run_delay_ns?.total),
    },
    {
      key: "run_delay_decode_ns",
      title: "In decode",
      numeric: true,
      value: (t) => t.run_delay_ns?.decode,
      cell: (t) => time(t.run_delay_ns?.decode),
    },
  ];
  return panel(
    "Threads (kernel accounting)",
    table<ThreadFacts>({
      name: "thread facts",
      rows,
      columns: withValues(columns, rows),
      limit: 10,
    }).element,
  );
}

/** One line per fact name, so that sixteen CPUs without a clock are one line. */
function absentList(rows: AbsentFact[]): Child {
  if (rows.length === 0) {
    return null;
  }
  const byName = new Map<string, AbsentFact[]>();
  for (const row of rows) {
    byName.set(row.name ?? "?", [...(byName.get(row.name ?? "?") ?? []), row]);
  }
  const items = [...byName].map(([name, same]) => {
    const cpus = same.flatMap((r) => r.cpu ?? []);
    const of =
      cpus.length > 0
        ? ` of ${cpus.length > 1 ? "CPUs" : "CPU"} ${cpuRanges(cpus)}`
        : same.length > 1
          ? `, ${same.length} times`
          : "";
    return h("li", {}, h("code", {}, name), of, `: ${same[0]?.why || "reason unknown"}`);
  });
  return h(
    "details",
    { class: "not-read" },
    h("summary", {}, `${plural(byName.size, "value")} could not be read`),
    h("ul", {}, ...items),
  );
}

/** Null if the agent recorded no facts. */
export function conditionSection(summary: Summary): HTMLElement | null {
  const conditions: Maybe<Conditions> = summary.conditions;
  const system = [systemPanel(summary), threadTable(list(conditions?.threads))].filter(Boolean);
  const processes = list(conditions?.processes).map(processPanel).filter(Boolean);
  const cpus = cpuTable(list(conditions?.cpus));
  const unread = absentList(list(conditions?.absent));
  if (system.length + processes.length === 0 && cpus === null && unread === null) {
    return null;
  }
  const columns = [system, processes]
    .filter((panels) => panels.length > 0)
    .map((panels) => h("div", { class: "column" }, ...panels));
  return section(
    "conditions",
    "Conditions",
    "What else ran, clocks and memory, and the settings of the engine's processes.",
    h("div", { class: "halves" }, ...columns),
    cpus,
    unread,
  );
}
