// The speed card: measured, without delays, and at the rate of the memory.

import { list } from "../data/read.ts";
import type { CeilingSource, Headline, Ladder, Summary } from "../data/schema.ts";
import { PER_TOKEN } from "../ui/definitions.ts";
import { figure, h, type Child } from "../ui/dom.ts";
import { plural, time } from "../ui/format.ts";
import { noReadText, sourceText } from "../ui/source.ts";
import {
  atMemoryRate,
  distribution,
  largestCause,
  mainLadders,
  rateText,
  tracingCost,
  withoutCauses,
} from "./speeds.ts";

interface Row {
  name: string;
  speed: number;
  value: Child;
  kind: string;
  note: Child;
}

function rowsOf(summary: Summary, ladder: Ladder | undefined): Row[] {
  const headline = summary.findings.headline;
  const measured = headline.tokens_per_s ?? 0;
  const threads = headline.threads > 0 ? ` on ${plural(headline.threads, "thread")}` : "";
  const row = (name: string, speed: number, kind: string, note: Child): Row => ({
    name,
    speed,
    value: h("span", { class: "num" }, `~${rateText(speed)}`),
    kind,
    note,
  });
  const rows: Row[] = [
    {
      name: "measured",
      speed: measured,
      value: figure("tokens_per_s", measured, rateText(measured)),
      kind: "measured",
      note: h(
        "span",
        {},
        figure("tpot_ns", headline.token_ns, time(headline.token_ns), PER_TOKEN),
        ` per token${threads}${ofWhat(headline)}`,
      ),
    },
  ];
  const without = withoutCauses(ladder);
  if (without) {
    const range = `${rateText(without.low)} to ${rateText(without.high)} t/s`;
    rows.push(row("without delays", without.likely, "without", range));
  }
  const limit = atMemoryRate(ladder);
  if (limit != null) {
    const source = ladder?.floor?.source as CeilingSource | null | undefined;
    const rate = `${((ladder?.floor?.bytes_per_s ?? 0) / 1e9).toFixed(1)} GB/s`;
    rows.push(
      source === "best_seen"
        ? row(
            "at the best rate seen",
            limit,
            "limit",
            `${rate} in this recording; --bench measures the limit`,
          )
        : row(
            "at the memory limit",
            limit,
            "limit",
            `${[rate, sourceText(source, null)].filter(Boolean).join(", ")}; measured: ${Math.round((measured / limit) * 100)} %`,
          ),
    );
  }
  return rows;
}

/** What the measured speed is the speed of. */
function ofWhat(headline: Headline): string {
  if (headline.drafted) {
    return ", with speculation";
  }
  const n = headline.sequences;
  return n == null
    ? `, ${plural(headline.tokens, "token")}`
    : `, ${n.toFixed(1)} sequences at a time with ${rateText((headline.tokens_per_s ?? 0) / n)} t/s each, ${plural(headline.tokens, "call")}`;
}

/** Why there is no limit, and how to get it. */
function noLimit(summary: Summary): Child {
  const phase = summary.findings.headline.phase ?? "decode";
  const roof = list(summary.work?.roofs).find((r) => r.phase === phase);
  return h(
    "li",
    { class: "unknown" },
    h("span", { class: "name" }, "at the memory limit"),
    h("span", { class: "num" }, "?"),
    h(
      "span",
      { class: "muted note" },
      noReadText(roof?.no_read, plural(summary.findings.headline.threads || 1, "thread")),
    ),
  );
}

/** Without generated tokens: how fast texts or prompts are read. Null if nothing was read. */
export function speedCard(summary: Summary): HTMLElement | null {
  const headline = summary.findings?.headline;
  if (headline?.token_ns == null) {
    return headline?.prefill_tokens_per_s == null
      ? null
      : h(
          "section",
          { id: "speed", class: "panel", "aria-label": "Speed" },
          h("p", { class: "says" }, summary.findings.sentence),
        );
  }
  const ladder = headline.drafted
    ? undefined
    : mainLadders(summary).find((l) => l.question === "decode");
  const rows = rowsOf(summary, ladder);
  const most = Math.max(...rows.map((r) => r.speed), Number.MIN_VALUE);
  const lines = rows.map((r) => {
    const fill = h("span", { class: r.kind });
    fill.style.width = `${(r.speed / most) * 100}%`;
    return h(
      "li",
      { class: r.kind, data: { speed: r.kind, value: r.speed } },
      h("span", { class: "name" }, r.name),
      h("span", { class: "value" }, r.value, r.kind === "measured" ? " t/s" : ""),
      h("span", { class: "track" }, fill),
      h("span", { class: "muted note" }, r.note),
    );
  });
  const known = rows.some((r) => r.kind === "limit");
  const cost = tracingCost(headline);
  const sentences = [largestCause(ladder), distribution(headline)].filter((s) => s !== null);
  return h(
    "section",
    { id: "speed", class: "panel", "aria-label": "Speed" },
    h("ol", { class: "speeds" }, ...lines, known || headline.drafted ? null : noLimit(summary)),
    sentences.length > 0 ? h("p", { class: "says" }, sentences.join(" ")) : null,
    cost ? h("p", { class: "muted cost" }, cost) : null,
  );
}
