// The ladder as a waterfall: each step begins where the one before ends.

import { list } from "../data/read.ts";
import type {
  Culprit,
  Ladder,
  LadderFloorGroup,
  LadderGain,
  LadderStep,
  LadderSum,
  Summary,
} from "../data/schema.ts";
import { h, type Child } from "../ui/dom.ts";
import { bytes, count, percent, plural, time } from "../ui/format.ts";
import { choice, section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { IGNORED, mainLadders } from "./speeds.ts";
import { definition, family, stepName } from "./steps.ts";
import { type Bar, waterfall } from "./waterfall.ts";

const UNITS: Record<string, string> = {
  decode: "token",
  prompt: "prompt",
  first_token: "request",
  start_up: "start",
  encode: "call",
  between_calls: "call",
};

/** Questions whose ladders are not folded. */
const FIRST = ["decode", "prompt", "encode"];

const TITLES: Record<string, string> = {
  first_token: "First token",
  start_up: "Start-up",
  encode: "Encode",
  between_calls: "Between calls",
};

/** Steps that the line of a folded ladder names. */
const LARGEST = 3;

type Units = Pick<Ladder, "question" | "measured_ns" | "units">;

function unit(ladder: Units): string {
  return UNITS[ladder.question] ?? "unit";
}

function name(question: Ladder["question"]): string {
  return question.replaceAll("_", " ");
}

/** `430 ms (423 to 433 ms)` */
function without(ladder: Units, gain: LadderGain): string {
  const at = (ns: number): string => time(Math.max(0, ladder.measured_ns - ns) / ladder.units);
  return `${at(gain.likely_ns)} (${at(gain.high_ns)} to ${at(gain.low_ns)})`;
}

function tip(step: LadderStep, ladder: Units): string {
  const per = (ns: number): string => time(ns / ladder.units);
  const range = step.low_ns < step.high_ns ? `${per(step.low_ns)} to ${per(step.high_ns)}.` : "";
  return [definition(step.kind), range, step.culprit?.command].filter(Boolean).join("\n");
}

function line(step: LadderStep, bar: Bar, ladder: Units): HTMLElement {
  const share = step.ns / ladder.measured_ns;
  const fill = h("span", { class: `fill ${family(step.kind)}` });
  fill.style.left = `${bar.from * 100}%`;
  fill.style.width = `${bar.width * 100}%`;
  const removed =
    step.gain && share >= IGNORED
      ? h("span", { class: "without" }, `→ without it ${without(ladder, step.gain)}`)
      : null;
  return h(
    "li",
    {
      class: Math.abs(share) < IGNORED ? "small" : "",
      title: tip(step, ladder),
      data: { step: step.kind, value: step.ns },
    },
    h("span", { class: "label" }, step.label, " ", removed),
    h("span", { class: "track" }, fill),
    h("span", { class: "num" }, time(step.ns / ladder.units)),
    h("span", { class: "num muted" }, percent(share)),
  );
}

/** The operators of the floor by tensor group and type, and the definitions of the steps. */
function details(ladder: Ladder): HTMLElement {
  const per = (ns: number): string => time(ns / ladder.units);
  const groups = list(ladder.floor?.groups);
  const operators =
    groups.length === 0
      ? null
      : table<LadderFloorGroup>({
          name: `floor ${ladder.question}`,
          rows: groups,
          limit: 8,
          columns: [
            { key: "group", title: "Tensors", value: (g) => g.group.replaceAll("_", " ") },
            { key: "dtype", title: "Type", value: (g) => g.dtype },
            {
              key: "bytes",
              title: "Reads",
              numeric: true,
              value: (g) => g.bytes,
              cell: (g) => bytes(Math.round(g.bytes / ladder.units)),
            },
            {
              key: "rate",
              title: "GB/s",
              numeric: true,
              value: (g) => g.bytes / Math.max(g.work_ns, 1),
              cell: (g) => (g.bytes > 0 ? (g.bytes / Math.max(g.work_ns, 1)).toFixed(1) : "–"),
            },
            {
              key: "floor_ns",
              title: "At the limit",
              numeric: true,
              value: (g) => g.floor_ns,
              cell: (g) => (g.unknown_ns > g.work_ns / 2 ? "no formula" : per(g.floor_ns)),
            },
            {
              key: "work_ns",
              title: "Took",
              numeric: true,
              value: (g) => g.work_ns,
              cell: (g) => per(g.work_ns),
            },
            {
              key: "above_ns",
              title: "Above it",
              numeric: true,
              value: (g) => g.work_ns - g.floor_ns,
              cell: (g) => per(g.work_ns - g.floor_ns),
            },
          ],
        }).element;
  const kinds = [...new Set(ladder.steps.map((s) => s.kind))].filter((k) => definition(k));
  return h(
    "details",
    { class: "step-details" },
    h(
      "summary",
      {},
      operators ? "Operators by tensor group, and what the steps are" : "What the steps are",
    ),
    operators,
    h(
      "dl",
      { class: "definitions" },
      ...kinds.flatMap((kind) => [h("dt", {}, stepName(kind)), h("dd", {}, definition(kind))]),
    ),
  );
}

function steps(ladder: Ladder, scheduler: boolean): HTMLElement {
  const bars = waterfall(ladder);
  const lines = ladder.steps.map((step, i) => line(step, bars[i]!, ladder));
  const causes = ladder.steps.filter((s) => s.gain && s.ns >= ladder.measured_ns * IGNORED);
  const { traced_units: traced, units } = ladder;
  const notes = [
    traced < units
      ? `Operators from ${count(traced)} of ${plural(units, unit(ladder))}; delays from all.`
      : "",
    scheduler
      ? ""
      : "The scheduler level was not recorded: delays by other programs may be in the time of operators, in the uneven split of their work, or unexplained. --levels all records them.",
  ].filter(Boolean);
  return h(
    "div",
    { data: { ladder: ladder.question, measured: ladder.measured_ns, units } },
    h("ol", { class: "waterfall" }, ...lines),
    ladder.all_causes && causes.length > 1
      ? h("p", { class: "all" }, `→ without all delays ${without(ladder, ladder.all_causes)}`)
      : null,
    ...notes.map((note) => h("p", { class: "hint" }, note)),
    details(ladder),
  );
}

function heading(ladder: Units): string {
  const times = ladder.units > 1 ? `, mean of ${plural(ladder.units, unit(ladder))}` : "";
  return `${time(ladder.measured_ns / ladder.units)} per ${unit(ladder)}${times}`;
}

/** `90 % operators · 6 % sampling, application` */
export function largestSteps(ladder: Pick<Ladder, "steps" | "measured_ns">): string {
  const shares = ladder.steps.map((s): [string, number] => [
    s.culprit?.program || stepName(s.kind),
    s.ns / ladder.measured_ns,
  ]);
  return shares
    .filter(([, share]) => share >= IGNORED)
    .sort((a, b) => b[1] - a[1])
    .slice(0, LARGEST)
    .map(([name, share]) => `${Math.round(share * 100)} % ${name}`)
    .join(" · ");
}

/** The ladder of another question than the main ones: one line until it is opened. */
function folded(ladder: Ladder, scheduler: boolean): HTMLElement {
  return h(
    "details",
    { class: "step-details" },
    h(
      "summary",
      {},
      h("b", {}, TITLES[ladder.question] ?? name(ladder.question)),
      ` ${heading(ladder)}: ${largestSteps(ladder)}`,
    ),
    steps(ladder, scheduler),
  );
}

const NOBODY: Culprit = {
  tid: 0,
  pid: 0,
  name: "",
  program: "",
  command: "",
  cgroup: "",
  engine: false,
  tasks: 0,
  cpus: [],
};

/** The ladder of all pieces of a recording of which the other figures cover one. */
function ofPieces(sum: LadderSum): HTMLElement {
  const steps = sum.steps.map((step): LadderStep => {
    const { kind, label, ns } = step;
    const culprit =
      step.culprit == null ? null : { ...NOBODY, name: step.culprit, program: step.culprit };
    return { kind, label, ns, low_ns: ns, high_ns: ns, culprit, gain: null };
  });
  const { question, measured_ns, units } = sum;
  const ladder = { question, steps, measured_ns, units };
  const bars = waterfall(ladder);
  return h(
    "details",
    { class: "step-details" },
    h(
      "summary",
      {},
      h("b", {}, `${plural(sum.parts, "piece")}, ${name(question)}`),
      ` ${heading(ladder)}: ${largestSteps(ladder)}`,
    ),
    h(
      "div",
      { data: { ladder: `pieces ${question}`, measured: measured_ns, units } },
      h("ol", { class: "waterfall" }, ...steps.map((step, i) => line(step, bars[i]!, ladder))),
      h(
        "p",
        { class: "hint" },
        "Of all pieces; the rest of this page covers the last one. Operators are one step here.",
      ),
    ),
  );
}

/** Null without calls whose operators were captured. */
export function ladderSection(summary: Summary): HTMLElement | null {
  const all = mainLadders(summary);
  const ladders = all.filter((l) => FIRST.includes(l.question));
  const others = all.filter((l) => !FIRST.includes(l.question));
  const pieces = list(summary.ladders_of_pieces);
  if (all.length === 0 && pieces.length === 0) {
    return null;
  }
  const scheduler = summary.sched?.recorded === true;
  const lead = h("span", {});
  const bodies = ladders.map((ladder) => steps(ladder, scheduler));
  const show = (index: number): void => {
    bodies.forEach((body, i) => (body.hidden = i !== index));
    lead.textContent = heading(ladders[index]!);
  };
  if (ladders.length > 0) {
    show(0);
  }
  const tabs: Child =
    ladders.length > 1
      ? choice(
          "Ladder of",
          ladders.map((l) => unit(l)),
          show,
        )
      : null;
  const element = section(
    "ladder",
    "Where the time goes",
    lead,
    h(
      "div",
      { class: "panel" },
      ...bodies,
      ...others.map((l) => folded(l, scheduler)),
      ...pieces.map(ofPieces),
    ),
  );
  if (tabs) {
    element.querySelector("header")?.append(h("span", { class: "grow" }), tabs);
  }
  return element;
}
