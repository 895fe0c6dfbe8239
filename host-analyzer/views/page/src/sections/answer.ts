// The answer, before any table: how fast, what would help and by how much, what was ruled out. Each
// line leads to its evidence.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type {
  Evidence,
  Finding,
  Findings,
  Headline,
  MissingKind,
  NotKnown,
  RuledOut,
} from "../data/schema.ts";
import { h, type Child } from "../ui/dom.ts";
import { evidenceLink } from "../ui/links.ts";
import { DASH, figureText, plural, shorten, time } from "../ui/format.ts";

/** Findings beyond these are folded, so that the budget is on the first screen too. */
const SHOWN = 3;
/** The longest name, for example a task's command line, that a sentence holds. */
const LONGEST_NAME = 60;

/** The section that shows a kind of evidence. */
const SECTION: Record<string, string> = {
  budget: "budget",
  timeline: "proftime",
  threads: "threads",
  interference: "interference",
  operators: "operators",
  roofline: "roofline",
  tokens: "tokens",
  gauges: "gauges",
  conditions: "conditions",
  weights: "session",
  experts: "experts",
  requests: "tokens",
  context: "context",
  speculative: "speculative",
  graphs: "graphs",
};

/**
 * Links to the places that show the evidence, each once. `liveLinks` removes those whose section is
 * not in the page.
 */
function links(evidence: Maybe<Evidence[]>): Child {
  const targets = new Map<string, string>();
  for (const { place } of list(evidence)) {
    const target = SECTION[place ?? ""];
    if (place && target && !targets.has(target)) {
      targets.set(target, place);
    }
  }
  const to = [...targets].map(([target, place]) =>
    h("a", { class: "where", href: `#${target}` }, place),
  );
  return to.length > 0 ? h("span", { class: "shown-in" }, "shown in ", ...to) : null;
}

/** The sections that show a missing piece where it is recorded, or else what was recorded. */
const WHERE_MISSING: Partial<Record<MissingKind, string[]>> = {
  decode_calls: ["tokens"],
  ceiling: ["ceilings"],
  fact: ["conditions"],
  counter: ["counters"],
  gauge: ["gauges"],
  context_steps: ["context", "tokens"],
  rounds: ["speculative", "tokens"],
};

function whatWasRecorded(row: RuledOut | NotKnown): Child {
  const kind = "missing" in row ? row.missing[0]?.kind : null;
  return kind == null
    ? null
    : h(
        "span",
        { class: "shown-in" },
        evidenceLink([...(WHERE_MISSING[kind] ?? []), "session"], "what was recorded"),
      );
}

/** The sections that the headline sums up. */
function summedUp(headline: Headline): HTMLElement {
  const of: [string, string[]][] = [
    ["tokens", ["tokens"]],
    ["time by class", ["budget"]],
  ];
  if (headline.mbu != null) {
    of.push(["ceilings", ["ceilings", "roofline"]]);
  }
  if ((headline.probes_share ?? 0) >= 0.01 || headline.slowdown?.kind === "measured") {
    of.push(["cost of the probes", ["cost"]]);
  }
  return h(
    "p",
    { class: "summed-up muted" },
    ...of.flatMap(([text, sections], i) => [i > 0 ? " · " : null, evidenceLink(sections, text)]),
  );
}

/** What the title and the gain beside it do not say yet, with long names shortened. */
function sentence(f: Finding): string {
  const whole = f.sentence ?? "";
  const after =
    f.title && whole.startsWith(`${f.title}: `) ? whole.slice(f.title.length + 2) : whole;
  const gain = f.gain ? after.lastIndexOf(" Gain: ") : -1;
  const said = gain < 0 ? after : after.slice(0, gain);
  const names = list(f.evidence).flatMap(({ unit, value }) =>
    unit === "name" && typeof value === "string" && value.length > LONGEST_NAME ? [value] : [],
  );
  const short = names.reduce(
    (text, name) => text.split(name).join(shorten(name, LONGEST_NAME)),
    said,
  );
  return short.charAt(0).toUpperCase() + short.slice(1);
}

function perSecond(rate: number): string {
  return rate < 10 ? rate.toFixed(1) : rate < 100 ? figureText(rate) : String(Math.round(rate));
}

function finding(f: Finding): HTMLElement {
  const { gain } = f;
  const what = gain?.of === "request" ? "a request" : "a token";
  const saves = gain
    ? `${time(gain.low_ns)} to ${time(gain.high_ns)} ${what}`
    : "not known in time";
  const speed =
    gain?.low_tokens_per_s != null && gain.high_tokens_per_s != null
      ? `${perSecond(gain.low_tokens_per_s)} to ${perSecond(gain.high_tokens_per_s)} tok/s`
      : "";
  return h(
    "li",
    { data: { code: f.code, low: gain?.low_ns ?? "", high: gain?.high_ns ?? "" } },
    h(
      "div",
      { class: "gain" },
      h("span", { class: "muted" }, gain ? "saves " : "gain "),
      h("b", {}, saves),
      speed ? h("span", { class: "muted" }, speed) : null,
    ),
    h(
      "div",
      { class: "what" },
      h("b", {}, f.title || DASH),
      h("p", { class: "says", title: f.sentence }, sentence(f)),
      h(
        "p",
        { class: "muted" },
        h("span", {}, `confidence: ${f.confidence ?? "not told"}`),
        links(f.evidence),
      ),
    ),
  );
}

function excluded(title: string, rows: (RuledOut | NotKnown)[]): Child {
  if (rows.length === 0) {
    return null;
  }
  const items = rows.map((r) =>
    h(
      "li",
      { data: { code: r.code } },
      r.sentence ?? "",
      " ",
      ("evidence" in r ? links(r.evidence) : null) ?? whatWasRecorded(r),
    ),
  );
  return h(
    "details",
    {},
    h("summary", {}, `${title} (${rows.length})`),
    h("ul", { class: "excluded" }, ...items),
  );
}

/** What it means that nothing was found: little, where most causes could not be checked. */
function nothing(findings: Findings): string {
  const [out, unknown] = [
    list(findings.ruled_out).length,
    list(findings.not_known).length + list(findings.noisy).length,
  ];
  const said = [
    out > 0 ? `${plural(out, "cause")} ${out === 1 ? "is" : "are"} ruled out` : "",
    unknown > 0 ? `${plural(unknown, "cause")} could not be checked with what was recorded` : "",
  ].filter(Boolean);
  return `Nothing was found that would make it faster here${said.length > 0 ? `: ${said.join(", ")}` : ""}.`;
}

function findingList(findings: Findings): Child[] {
  const found = list(findings.found);
  if (found.length === 0) {
    return [h("p", { class: "nothing" }, nothing(findings))];
  }
  const first = h("ol", { class: "findings" }, ...found.slice(0, SHOWN).map(finding));
  const rest = found.slice(SHOWN);
  if (rest.length === 0) {
    return [first];
  }
  const more = h("ol", { class: "findings", start: SHOWN + 1 }, ...rest.map(finding));
  more.style.counterReset = `finding ${SHOWN}`;
  return [
    first,
    h(
      "details",
      { class: "more-findings" },
      h("summary", {}, plural(rest.length, "further finding")),
      more,
    ),
  ];
}

export function answer(findings: Maybe<Findings>): HTMLElement | null {
  if (!findings?.headline?.token_ns) {
    return null;
  }
  return h(
    "section",
    { id: "answer", "aria-label": "Findings" },
    h("p", { class: "headline" }, findings.sentence ?? ""),
    summedUp(findings.headline),
    ...findingList(findings),
    h(
      "div",
      { class: "others" },
      excluded("Ruled out", list(findings.ruled_out)),
      excluded("Too noisy to tell", list(findings.noisy)),
      excluded("Not known", list(findings.not_known)),
    ),
  );
}
