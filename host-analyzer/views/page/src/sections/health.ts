// Losses and damage, at the top of the page. Green only if nothing was lost.

import { list } from "../data/read.ts";
import type { Maybe, Num } from "../data/maybe.ts";
import type { Damage, Dropped, Ending, Health, SpanSum } from "../data/schema.ts";
import { h, type Child } from "../ui/dom.ts";
import { bytes, count, DASH } from "../ui/format.ts";

type Tone = "good" | "nothing" | "warn" | "bad";

/** Never green if nothing was traced, even if the recording is complete. */
function tone(health: Health | null | undefined, ending: Maybe<Ending>): Tone {
  if (ending?.state === "bad") {
    return "bad";
  }
  if (ending?.traced === false) {
    return "nothing";
  }
  if (!health) {
    return "warn";
  }
  if (health.perfect === true) {
    return ending?.state === "nothing" ? "warn" : "good";
  }
  const dropped = Object.values(health.dropped ?? {}).some((n) => (n ?? 0) > 0);
  return dropped || health.refused || list(health.damaged).length > 0 ? "bad" : "warn";
}

const TITLE: Record<Tone, string> = {
  good: "Complete recording",
  nothing: "Nothing was traced",
  warn: "Incomplete recording",
  bad: "Data was lost",
};

function pairs(title: string, prefix: string, record: Dropped | SpanSum | null | undefined): Child {
  const entries = Object.entries<Num>({ ...record });
  if (entries.length === 0) {
    return null;
  }
  const rows = entries.flatMap(([name, n]) => [
    h("dt", {}, name.replaceAll("_", " ")),
    h("dd", { class: "num", data: { key: `${prefix}.${name}`, value: n ?? "" } }, count(n)),
  ]);
  return h("div", {}, h("h4", {}, title), h("dl", { class: "pairs" }, ...rows));
}

function damageList(damaged: Damage[]): Child {
  if (damaged.length === 0) {
    return null;
  }
  const rows = damaged.flatMap((d) => [
    h("dt", {}, d.kind ?? DASH),
    h(
      "dd",
      { class: "num" },
      `${count(d.count)}×, ${bytes(d.bytes)}, first at byte ${count(d.first_offset)}`,
    ),
  ]);
  return h("div", {}, h("h4", {}, "Damage in the stream"), h("dl", { class: "pairs" }, ...rows));
}

/** Nothing was lost: the banner is a footer of the first screen, not a warning above it. */
export function isFine(health: Maybe<Health>, ending: Maybe<Ending>): boolean {
  return tone(health, ending) === "good";
}

/** Title of the banner. */
function heading(kind: Tone, ending: Maybe<Ending>): string {
  if (ending?.traced === false) {
    return TITLE.nothing;
  }
  return ending?.sentence && kind === "warn" ? "The session ended abnormally" : TITLE[kind];
}

export function healthBanner(
  health: Health | null | undefined,
  ending?: Maybe<Ending>,
): HTMLElement {
  const kind = tone(health, ending);
  const lines = list(health?.lines);
  const [first, ...rest] = lines.length > 0 ? lines : ["The summary has no record of losses."];
  const spans = pairs("Operator spans", "spans", health?.spans);
  const dropped =
    kind === "good" || kind === "nothing"
      ? null
      : pairs("Dropped on the board", "dropped", health?.dropped);
  const details = h(
    "details",
    {},
    h("summary", {}, "Span counts"),
    h("div", { class: "columns" }, spans, dropped, damageList(list(health?.damaged))),
    health?.end_reason ? h("p", { class: "muted" }, `End of session: ${health.end_reason}.`) : null,
  );
  return h(
    "div",
    {
      id: "health",
      class: `health ${kind}`,
      role: "status",
      data: { perfect: String(health?.perfect === true), ending: ending?.code ?? "" },
    },
    h(
      "div",
      { class: "mark", "aria-hidden": "true" },
      kind === "good" ? "✓" : kind === "nothing" ? "–" : "!",
    ),
    h(
      "div",
      { class: "words" },
      h("p", { class: "verdict" }, heading(kind, ending)),
      h("p", { class: "line", data: { healthLine: 0 } }, first ?? ""),
      rest.length > 0
        ? h("ul", {}, ...rest.map((l, i) => h("li", { data: { healthLine: i + 1 } }, l)))
        : null,
      details,
    ),
  );
}
