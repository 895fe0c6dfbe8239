// ProfDAG: the operator graph with its tools.

import { list } from "../data/read.ts";
import type { Dag, DagGraph } from "../data/dag.ts";
import { h } from "../ui/dom.ts";
import { count, plural } from "../ui/format.ts";
import { absent, choice, section } from "../ui/parts.ts";
import { onTheme } from "../ui/theme.ts";
import { Viewer } from "./viewer.ts";

const LEAD = "ProfDAG: the graph as it was computed, coloured by the time of each operator.";

/** Name of a graph among the others: its phase, and its number where the phase alone does not tell. */
function title(graph: DagGraph, all: DagGraph[]): string {
  const same = all.filter((g) => g.phase === graph.phase);
  const phase = graph.phase ?? "graph";
  return same.length > 1 ? `${phase} ${same.indexOf(graph) + 1}` : phase;
}

function about(graph: DagGraph): string {
  const tokens = graph.n_tokens == null ? "" : `${plural(graph.n_tokens, "token")} a call, `;
  const calls = graph.calls == null ? "" : `computed ${count(graph.calls)} times in this form.`;
  return tokens + calls;
}

export function dagSection(dag: Dag | null): HTMLElement {
  const graphs = list(dag?.graphs);
  const order = ["decode", "prefill"];
  const rank = (g: DagGraph): number => (order.includes(g.phase ?? "") ? order.indexOf(g.phase ?? "") : order.length);
  graphs.sort((a, b) => rank(a) - rank(b));
  if (graphs.length === 0) {
    return section("profdag", "Graph", LEAD, absent("No graph structure was recorded: the operator level was off or not attached."));
  }
  const viewer = new Viewer();
  let current = graphs[0]!;
  let weights = true;
  let hits: number[] = [];
  let at = -1;
  const caption = h("span", { class: "muted" });
  const warning = h("p", { class: "warning", hidden: true });
  const matches = h("span", { class: "muted", "aria-live": "polite" });

  function show(): void {
    viewer.show(current, weights);
    caption.textContent = `${about(current)} ${viewer.caption()}.`;
    warning.hidden = current.complete !== false;
    warning.textContent = "Parts of this graph were lost on the way: some tensors or edges are missing.";
    find(search.value);
  }
  function find(text: string): void {
    hits = viewer.search(text);
    at = -1;
    matches.textContent = text.trim() ? plural(hits.length, "match", "matches") : "";
  }
  function next(by: number): void {
    if (hits.length > 0) {
      at = (at + by + hits.length) % hits.length;
      viewer.go(hits[at]!);
      matches.textContent = `${at + 1} of ${count(hits.length)}`;
    }
  }
  const search = h("input", {
    type: "search",
    id: "dag-search",
    placeholder: "Find a tensor or operator; Enter goes to the next",
    "aria-label": "Find in the graph",
    on: {
      input: () => find(search.value),
      keydown: (e: KeyboardEvent) => {
        if (e.key === "Enter") {
          next(e.shiftKey ? -1 : 1);
        }
      },
    },
  });
  const box = h("input", { type: "checkbox", checked: true, on: { change: () => { weights = box.checked; show(); } } });
  const button = (name: string, label: string, act: () => void): HTMLElement =>
    h("button", { type: "button", "aria-label": label, title: label, on: { click: act } }, name);
  const zoom = h("div", { class: "choice" }, button("−", "Zoom out", () => viewer.zoom(0.75)), button("+", "Zoom in", () => viewer.zoom(1.33)), button("Fit", "Show the whole graph", () => viewer.fit()));
  const switcher = graphs.length > 1 ? choice("Graph", graphs.map((g) => title(g, graphs)), (i) => { current = graphs[i]!; show(); }) : null;
  const tools = h("div", { class: "tools" }, switcher, search, matches, h("label", { class: "check" }, box, "weights"), h("span", { class: "grow" }), zoom);
  const element = section("profdag", "Graph", LEAD, warning, h("div", { class: "panel flush" }, tools, viewer.element, viewer.legend), h("p", { class: "hint" }, caption, " Drag to move; Ctrl and the wheel zoom, the wheel alone too once the graph was clicked."));
  // Drawn when the page has a layout, so that the columns suit the real width.
  requestAnimationFrame(show);
  onTheme(() => viewer.repaint());
  return element;
}
