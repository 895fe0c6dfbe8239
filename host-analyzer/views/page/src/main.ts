// The report page: reads the data and builds the sections. A section that fails is replaced by an
// error message; the others are not affected.

import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/sections.css";
import "./style/views.css";
import "./style/experts.css";
import "./style/roofline.css";
import "./style/first.css";
import "./style/budget.css";
import { dagSection } from "./dag/section.ts";
import type { Dag, Summary } from "./data/schema.ts";
import { list, readJson } from "./data/read.ts";
import type { Timeline } from "./data/timeline.ts";
import { expertSection } from "./experts/section.ts";
import { actions } from "./first/actions.ts";
import { everyToken } from "./first/every_token.ts";
import { ladderSection } from "./first/ladder.ts";
import { promptLine } from "./first/prompt.ts";
import { speedCard } from "./first/speed.ts";
import { whoHadTheCpu } from "./first/who.ts";
import { about } from "./sections/about.ts";
import { backendSection } from "./sections/backends.ts";
import { budgetSection } from "./sections/budget.ts";
import { ceilingSection } from "./sections/ceilings.ts";
import { contextSection } from "./sections/context.ts";
import { conditionSection } from "./sections/conditions.ts";
import { costSection } from "./sections/cost.ts";
import { counterSection } from "./sections/counters.ts";
import { graphFigures } from "./sections/figures.ts";
import { gaugeSection } from "./sections/gauges.ts";
import { graphSection } from "./sections/graphs.ts";
import { speculativeSection } from "./sections/speculative.ts";
import { sessionSection, title } from "./sections/header.ts";
import { healthBanner, isFine } from "./sections/health.ts";
import { interferenceSection } from "./sections/interference.ts";
import { moduleSection } from "./sections/modules.ts";
import { opName, opTypeSection } from "./sections/op_types.ts";
import { nestedSection } from "./sections/nested.ts";
import { operatorSection } from "./sections/operators.ts";
import { probeSection } from "./sections/probes.ts";
import { rooflineSection } from "./sections/roofline.ts";
import { threadSection } from "./sections/threads.ts";
import { tokenSection } from "./sections/tokens.ts";
import { timelineSection } from "./timeline/section.ts";
import { OperatorColours } from "./ui/colour.ts";
import { h } from "./ui/dom.ts";
import { group } from "./ui/groups.ts";
import { keysButton } from "./ui/keys.ts";
import { start } from "./ui/start.ts";

const KNOWN_SCHEMA = 2;

/** Colours go to the operators with the largest shares, summed over the phases. */
function coloursOf(summary: Summary): OperatorColours {
  const time = new Map<string, number>();
  for (const row of list(summary.op_types)) {
    time.set(opName(row), (time.get(opName(row)) ?? 0) + (row.share ?? 0));
  }
  return new OperatorColours([...time].sort((a, b) => b[1] - a[1]).map(([name]) => name));
}

function guarded(what: string, build: () => HTMLElement | null): HTMLElement | null {
  try {
    return build();
  } catch (error) {
    console.error(what, error);
    return h("p", { class: "warning" }, `Could not draw the ${what}: ${String(error)}.`);
  }
}

/** Navigation, in page order. `liveLinks` removes links to what is not on the page. */
const PARTS: [string, string][] = [
  ["answer", "What to do"],
  ["ladder", "Where the time goes"],
  ["group-operators", "Operators"],
  ["group-timeline", "Timeline"],
  ["group-machine", "Machine"],
  ["group-recording", "Recording"],
];

function navigation(): HTMLElement {
  return h(
    "nav",
    { class: "top", "aria-label": "Parts of the page" },
    h("a", { href: "#top", class: "brand" }, "Prof", h("b", {}, "Infer")),
    h("div", { class: "links" }, ...PARTS.map(([id, name]) => h("a", { href: `#${id}` }, name))),
    keysButton(),
  );
}

/** The ladder, and next to it every token and the programs that ran instead of the engine. */
function whereTheTimeGoes(summary: Summary, timeline: Timeline | null): HTMLElement | null {
  const ladder = guarded("ladder", () => ladderSection(summary));
  const tokens = guarded("tokens", () => everyToken(summary, timeline));
  const programs = tokens || ladder ? guarded("programs", () => whoHadTheCpu(summary.sched)) : null;
  return tokens || ladder
    ? h("div", { class: "where-time" }, ladder, h("div", { class: "side" }, tokens, programs))
    : null;
}

/** Everything below the first screen, folded. */
function groups(
  summary: Summary,
  dag: Dag | null,
  timeline: Timeline | null,
): (HTMLElement | null)[] {
  const colours = coloursOf(summary);
  return [
    group("group-operators", "Operators", "types, modules, roofline, graph, experts", [
      guarded("operator types", () => opTypeSection(summary, colours)),
      guarded("operators", () => operatorSection(summary, colours)),
      guarded("modules", () => moduleSection(summary)),
      guarded("roofline", () => rooflineSection(summary, colours)),
      guarded("backends", () => backendSection(summary.backends, colours)),
      guarded("nested calls", () => nestedSection(summary, colours)),
      guarded("graph", () => dagSection(dag)),
      guarded("experts", () => expertSection(summary)),
    ]),
    group("group-timeline", "Timeline", "threads over time, tokens", [
      guarded("timeline", () => timelineSection(timeline, colours)),
      guarded("token statistics", () => tokenSection(summary)),
      guarded("context", () => contextSection(summary.kv)),
      guarded("speculative decoding", () => speculativeSection(summary.speculative)),
      guarded("budget", () => budgetSection(summary)),
      guarded("threads", () => threadSection(summary)),
      guarded("graph calls", () => graphSection(summary)),
    ]),
    group("group-machine", "Machine", "conditions, session, measured peaks, counters, sensors", [
      guarded("conditions", () => conditionSection(summary)),
      guarded("session", () => sessionSection(summary)),
      guarded("ceilings", () => ceilingSection(summary.ceilings)),
      guarded("counters", () => counterSection(summary)),
      guarded("sensors", () => gaugeSection(summary)),
    ]),
    group("group-recording", "Recording", "overhead, probes", [
      guarded("overhead", () => costSection(summary)),
      guarded("probes", () => probeSection(summary.session)),
    ]),
  ];
}

function page(summary: Summary, dag: Dag | null, timeline: Timeline | null): HTMLElement[] {
  const newer =
    (summary.schema ?? KNOWN_SCHEMA) > KNOWN_SCHEMA
      ? h(
          "p",
          { class: "warning" },
          "The data on this page has a newer schema than its program. Figures may be missing.",
        )
      : null;
  const fine = isFine(summary.health, summary.ending);
  const health = guarded("health", () => healthBanner(summary.health, summary.ending));
  const main = h(
    "main",
    { id: "top" },
    newer,
    fine ? null : health,
    guarded("title", () => title(summary)),
    guarded("speed", () => speedCard(summary)),
    guarded("key figures", () => graphFigures(summary)),
    guarded("findings", () => actions(summary, timeline)),
    guarded("interference", () => interferenceSection(summary.sched)),
    whereTheTimeGoes(summary, timeline),
    guarded("prompt", () => promptLine(summary)),
    fine ? health : null,
    ...groups(summary, dag, timeline),
  );
  return [navigation(), main, about(summary.session?.agent)];
}

async function draw(): Promise<HTMLElement[] | null> {
  const [summary, dag, timeline] = await Promise.all([
    readJson<Summary>("summary"),
    readJson<Dag>("dag"),
    readJson<Timeline>("timeline"),
  ]);
  if (!summary) {
    return null;
  }
  if (summary.heading?.name) {
    document.title = `${summary.heading.name} · ProfInfer`;
  }
  return page(summary, dag, timeline);
}

void start({ data: "summary", command: "analyze" }, draw);
