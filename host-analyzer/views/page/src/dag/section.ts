// The operator graph with its controls.

import { list } from "../data/read.ts";
import type { Dag, DagGraph } from "../data/schema.ts";
import { h } from "../ui/dom.ts";
import { count, phaseName, plural } from "../ui/format.ts";
import { absent, choice, section } from "../ui/parts.ts";
import { onTheme } from "../ui/theme.ts";
import { LEVELS, type Level } from "./fold.ts";
import { Viewer } from "./viewer.ts";

const LEAD = "The computed graph. The colour shows the time of each operator.";

/** `word N` if graphs of this phase have several values, else empty. */
function among(
  graph: DagGraph,
  all: DagGraph[],
  word: string,
  value: (g: DagGraph) => unknown,
): string {
  const values = [...new Set(all.filter((g) => g.phase === graph.phase).map(value))];
  return values.length > 1 ? `${word} ${values.indexOf(value(graph)) + 1}` : "";
}

/** Name of a graph: its phase, and its context and split if there are several. */
function title(graph: DagGraph, all: DagGraph[]): string {
  const context = among(graph, all, "context", (g) => `${g.pid} ${g.context}`);
  const split = among(graph, all, "split", (g) => g.split);
  return [graph.phase == null ? "graph" : phaseName(graph.phase), context, split]
    .filter(Boolean)
    .join(", ");
}

/** Toggles full screen. Does nothing if the browser refuses. */
async function fullScreen(element: HTMLElement): Promise<void> {
  try {
    await (document.fullscreenElement ? document.exitFullscreen() : element.requestFullscreen());
  } catch {
    // Refused, for example inside a frame of another page.
  }
}

/** Buttons for up to four graphs, a list for more. */
function switcher(graphs: DagGraph[], pick: (graph: DagGraph) => void): HTMLElement | null {
  if (graphs.length < 2) {
    return null;
  }
  const names = graphs.map((g) => title(g, graphs));
  if (graphs.length <= 4) {
    return choice("Graph", names, (i) => pick(graphs[i]!));
  }
  const options = names.map((name, i) => h("option", { value: i }, name));
  const select = h(
    "select",
    { "aria-label": "Graph", on: { change: () => pick(graphs[Number(select.value)]!) } },
    ...options,
  );
  return select;
}

function about(graph: DagGraph): string {
  const tokens = graph.n_tokens == null ? "" : `${plural(graph.n_tokens, "token")} per call, `;
  const calls = graph.calls == null ? "" : `computed ${plural(graph.calls, "time")}.`;
  const where = graph.backend ? `On ${graph.backend}. ` : "";
  return where + tokens + calls;
}

export function dagSection(dag: Dag | null): HTMLElement {
  const graphs = list(dag?.graphs);
  const order = ["decode", "batch_decode", "prefill", "draft"];
  const rank = (g: DagGraph): number =>
    order.includes(g.phase ?? "") ? order.indexOf(g.phase ?? "") : order.length;
  graphs.sort((a, b) => rank(a) - rank(b));
  if (graphs.length === 0) {
    return section(
      "profdag",
      "Graph",
      LEAD,
      absent(
        "No graphs were recorded: the operator level was off, or its probes were not attached.",
      ),
    );
  }
  const viewer = new Viewer();
  let current = graphs[0]!;
  let weights = true;
  // Null: depends on the size of the graph.
  let level: Level | null = null;
  let hits: number[] = [];
  let at = -1;
  const frame = h("div", { class: "panel flush" });
  const caption = h("span", { class: "muted" });
  const warning = h("p", { class: "warning", hidden: true });
  const matches = h("span", { class: "muted", "aria-live": "polite" });

  function show(): void {
    viewer.show(current, weights, level);
    const now = viewer.level();
    fold.replaceChildren(
      ...(now === null
        ? []
        : [
            choice(
              "Fold",
              LEVELS.map(([, name]) => name),
              (i) => {
                level = LEVELS[i]![0];
                show();
              },
              LEVELS.findIndex(([l]) => l === now),
            ),
          ]),
    );
    caption.textContent = `${about(current)} ${viewer.caption()}.`;
    warning.hidden = current.complete !== false;
    warning.textContent = "Parts of this graph were lost: some tensors or edges are missing.";
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
      viewer.find(hits[at]!);
      matches.textContent = `${at + 1} of ${count(hits.length)}`;
    }
  }
  const fold = h("span", {
    title:
      "Content of a box: one node, a module of a layer, or a layer. Double-click a box to open it.",
  });
  const search = h("input", {
    type: "search",
    id: "dag-search",
    placeholder: "Find a tensor or operator (Enter: next)",
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
  const box = h("input", {
    type: "checkbox",
    checked: true,
    on: {
      change: () => {
        weights = box.checked;
        show();
      },
    },
  });
  const button = (name: string, label: string, act: () => void): HTMLElement =>
    h("button", { type: "button", "aria-label": label, title: label, on: { click: act } }, name);
  const zoom = h(
    "div",
    { class: "choice" },
    button("−", "Zoom out", () => viewer.zoom(0.75)),
    button("+", "Zoom in", () => viewer.zoom(1.33)),
    button("Fit", "Show the complete graph", () => viewer.fit()),
    button("Full screen", "Full screen (Escape to leave)", () => void fullScreen(frame)),
  );
  const tools = h(
    "div",
    { class: "tools" },
    switcher(graphs, (g) => {
      current = g;
      show();
    }),
    fold,
    search,
    matches,
    h("label", { class: "check" }, box, "weights"),
    h("span", { class: "grow" }),
    zoom,
  );
  frame.append(tools, viewer.element, viewer.legend);
  frame.addEventListener("fullscreenchange", show);
  const element = section(
    "profdag",
    "Graph",
    LEAD,
    warning,
    frame,
    h(
      "p",
      { class: "hint" },
      caption,
      " Drag to pan, Ctrl + wheel to zoom (wheel alone after a click on the graph); Fit shows all of it.",
    ),
  );
  // Wait for the page layout, so that the columns fit the real width.
  requestAnimationFrame(show);
  onTheme(() => viewer.repaint());
  return element;
}
