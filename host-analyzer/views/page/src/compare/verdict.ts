// The verdict, and its interval relative to the smallest difference that matters.

import { list } from "../data/read.ts";
import { figure, h, s } from "../ui/dom.ts";
import { DASH, time } from "../ui/format.ts";
import { change } from "./change.ts";
import type { ComparisonVerdict, QuestionComparison } from "../data/schema.ts";

const TONE: Record<string, string> = {
  faster: "good",
  no_difference_beyond: "good",
  slower: "bad",
  different_work: "bad",
};

const WIDTH = 640;
const HEIGHT = 54;

/** Zero, the band of differences that do not matter, and the interval of the shift. */
function interval(v: ComparisonVerdict): Element | null {
  const { low_share: low, high_share: high, shift_share: shift, practical_share: practical } = v;
  if (low == null || high == null || shift == null || practical == null) {
    return null;
  }
  const most = Math.max(Math.abs(low), Math.abs(high), practical * 2) * 1.15;
  const x = (share: number) => WIDTH / 2 + (share / most) * (WIDTH / 2 - 40);
  const label = (share: number, anchor: string, y: number) =>
    s("text", { x: x(share), y, "text-anchor": anchor }, change(share));
  return s(
    "svg",
    {
      class: "interval",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `Change of the time: ${change(shift)}, interval ${change(low)} to ${change(high)}`,
    },
    s("rect", {
      class: "band",
      x: x(-practical),
      y: 4,
      width: x(practical) - x(-practical),
      height: 28,
    }),
    s("line", { class: "zero", x1: x(0), x2: x(0), y1: 2, y2: 34 }),
    s("line", { class: "range", x1: x(low), x2: x(high), y1: 18, y2: 18 }),
    s("circle", { class: "middle", cx: x(shift), cy: 18, r: 5 }),
    label(low, "middle", 48),
    label(high, "middle", 48),
  );
}

export function verdict(comparison: QuestionComparison, prefix: string): HTMLElement {
  const v = comparison.verdict ?? {};
  const sides = list(comparison.sides).map((side, i) =>
    h(
      "div",
      { class: "side" },
      h("b", {}, i === 0 ? "A" : "B"),
      h("code", {}, side.name ?? DASH),
      h(
        "span",
        {},
        figure(`${prefix}side.${i}.mean_ns`, side.mean_ns, time(side.mean_ns)),
        ` per ${comparison.unit || "token"}`,
      ),
      h("span", { class: "muted" }, `${side.tokens_per_s?.toFixed(2) ?? DASH} t/s`),
    ),
  );
  return h(
    "section",
    { id: `${prefix}verdict` },
    prefix ? h("h2", {}, comparison.title) : null,
    h(
      "div",
      {
        class: `panel verdict ${TONE[v.code ?? ""] ?? "warn"}`,
        data: { key: `${prefix}verdict.code`, value: v.code },
      },
      h(
        prefix ? "h3" : "h1",
        { data: { key: `${prefix}verdict.sentence`, value: v.sentence } },
        v.sentence ?? DASH,
      ),
      interval(v) as HTMLElement | null,
      h("div", { class: "sides" }, ...sides),
      comparison.power
        ? h(
            "p",
            {
              class: "muted",
              data: { key: `${prefix}power.sentence`, value: comparison.power.sentence },
            },
            comparison.power.sentence ?? "",
          )
        : null,
      h("p", { class: "muted" }, comparison.selection?.sentence ?? ""),
    ),
    ...list(comparison.notes).map((n) =>
      h("p", { class: "warning note", data: { note: n.code } }, n.sentence ?? ""),
    ),
  );
}
