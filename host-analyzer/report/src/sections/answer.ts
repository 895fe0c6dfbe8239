// The answer, before any table: how fast, what would help and by how much, what was ruled out. Each line leads to its evidence.

import { list } from "../data/read.ts";
import type { Evidence, Finding, Findings, RuledOut } from "../data/findings.ts";
import type { Maybe } from "../data/summary.ts";
import { h, type Child } from "../ui/dom.ts";
import { time } from "../ui/format.ts";

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

/** Links to the places that show the evidence, each once. */
function links(evidence: Maybe<Evidence[]>): Child[] {
  const places = [...new Set(list(evidence).map((e) => e.place ?? ""))].filter((place) => SECTION[place]);
  return places.map((place) => h("a", { class: "where", href: `#${SECTION[place]}` }, place));
}

function finding(f: Finding): HTMLElement {
  const { gain } = f;
  const what = gain?.of === "request" ? "a request" : "a token";
  const saves = gain ? `${time(gain.low_ns)} to ${time(gain.high_ns)} ${what}` : "not told in time";
  const speed = gain?.low_tokens_per_s != null && gain.high_tokens_per_s != null ? `${gain.low_tokens_per_s.toFixed(1)} to ${gain.high_tokens_per_s.toFixed(1)} tok/s` : "";
  return h(
    "li",
    { data: { code: f.code, low: gain?.low_ns ?? "", high: gain?.high_ns ?? "" } },
    h("div", { class: "gain" }, h("span", { class: "muted" }, "saves "), h("b", {}, saves), speed ? h("span", { class: "muted" }, speed) : null),
    h("div", { class: "what" }, h("b", {}, f.title ?? ""), h("p", {}, f.sentence ?? ""), h("p", { class: "muted" }, `confidence: ${f.confidence ?? "not told"} · shown in `, ...links(f.evidence))),
  );
}

function excluded(title: string, rows: RuledOut[]): Child {
  if (rows.length === 0) {
    return null;
  }
  const items = rows.map((r) => h("li", { data: { code: r.code } }, r.sentence ?? "", " ", ...links(r.evidence)));
  return h("details", { open: rows.length <= 4 }, h("summary", {}, `${title} (${rows.length})`), h("ul", { class: "excluded" }, ...items));
}

export function answer(findings: Maybe<Findings>): HTMLElement | null {
  if (!findings?.headline?.token_ns) {
    return null;
  }
  const found = list(findings.found);
  return h(
    "section",
    { id: "answer", "aria-label": "Findings" },
    h("p", { class: "headline" }, findings.sentence ?? ""),
    found.length > 0 ? h("ol", { class: "findings" }, ...found.map(finding)) : h("p", { class: "nothing" }, "Nothing was found that would make it faster here."),
    h("div", { class: "others" }, excluded("Ruled out", list(findings.ruled_out)), excluded("Too noisy to tell", list(findings.noisy)), excluded("Not known", list(findings.not_known))),
  );
}
