// Expert selections of a mixture-of-experts model. Null for a model without routers.

import { list } from "../data/read.ts";
import type { Num } from "../data/maybe.ts";
import type { Routing, Summary } from "../data/schema.ts";
import { figure, h } from "../ui/dom.ts";
import { bytes, count, figureText, percent, phaseName, plural } from "../ui/format.ts";
import { choice, panel, section } from "../ui/parts.ts";
import { linesOf, type Order } from "./cells.ts";
import { HeatMap } from "./heatmap.ts";
import { EVENNESS, layerTable, pinTable } from "./tables.ts";

function card(
  title: string,
  tip: string,
  key: string,
  value: Num,
  text: string,
  note: string,
): HTMLElement {
  return h(
    "div",
    { class: "card small", title: tip },
    h("div", { class: "title" }, title),
    h("div", { class: "value" }, figure(`experts.${key}`, value, text)),
    h("div", { class: "note" }, note),
  );
}

function cards(r: Routing): HTMLElement[] {
  const f = r.all_layers;
  const reuse = f?.reuse;
  const decode = r.phase === "decode";
  const used = f?.n_expert == null || f.never_used == null ? null : f.n_expert - f.never_used;
  const batch = decode ? "token" : "batch";
  const distance =
    reuse?.median_tokens == null
      ? ""
      : `${percent(reuse.even_share)} by chance · last use ${plural(reuse.median_tokens, "token")} ago (median), ${count(reuse.p90_tokens)} (p90)`;
  return [
    card(
      "Used experts",
      "Experts that at least one token used, over all layers",
      "used",
      used,
      count(used),
      f?.n_expert == null
        ? ""
        : `of ${count(f.n_expert)} in ${plural(list(r.layers).length, "layer")}`,
    ),
    card(
      `Per ${batch}`,
      `Mean number of different experts per ${batch}, over all layers`,
      "distinct_per_batch",
      f?.distinct_per_batch,
      figureText(f?.distinct_per_batch),
      f?.bytes_per_batch == null ? "" : `${bytes(f.bytes_per_batch)} of weights`,
    ),
    card(
      "Evenness",
      `${EVENNESS} Mean of the layers.`,
      "balance",
      f?.balance,
      percent(f?.balance),
      "100 %: all equally, 0 %: one only",
    ),
    ...(decode
      ? [
          card(
            "Reuse",
            "Share of a token's experts that the previous token also used",
            "reuse_share",
            reuse?.share,
            percent(reuse?.share),
            distance,
          ),
        ]
      : []),
  ];
}

/** Names of the rows: the phase, and the context number if there are several contexts. */
function namesOf(rows: Routing[]): string[] {
  const context = (r: Routing): string => `${r.pid ?? ""} ${r.context ?? ""}`;
  const contexts = [...new Set(rows.map(context))];
  return rows.map((r) =>
    contexts.length > 1
      ? `${phaseName(r.phase)} · context ${contexts.indexOf(context(r)) + 1}`
      : phaseName(r.phase),
  );
}

function leftOut(r: Routing): string {
  const [part, all] = [r.all_layers?.left_out ?? 0, r.all_layers?.all_used ?? 0];
  const words = [
    part > 0 ? `${plural(part, "selection")} that arrived incompletely` : "",
    all > 0 ? `${plural(all, "selection")} of all experts (warm-up)` : "",
  ].filter(Boolean);
  return words.length > 0 ? `Excluded: ${words.join("; ")}.` : "";
}

export function expertSection(summary: Summary): HTMLElement | null {
  const rows = list(summary.experts);
  if (rows.length === 0) {
    return null;
  }
  const start = Math.max(
    0,
    rows.findIndex((r) => r.phase === "decode"),
  );
  let order: Order = "number";
  let shown = rows[start]!;
  const map = new HeatMap();
  const [layers, pins] = [layerTable(), pinTable()];
  const sentence = h("p", { class: "sentence" });
  const figures = h("div", { class: "cards" });
  const hint = h("p", { class: "hint" });
  const drawMap = (): void => map.show(linesOf(shown, order), order);
  function show(index: number): void {
    shown = rows[index]!;
    const words = shown.sentence ?? "";
    sentence.textContent = words && `${words[0]!.toUpperCase()}${words.slice(1)}.`;
    sentence.hidden = !words;
    figures.replaceChildren(...cards(shown));
    hint.textContent = leftOut(shown);
    hint.hidden = !hint.textContent;
    layers.show(list(shown.layers));
    pins.show(list(shown.all_layers?.pins));
    drawMap();
  }
  show(start);
  const orders = choice("Order", ["by number", "most used first"], (i) => {
    order = i === 0 ? "number" : "use";
    drawMap();
  });
  const tools = h(
    "div",
    { class: "tools" },
    choice("Experts of", namesOf(rows), show, start),
    orders,
  );
  return section(
    "experts",
    "Experts",
    "Expert selections of the routers, per layer.",
    tools,
    panel("", sentence, figures, hint),
    panel("Uses per expert", map.element),
    panel("Keeping the most used experts in fast memory", pins.element),
    panel("Layers", layers.element),
  );
}
