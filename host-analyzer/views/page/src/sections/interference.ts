// Scheduling of the engine's threads, and the tasks that occupied their CPUs.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Interferer, Interrupt, Sched, SchedThread, StateTimes } from "../data/schema.ts";
import { h, type Child } from "../ui/dom.ts";
import { count, percent, plural, shorten, time } from "../ui/format.ts";
import { absent, panel, swatch } from "../ui/parts.ts";
import { cpuRanges } from "../ui/quantity.ts";
import { stateColour, stateName } from "../ui/states.ts";
import { table } from "../ui/table.ts";

const STATES = (
  ["running", "preempted", "woken", "sleeping", "blocked", "stopped", "unknown"] as const
).map((state): [keyof StateTimes, string, string] => [
  `${state}_ns`,
  stateName(state),
  stateColour(state),
]);
/** An engine can have hundreds of threads: show those with the most running and waiting time. */
const MOST_THREADS = 16;
const LONGEST_COMMAND = 56;

type Phase = "decode" | "prefill" | "total";

function sum(times: Maybe<StateTimes>): number {
  return STATES.reduce((all, [key]) => all + (times?.[key] ?? 0), 0);
}

/** Time in which the thread was running or runnable. */
function wanted(times: Maybe<StateTimes>): number {
  return (times?.running_ns ?? 0) + (times?.preempted_ns ?? 0) + (times?.woken_ns ?? 0);
}

function threadLine(thread: SchedThread, phase: Phase, longest: number): HTMLElement {
  const times = thread[phase];
  const pieces = STATES.map(([key, name, colour]): Child => {
    const ns = times?.[key] ?? 0;
    if (!(ns > 0)) {
      return null;
    }
    const piece = h("span", {
      title: `${name}: ${time(ns)}, ${percent(ns / sum(times))}`,
      data: { key: `sched.${phase}.${thread.tid}.${key}`, value: ns },
    });
    piece.style.width = `${(ns / longest) * 100}%`;
    piece.style.background = `var(${colour})`;
    return piece;
  });
  const counts = `${plural(thread.runs ?? 0, "time")} on a CPU, ${plural(thread.preemptions ?? 0, "preemption")}, ${plural(thread.migrations ?? 0, "migration")} in the session`;
  const label = STATES.flatMap(([key, name]) =>
    times?.[key] ? [`${name} ${time(times[key])}`] : [],
  ).join(", ");
  return h(
    "div",
    { class: "budget-thread counted", title: counts },
    h("span", { class: "who mono" }, `thread ${thread.tid ?? "?"}`),
    h("div", { class: "budget-bar", role: "img", "aria-label": label }, ...pieces),
    h("span", { class: "num muted" }, `${time(times?.running_ns)} on a CPU`),
  );
}

function phasePanel(title: string, phase: Phase, threads: SchedThread[]): Child {
  const busy = threads
    .filter((t) => wanted(t[phase]) > 0)
    .sort((a, b) => wanted(b[phase]) - wanted(a[phase]));
  if (busy.length === 0) {
    return null;
  }
  const shown = busy.slice(0, MOST_THREADS);
  const longest = Math.max(...shown.map((t) => sum(t[phase])), 1);
  const rest = busy.length - shown.length;
  return panel(
    title,
    ...shown.map((t) => threadLine(t, phase, longest)),
    rest > 0 ? h("p", { class: "hint" }, `and ${plural(rest, "further thread")}`) : null,
  );
}

function legend(threads: SchedThread[]): HTMLElement {
  const seen = STATES.filter(([key]) => threads.some((t) => (t.total?.[key] ?? 0) > 0));
  return h(
    "p",
    { class: "keys states" },
    ...seen.map(([, name, colour]) => h("span", { class: "key" }, swatch(`var(${colour})`), name)),
  );
}

function taskName(task: Interferer): Child {
  return h(
    "span",
    { title: task.cgroup ? `cgroup ${task.cgroup}` : null },
    task.idle ? "idle" : task.program || "–",
    task.agent ? h("em", { class: "tag", title: "It records; ProfInfer's own" }, "agent") : null,
    task.idle
      ? h(
          "em",
          { class: "tag", title: "The CPU was idle although a thread was runnable" },
          "no task",
        )
      : null,
  );
}

function taskTable(tasks: Interferer[]): HTMLElement {
  return table<Interferer>({
    name: "interference",
    rows: tasks,
    sort: { key: "time_ns", down: true },
    limit: 10,
    columns: [
      { key: "name", title: "Task", value: (t) => t.name, cell: taskName },
      { key: "tid", title: "Thread", numeric: true, value: (t) => t.tid },
      {
        key: "pid",
        title: "Process",
        numeric: true,
        value: (t) => t.pid,
        cell: (t) => (t.pid ? String(t.pid) : "–"),
      },
      {
        key: "time_ns",
        title: "CPU time",
        numeric: true,
        tip: "CPU time while an engine thread waited for that CPU",
        value: (t) => t.time_ns,
        cell: (t) => time(t.time_ns),
      },
      {
        key: "decode_ns",
        title: "In decode",
        numeric: true,
        tip: "Part within decode calls",
        value: (t) => t.decode_ns,
        cell: (t) => time(t.decode_ns),
      },
      {
        key: "preempted_ns",
        title: "Delay caused",
        numeric: true,
        tip: "Time that engine threads waited meanwhile, preempted or woken, summed over threads",
        value: (t) => (t.preempted_ns ?? 0) + (t.woken_ns ?? 0),
        cell: (t) => time((t.preempted_ns ?? 0) + (t.woken_ns ?? 0)),
      },
      {
        key: "turns",
        title: "Times",
        numeric: true,
        tip: "How often it occupied such a CPU",
        value: (t) => t.turns,
        cell: (t) => count(t.turns),
      },
      {
        key: "cpus",
        title: "CPUs",
        class: "mono",
        value: (t) => cpuRanges(list(t.cpus).flatMap((c) => c.cpu ?? [])),
      },
      {
        key: "command",
        title: "Command",
        class: "mono",
        value: (t) => t.command,
        cell: (t) =>
          h("span", { title: t.command }, t.command ? shorten(t.command, LONGEST_COMMAND) : "–"),
      },
    ],
  }).element;
}

function interruptTable(rows: Interrupt[]): HTMLElement {
  return table<Interrupt>({
    name: "interrupts",
    rows,
    sort: { key: "time_ns", down: true },
    limit: 8,
    columns: [
      { key: "name", title: "Interrupt", value: (r) => r.name },
      {
        key: "kind",
        title: "Kind",
        tip: "hard: device handler; soft: deferred work",
        value: (r) => r.kind,
      },
      {
        key: "count",
        title: "Count",
        numeric: true,
        value: (r) => r.count,
        cell: (r) => count(r.count),
      },
      {
        key: "time_ns",
        title: "Time",
        numeric: true,
        value: (r) => r.time_ns,
        cell: (r) => time(r.time_ns),
      },
      {
        key: "decode_ns",
        title: "In decode",
        numeric: true,
        value: (r) => r.decode_ns,
        cell: (r) => time(r.decode_ns),
      },
      {
        key: "longest_ns",
        title: "Longest",
        numeric: true,
        value: (r) => r.longest_ns,
        cell: (r) => time(r.longest_ns),
      },
    ],
  }).element;
}

/** Null if the scheduler level was not recorded. */
export function interferenceSection(sched: Maybe<Sched>): HTMLElement | null {
  if (!sched?.recorded) {
    return null;
  }
  const threads = list(sched.threads);
  const all = list(sched.interference);
  const tasks = all.filter((t) => !t.engine);
  const own = all.filter((t) => t.engine).reduce((ns, t) => ns + (t.time_ns ?? 0), 0);
  const phases = [
    phasePanel("In decode", "decode", threads),
    phasePanel("In prefill", "prefill", threads),
  ].filter(Boolean);
  const bars = phases.length > 0 ? phases : [phasePanel("Session", "total", threads)];
  const rest = sched.left_out?.tasks ?? 0;
  const others = tasks.filter((t) => !t.idle).length + rest;
  const lead =
    others > 0
      ? `${plural(others, "task")} had CPUs that engine threads waited for`
      : "none had a CPU that an engine thread waited for";
  // Below the findings that it supports; links to it open it.
  return h(
    "details",
    { id: "interference", class: "below-findings" },
    h("summary", {}, h("b", {}, "Programs that ran instead of the engine: "), lead),
    tasks.length > 0
      ? panel(
          "Tasks that had CPUs while engine threads waited for them",
          taskTable(tasks),
          rest > 0
            ? h(
                "p",
                { class: "hint" },
                `${plural(rest, "further task")} with ${time(sched.left_out?.time_ns)} in total ${rest === 1 ? "is" : "are"} not listed.`,
              )
            : null,
          own > 0
            ? h(
                "p",
                { class: "hint" },
                `Not listed: threads of the engine itself, which had such CPUs for ${time(own)}.`,
              )
            : null,
        )
      : null,
    h("div", { class: "threads" }, legend(threads), h("div", { class: "halves" }, ...bars)),
    sched.interrupts_recorded
      ? panel(
          "Interrupts on the engine's CPUs",
          list(sched.interrupts).length > 0
            ? interruptTable(list(sched.interrupts))
            : absent("None recorded."),
        )
      : null,
  );
}
