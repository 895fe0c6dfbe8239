// What was lost, before anything else. Green only when nothing was.

import { list } from "../data/read.ts";
import type { Damage, Health, Num } from "../data/summary.ts";
import { h, type Child } from "../ui/dom.ts";
import { bytes, count, DASH } from "../ui/format.ts";

type Tone = "good" | "warn" | "bad";

function tone(health: Health | null | undefined): Tone {
  if (!health) {
    return "warn";
  }
  if (health.perfect === true) {
    return "good";
  }
  const dropped = Object.values(health.dropped ?? {}).some((n) => (n ?? 0) > 0);
  return dropped || health.refused || list(health.damaged).length > 0 ? "bad" : "warn";
}

const TITLE: Record<Tone, string> = {
  good: "Complete recording",
  warn: "Not everything is known",
  bad: "Something was lost",
};

function pairs(title: string, prefix: string, record: Record<string, Num> | null | undefined): Child {
  const entries = Object.entries(record ?? {});
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
    h("dd", { class: "num" }, `${count(d.count)}×, ${bytes(d.bytes)}, first at byte ${count(d.first_offset)}`),
  ]);
  return h("div", {}, h("h4", {}, "Damaged on the way"), h("dl", { class: "pairs" }, ...rows));
}

export function healthBanner(health: Health | null | undefined): HTMLElement {
  const kind = tone(health);
  const lines = list(health?.lines);
  const said = lines.length > 0 ? lines : ["The summary says nothing about losses."];
  const [first, ...rest] = said;
  const spans = pairs("Operator spans", "spans", health?.spans);
  const dropped = kind === "good" ? null : pairs("Dropped at the source", "dropped", health?.dropped);
  const details = h(
    "details",
    {},
    h("summary", {}, "Account of every span"),
    h("div", { class: "columns" }, spans, dropped, damageList(list(health?.damaged))),
    health?.end_reason ? h("p", { class: "muted" }, `Ended because: ${health.end_reason}.`) : null,
  );
  return h(
    "div",
    { id: "health", class: `health ${kind}`, role: "status", data: { perfect: String(health?.perfect === true) } },
    h("div", { class: "mark", "aria-hidden": "true" }, kind === "good" ? "✓" : "!"),
    h(
      "div",
      { class: "words" },
      h("p", { class: "verdict" }, TITLE[kind]),
      h("p", { class: "line", data: { healthLine: 0 } }, first ?? ""),
      rest.length > 0 ? h("ul", {}, ...rest.map((l, i) => h("li", { data: { healthLine: i + 1 } }, l))) : null,
      details,
    ),
  );
}
