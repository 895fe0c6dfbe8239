// What to do: findings with effect and command, and the checks that found nothing or lack data.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type {
  Evidence,
  Finding,
  Findings,
  Gain,
  MissingKind,
  NotKnown,
  RuledOut,
  Summary,
} from "../data/schema.ts";
import type { Timeline } from "../data/timeline.ts";
import { copyable } from "../ui/copy.ts";
import { h, type Child } from "../ui/dom.ts";
import { DASH, plural, time } from "../ui/format.ts";
import { evidenceLink } from "../ui/links.ts";
import { timeLink } from "../ui/show_time.ts";
import { decodeTokens, isShown, longest } from "./decode_tokens.ts";
import { command, freeCpus } from "./remedy.ts";
import { rateText } from "./speeds.ts";
import { couldNotCheck, topic } from "./verdicts.ts";

/** Further findings are folded, so that the ladder is on the first screen too. */
const SHOWN = 3;

/** The section that shows a kind of evidence. */
const SECTION: Record<string, string> = {
  budget: "ladder",
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

/** Names of links where the section's id is none. */
const LINKS: Record<string, string> = {
  proftime: "timeline",
  interference: "who had the CPUs",
  gauges: "sensors",
};

/** Evidence that the rows of threads in the timeline show. */
const IN_TIMELINE = ["budget", "timeline", "interference", "threads"];

/**
 * Links to the places that show the evidence, each once. `liveLinks` removes those whose section is
 * not in the page.
 */
function links(evidence: Maybe<Evidence[]>): Child {
  const targets = new Set(
    list(evidence).flatMap(({ place }) => {
      const target = SECTION[place ?? ""];
      return target ? [target] : [];
    }),
  );
  const to = [...targets].map((target) =>
    h("a", { class: "where", href: `#${target}` }, LINKS[target] ?? target),
  );
  return to.length > 0 ? h("span", { class: "shown-in" }, ...to) : null;
}

/** The sections that show a missing piece where it is recorded, or else what was recorded. */
const WHERE_MISSING: Partial<Record<MissingKind, string[]>> = {
  calls: ["tokens"],
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

/** `1.9 → ~8.4 t/s (8.2 to 8.7)`, or the time that it saves. */
export function effect(gain: Maybe<Gain>, tokensPerS: Maybe<number>): [string, string] {
  if (!gain) {
    return ["gain not known", ""];
  }
  const { low_tokens_per_s: low, likely_tokens_per_s: likely, high_tokens_per_s: high } = gain;
  if (tokensPerS && low && likely) {
    const range = high
      ? `${rateText(low)} to ${rateText(high)} t/s`
      : `${rateText(low)} t/s or more`;
    return [`${rateText(tokensPerS)} → ~${rateText(likely)} t/s`, range];
  }
  const saves = [time(gain.low_ns), time(gain.high_ns)].join(" to ");
  return [`saves ~${time(gain.likely_ns)}`, `${saves}, ${gain.shortens}`];
}

/** Names and values. */
function evidenceList(evidence: Maybe<Evidence[]>): Child {
  const items = list(evidence).map((e) =>
    h("div", {}, h("dt", {}, e.name || e.key.replaceAll("_", " ")), h("dd", {}, e.text || DASH)),
  );
  return items.length > 0 ? h("dl", { class: "evidence-list" }, ...items) : null;
}

function finding(f: Finding, summary: Summary, jump: (f: Finding) => Child): HTMLElement {
  const headline = summary.findings.headline;
  const [what, range] = effect(f.gain, headline.tokens_per_s);
  const run = command(f, freeCpus(summary), headline.threads);
  return h(
    "li",
    { data: { code: f.code, low: f.gain?.low_ns ?? "", high: f.gain?.high_ns ?? "" } },
    h("b", { class: "title" }, f.title || DASH),
    h(
      "span",
      { class: "gain" },
      h("b", {}, what),
      range ? h("span", { class: "muted" }, ` ${range}`) : null,
    ),
    h("p", { class: "action" }, f.action ?? "", " ", run ? copyable(run) : null),
    evidenceList(f.evidence),
    h(
      "p",
      { class: "observed muted" },
      h("span", {}, `confidence: ${f.confidence ?? "unknown"}`),
      links(f.evidence),
      jump(f),
    ),
  );
}

/** A grey line with short names; the sentences are folded. */
function checks(title: string, names: string, rows: (RuledOut | NotKnown)[]): Child {
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
    h("summary", {}, h("b", {}, `${title} (${rows.length}): `), names),
    h("ul", { class: "excluded" }, ...items),
  );
}

function findingList(
  found: Finding[],
  summary: Summary,
  jump: (f: Finding) => Child,
): (HTMLElement | null)[] {
  if (found.length === 0) {
    return [h("p", { class: "nothing" }, "No remedy found. The ladder shows where the time goes.")];
  }
  const item = (f: Finding): HTMLElement => finding(f, summary, jump);
  // Those without a gain are folded, unless there is nothing else to do.
  const gains = found.filter((f) => f.gain).length || found.length;
  const shown = Math.min(SHOWN, gains);
  const first = h("ol", { class: "findings" }, ...found.slice(0, shown).map(item));
  const rest = found.slice(shown);
  if (rest.length === 0) {
    return [first];
  }
  const more = h("ol", { class: "findings" }, ...rest.map(item));
  more.style.counterReset = `finding ${shown}`;
  const title = plural(rest.length, "further finding");
  return [first, h("details", { class: "more-findings" }, h("summary", {}, title), more)];
}

/** Null if nothing was generated and nothing found. */
export function actions(summary: Summary, timeline: Timeline | null): HTMLElement | null {
  const findings: Maybe<Findings> = summary.findings;
  const found = list(findings?.found);
  if (!findings || (findings.headline?.token_ns == null && found.length === 0)) {
    return null;
  }
  const shown = longest(decodeTokens(summary).filter((t) => isShown(t, timeline)));
  const jump = (f: Finding): Child =>
    shown && list(f.evidence).some((e) => IN_TIMELINE.includes(e.place))
      ? timeLink(
          "see it in the timeline",
          shown,
          `The slowest token in the timeline of this page: ${time(shown.time_ns)}`,
        )
      : null;
  const names = (rows: RuledOut[]): string => rows.map((r) => topic(r)).join(" · ");
  const unknown = list(findings.not_known);
  return h(
    "section",
    { id: "answer", "aria-labelledby": "answer-title" },
    h("h2", { id: "answer-title" }, "What to do"),
    ...findingList(found, summary, jump),
    h(
      "div",
      { class: "checks" },
      checks("Checked and fine", names(list(findings.ruled_out)), list(findings.ruled_out)),
      checks("Inconclusive", names(list(findings.noisy)), list(findings.noisy)),
      checks(
        "Could not check",
        couldNotCheck(unknown, findings.headline.question).join(" · "),
        unknown,
      ),
    ),
  );
}
