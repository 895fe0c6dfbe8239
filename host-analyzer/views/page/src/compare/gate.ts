// Differences between the sides other than time.

import { h } from "../ui/dom.ts";
import { section } from "../ui/parts.ts";
import type { GateItem } from "../data/schema.ts";

function names(items: GateItem[], found: string): string {
  return [...new Set(items.filter((i) => i.found === found).map((i) => i.title ?? ""))].join(", ");
}

export function gate(items: GateItem[]): HTMLElement {
  const differing = items.filter((i) => i.found === "different" || i.found === "mixed");
  const rows = differing.map((i) =>
    h(
      "li",
      { class: i.other_work ? "bad" : "warn", data: { gate: i.found, kind: i.kind } },
      h("span", { class: "tag" }, i.other_work ? "different work" : (i.kind ?? "")),
      h("span", {}, i.sentence ?? ""),
    ),
  );
  const same = names(items, "same");
  const unknown = names(items, "unknown");
  return section(
    "gate",
    "Differences",
    "settings and environment, before times are compared",
    h(
      "div",
      { class: "panel" },
      rows.length > 0
        ? h("ul", { class: "gate" }, ...rows)
        : h("p", {}, "No recorded property differs."),
      same ? h("p", { class: "hint" }, `Same: ${same}.`) : null,
      unknown ? h("p", { class: "hint" }, `Not recorded in all runs: ${unknown}.`) : null,
    ),
  );
}
