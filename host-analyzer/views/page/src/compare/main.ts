// The comparison page: verdict, differences, runs, breakdown of the change.

import "../style/base.css";
import "../style/parts.css";
import "../style/compare.css";
import { list, readJson } from "../data/read.ts";
import { h } from "../ui/dom.ts";
import { start } from "../ui/start.ts";
import type { Comparison, QuestionComparison } from "../data/schema.ts";
import { gate } from "./gate.ts";
import { parts } from "./parts.ts";
import { runs } from "./runs.ts";
import { verdict } from "./verdict.ts";

const KNOWN_SCHEMA = 2;

/** The sections of another question; their names begin with that of the question. */
function other(compared: QuestionComparison): (HTMLElement | null)[] {
  const prefix = `${compared.question}-`;
  return [verdict(compared, prefix), runs(compared, prefix), parts(compared, prefix)];
}

function page(comparison: Comparison): HTMLElement[] {
  const newer =
    (comparison.schema ?? KNOWN_SCHEMA) > KNOWN_SCHEMA
      ? h(
          "p",
          { class: "warning" },
          "The data on this page has a newer schema than its program. Figures may be missing.",
        )
      : null;
  const nav = h(
    "nav",
    { class: "top", "aria-label": "Page" },
    h("span", { class: "brand" }, "Prof", h("b", {}, "Infer")),
    h("span", { class: "muted" }, "comparison"),
  );
  const main = h(
    "main",
    { id: "top" },
    newer,
    verdict(comparison, ""),
    gate(list(comparison.gate)),
    runs(comparison, ""),
    parts(comparison, ""),
    ...list(comparison.others).flatMap(other),
  );
  return [
    nav,
    main,
    h(
      "footer",
      {},
      h(
        "p",
        { class: "muted" },
        "Written by ProfInfer. The page is one file and loads nothing from the network.",
      ),
    ),
  ];
}

async function draw(): Promise<HTMLElement[] | null> {
  const comparison = await readJson<Comparison>("comparison");
  return comparison && page(comparison);
}

void start({ data: "comparison", command: "analyze compare" }, draw);
