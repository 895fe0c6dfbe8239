// Stacked bars per thread and per token, by class; and per phase where there is no ladder. A step of the
// ladder is what a cause costs, a class how long it lasted: two figures for one fact confuse.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Budget, PhaseBudget, Question, Summary } from "../data/schema.ts";
import { mainLadders } from "../first/speeds.ts";
import { h, type Child } from "../ui/dom.ts";
import { percent, phaseName, plural, time } from "../ui/format.ts";
import { evidenceLink } from "../ui/links.ts";
import { panel, section, swatch } from "../ui/parts.ts";
import { cssVar, onTheme } from "../ui/theme.ts";

/** Colour per class; shades of one colour for a family: work, waiting, disturbance. */
const FAMILY: [RegExp, string][] = [
  [/^work(_and_wait)?$/, "--class-work"],
  [/^wait_(preempted|throttled|interrupted|blocked)$/, "--class-wait-outside"],
  [/^wait_started_late$/, "--class-wait-late"],
  [/^wait_slower_core$/, "--class-wait-core"],
  [/^wait_uneven$/, "--class-wait-uneven"],
  [/^wait_one_thread$/, "--class-wait-one"],
  [/^wait_/, "--class-wait"],
  [/^preempted$/, "--class-outside"],
  [/^throttled$/, "--class-throttled"],
  [/^interrupted$/, "--class-interrupted"],
  [/^blocked$/, "--class-blocked"],
  [/^waking$/, "--class-waking"],
  [/^between_operators$/, "--class-between"],
  [/^graph_preparation$/, "--class-preparation"],
  [/^application$/, "--class-application"],
  [/^other_backend$/, "--class-backend"],
  [/^probes$/, "--class-probes"],
];

/** Sections with details of a class, the best first. */
const SHOWN_IN: [RegExp, string[]][] = [
  [/^work(_and_wait)?$/, ["op-types"]],
  [/^(wait_)?(preempted|throttled|interrupted|blocked)$|^waking$/, ["interference", "proftime"]],
  [/^wait_/, ["threads", "proftime"]],
  [/^(graph_preparation|other_backend)$/, ["graphs", "proftime"]],
  [/^application$/, ["tokens", "proftime"]],
  [/^probes$/, ["cost"]],
];

function shownIn(key: string): string[] {
  return SHOWN_IN.find(([pattern]) => pattern.test(key))?.[1] ?? ["proftime"];
}

function variable(key: string): string {
  return FAMILY.find(([pattern]) => pattern.test(key))?.[1] ?? "--class-unknown";
}

/** What a class counts, for the pointer. */
const DEFINITION: [RegExp, string][] = [
  [
    /^work_and_wait$/,
    "From the start of an operator to the next start, with the wait at barriers.",
  ],
  [/^work$/, "A thread computed an operator; where threads wait, the last one at the barrier."],
  [/^wait_/, "All other threads waited at a barrier for this one."],
  [/^preempted$/, "A thread was runnable, and another task had its CPU."],
  [/^throttled$/, "A thread was runnable and its CPU idle: the group's quota was used up."],
  [/^interrupted$/, "Interrupt handlers ran on the CPU of a computing thread."],
  [/^blocked$/, "A thread slept inside an operator, for example for pages from storage."],
  [/^waking$/, "A thread was woken and had not begun to run."],
  [/^between_operators$/, "From the end of one operator to the start of the next."],
  [/^graph_preparation$/, "In the llama_decode call and outside of graphs."],
  [/^application$/, "Between two calls: sampling and the application."],
  [/^other_backend$/, "In graphs of other backends than the CPU's."],
  [/^probes$/, "Overhead of the operator probes."],
];

function define(key: string): string {
  return DEFINITION.find(([pattern]) => pattern.test(key))?.[1] ?? "";
}

interface Classes {
  keys: string[];
  names: string[];
}

function bar(classes: Classes, parts: number[], whole: number, key: string): HTMLElement {
  const pieces = parts.map((ns, i): Child => {
    if (!(ns > 0)) {
      return null;
    }
    const piece = h("span", {
      title: `${classes.names[i]}: ${time(ns)}, ${percent(ns / whole)}`,
      data: { key: `${key}.${classes.keys[i]}`, value: ns },
    });
    piece.style.width = `${(ns / whole) * 100}%`;
    piece.style.background = `var(${variable(classes.keys[i] ?? "")})`;
    return piece;
  });
  const label = parts
    .flatMap((ns, i) => (ns > 0 ? [`${classes.names[i]} ${percent(ns / whole)}`] : []))
    .join(", ");
  return h(
    "div",
    { class: "budget-bar", role: "img", "aria-label": label, data: { bar: key, whole } },
    ...pieces,
  );
}

/** Classes with at least 0.05 % (of a thread 0.5 %), in the order of the bar; with the time per call if `figures`. */
function legend(classes: Classes, phase: PhaseBudget, figures: boolean): HTMLElement {
  const whole = phase.time_ns ?? 0;
  const calls = Math.max(1, phase.calls ?? 1);
  // The bars of threads have further classes.
  const inThreads = (i: number): boolean =>
    !figures && list(phase.threads).some((t) => (t.parts[i] ?? 0) >= t.time_ns * 0.005);
  const rows = list(phase.wall)
    .map((ns, i) => ({ ns, i }))
    .filter(({ ns, i }) => (ns > 0 && ns / whole >= 0.0005) || inThreads(i))
    .map(({ ns, i }) =>
      h(
        "li",
        { title: define(classes.keys[i] ?? "") },
        swatch(`var(${variable(classes.keys[i] ?? "")})`),
        h(
          "span",
          { class: "name" },
          evidenceLink(shownIn(classes.keys[i] ?? ""), classes.names[i] ?? ""),
        ),
        figures ? h("span", { class: "num" }, time(ns / calls)) : null,
        figures ? h("span", { class: "num muted" }, percent(ns / whole)) : null,
      ),
    );
  return h("ul", { class: "budget-legend" }, ...rows);
}

function phasePanel(classes: Classes, phase: PhaseBudget, ladder: boolean): HTMLElement {
  const whole = phase.time_ns ?? 0;
  const threads = list(phase.threads)
    .slice(0, 16)
    .map((t) =>
      h(
        "div",
        { class: "budget-thread" },
        h(
          "span",
          { class: "who mono" },
          t.tid == null ? "further threads" : `thread ${t.tid}`,
          t.calls_tokens ? h("span", { class: "muted" }, " calls") : null,
        ),
        bar(classes, list(t.parts), t.time_ns ?? 1, `budget.${phase.phase}.${t.tid}`),
      ),
    );
  const name = phaseName(phase.phase);
  if (ladder) {
    return panel(`${name}, by thread`, ...threads, legend(classes, phase, false));
  }
  const calls = phase.calls ?? 0;
  const per = phase.phase === "decode" ? "per token" : "per call";
  return panel(
    `${name}: ${time(whole / Math.max(1, calls))} ${per}, ${(phase.all_calls ?? calls) > calls ? `from ${calls} of ${phase.all_calls} calls` : plural(calls, "call")}${phase.phase === "decode" && calls > 1 ? ", including the first" : ""}`,
    bar(classes, list(phase.wall), Math.max(1, whole), `budget.${phase.phase}.wall`),
    legend(classes, phase, true),
    threads.length > 0 ? h("h5", {}, evidenceLink(["threads"], "Time per thread")) : null,
    ...threads,
  );
}

/** One column per decode token; the height is its time. */
function overTime(classes: Classes, budget: Budget): Child {
  const tokens = list(budget.tokens).filter((t) => t.phase === "decode" && (t.time_ns ?? 0) > 0);
  if (tokens.length < 2) {
    return null;
  }
  const canvas = h("canvas", {
    class: "budget-tokens",
    role: "img",
    "aria-label": "Time of each decode token by class",
  });
  const times = tokens.map((t) => t.time_ns ?? 0).sort((a, b) => a - b);
  // One long token must not flatten the others.
  const top = Math.min(
    times[times.length - 1] ?? 1,
    3 * (times[Math.floor(times.length * 0.95)] ?? 1),
  );
  const draw = (): void => {
    const [width, height] = [canvas.clientWidth || 800, 160];
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const c = canvas.getContext("2d");
    if (!c) {
      return;
    }
    c.scale(scale, scale);
    const colours = classes.keys.map((key) => cssVar(variable(key)));
    const step = width / tokens.length;
    tokens.forEach((token, n) => {
      let y = height;
      list(token.wall).forEach((ns, i) => {
        const tall = (ns / top) * height;
        c.fillStyle = colours[i] ?? "gray";
        c.fillRect(n * step, y - tall, Math.max(0.5, step - (step > 4 ? 1 : 0)), tall);
        y -= tall;
      });
    });
  };
  onTheme(draw);
  new ResizeObserver(draw).observe(canvas);
  const [first, last] = [tokens[0], tokens[tokens.length - 1]];
  return panel(
    `Decode tokens over time, up to ${time(top)}`,
    canvas,
    h(
      "p",
      { class: "axis" },
      h("span", {}, `call ${first?.call ?? ""}`),
      h("span", {}, `call ${last?.call ?? ""}`),
    ),
  );
}

/** The ladder that answers what the classes of a phase answer otherwise. */
const LADDER: Record<string, Question> = {
  decode: "decode",
  batch_decode: "decode",
  prefill: "prompt",
};

export function budgetSection(summary: Summary): HTMLElement | null {
  const budget: Maybe<Budget> = summary.budget;
  // Warm-up calls are not shown; summary.json has them.
  const phases = list(budget?.phases).filter((p) => (p.time_ns ?? 0) > 0 && p.phase !== "warm_up");
  if (!budget || phases.length === 0) {
    return null;
  }
  const keys = list(budget.classes);
  const classes = { keys, names: keys.map((key, i) => list(budget.names)[i] ?? key) };
  const order = ["decode", "prefill"];
  phases.sort(
    (a, b) => ((order.indexOf(a.phase ?? "") + 9) % 9) - ((order.indexOf(b.phase ?? "") + 9) % 9),
  );
  const asked = new Set<Question | undefined>(mainLadders(summary).map((l) => l.question));
  const unseen = budget.scheduler
    ? []
    : [
        " ",
        evidenceLink(["session"], "The scheduler level was not recorded"),
        ": these classes include time taken by other tasks.",
      ];
  const lead = h(
    "span",
    {},
    evidenceLink(["tokens", "proftime"], "The time of every token"),
    ", by what its threads did. ",
    evidenceLink(["ladder", "proftime"], "What each cause costs"),
    " is above.",
    ...unseen,
  );
  return section(
    "budget",
    "What the threads did",
    lead,
    h(
      "div",
      { class: "halves" },
      ...phases.map((p) => phasePanel(classes, p, asked.has(LADDER[p.phase ?? ""]))),
    ),
    overTime(classes, budget),
  );
}
