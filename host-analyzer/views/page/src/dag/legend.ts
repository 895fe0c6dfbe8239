// Legend of the colours and boxes of the graph.

import type { HeatScale } from "../ui/colour.ts";
import { h } from "../ui/dom.ts";
import { time } from "../ui/format.ts";

/** Ticks at powers of ten. */
function ticks(scale: HeatScale): number[] {
  const out: number[] = [];
  for (let t = 10 ** Math.ceil(Math.log10(scale.min)); t <= scale.max; t *= 10) {
    out.push(t);
  }
  return out;
}

export function legend(scale: HeatScale): HTMLElement {
  const bar = h("div", { class: "heat", "aria-hidden": "true" });
  const stops = [0, 0.17, 0.33, 0.5, 0.67, 0.83, 1].map((x) => `${scale.at(x)} ${x * 100}%`);
  bar.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  const marks = h("div", { class: "ticks" });
  for (const t of ticks(scale)) {
    const mark = h("span", {}, time(t));
    const x = scale.position(t) * 100;
    mark.style.left = `${x}%`;
    if (x > 8 && x < 92) {
      marks.append(mark);
    }
  }
  const key = (kind: string, text: string): HTMLElement =>
    h("span", { class: "key" }, h("span", { class: `box ${kind}`, "aria-hidden": "true" }), text);
  return h(
    "div",
    { class: "dag-legend" },
    h(
      "div",
      { class: "scale" },
      h("span", { class: "num" }, time(scale.min)),
      h("div", { class: "bar" }, bar, marks),
      h("span", { class: "num" }, time(scale.max)),
      h("span", { class: "muted" }, "mean wall time per run, log scale"),
    ),
    h(
      "div",
      { class: "keys" },
      key("weight", "weight"),
      key("cache", "cache"),
      key("input", "input"),
      key("ref", "reference to a distant tensor"),
      key("view", "view, never executed"),
      key("fused", "fused"),
      key("critical", "critical path"),
      key("folded", "folded part of the model"),
    ),
  );
}
