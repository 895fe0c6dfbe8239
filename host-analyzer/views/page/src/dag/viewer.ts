// Shows one graph: drawing, tooltip, selection, search.

import { isLeaf } from "../data/dag.ts";
import type { DagGraph, DagNode } from "../data/schema.ts";
import { list } from "../data/read.ts";
import { h, s } from "../ui/dom.ts";
import { count, plural } from "../ui/format.ts";
import { detail, tip } from "./detail.ts";
import { foldButtons, foldedDetail, foldedTip } from "./folded_detail.ts";
import { Folding, isFolded, type Level } from "./fold.ts";
import type { Part } from "./parts.ts";
import { heatOf, Painter, type Drawing } from "./draw.ts";
import { layoutGraph, type Layout } from "./layout.ts";
import { legend } from "./legend.ts";
import { panZoom, type PanZoom } from "./panzoom.ts";
import { prepare, type Prepared } from "./prepare.ts";

/** Minimum scale of the first view, and when jumping to a node: texts are readable. */
const READABLE = 0.85;
/** Level of detail by minimum scale (views.css): "middle" shows node texts, "near" everything. */
const LOD: [number, string][] = [
  [0.75, "near"],
  [0.42, "middle"],
  [0, "far"],
];

export class Viewer {
  readonly element: HTMLElement;
  readonly legend = h("div");
  private readonly svg = s("svg", { "aria-hidden": "true" });
  private readonly tooltip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  private readonly panel = h("aside", {
    class: "detail",
    hidden: true,
    tabindex: 0,
    "aria-label": "Selected tensor",
    data: { overlay: true },
  });
  private readonly pan: PanZoom;
  private p: Prepared | null = null;
  private layout: Layout | null = null;
  private drawing: Drawing | null = null;
  private selected: number | null = null;
  private lit: Element[] = [];
  private stale = false;
  private folding: Folding | null = null;
  private weights = true;

  constructor() {
    this.element = h(
      "div",
      {
        class: "dag-view",
        tabindex: 0,
        role: "application",
        "aria-label":
          "Operator graph. Arrow keys pan, plus and minus zoom, 0 shows everything, comma and full stop step through the nodes, Enter unfolds a box or folds the part that contains a node.",
      },
      this.svg,
      this.tooltip,
      this.panel,
    );
    this.pan = panZoom(this.element, (v) => {
      this.drawing?.root.setAttribute(
        "transform",
        `translate(${v.x.toFixed(2)} ${v.y.toFixed(2)}) scale(${v.k.toFixed(4)})`,
      );
      this.svg.dataset.lod = LOD.find(([k]) => v.k >= k)![1];
      this.svg.style.setProperty("--k", String(v.k));
    });
    this.listen();
    new ResizeObserver(() => {
      if (this.stale && this.element.clientWidth > 0) {
        this.stale = false;
        // The number of columns depends on the size.
        this.draw();
        this.open();
      }
    }).observe(this.element);
  }

  /** Draws a graph. `level`: what is folded; null: depends on its size. */
  show(graph: DagGraph, weights: boolean, level: Level | null): void {
    if (this.folding?.graph !== graph || (level !== null && this.folding.level !== level)) {
      this.folding = new Folding(graph, level);
    }
    this.weights = weights;
    this.draw();
    this.select(null);
    this.open();
    // The view has no size yet: again when it gets one.
    this.stale = this.element.clientWidth === 0;
  }

  /** What is folded; null if folding is not possible. */
  level(): Level | null {
    return this.folding?.possible() ? this.folding.level : null;
  }

  private draw(): void {
    const began = performance.now();
    const p = prepare(this.folding!.apply());
    const aspect = Math.max(0.5, this.element.clientWidth / Math.max(1, this.element.clientHeight));
    this.p = p;
    this.layout = layoutGraph(p, { weights: this.weights, aspect });
    this.paint();
    Object.assign(this.element.dataset, {
      phase: p.graph.phase ?? "",
      nodes: String(this.drawing!.nodes.size),
      edges: String(this.svg.querySelectorAll("[data-edge]").length),
      layoutMs: String(Math.round(performance.now() - began)),
    });
  }

  /** Folds or unfolds a part, and keeps it in view. */
  private turn(part: Part): void {
    this.folding!.turn(part);
    this.draw();
    this.go(part.nodes[0]!.index);
    this.element.focus({ preventScroll: true });
  }

  /** Draws again after a change of the colour scheme. */
  repaint(): void {
    if (this.p && this.layout) {
      this.paint();
      this.pan.set(this.pan.view());
      this.select(this.selected);
    }
  }

  /** The first view: readable, even if only a part of the graph fits. */
  private open(): void {
    if (this.layout && this.p) {
      const first = this.layout.boxes.get(this.p.computed[0] ?? -1);
      const x = first ? first.x + first.width / 2 : 0;
      this.pan.open(this.layout.width, this.layout.height, READABLE, x);
    }
  }

  fit(): void {
    if (this.layout) {
      this.pan.fit(this.layout.width, this.layout.height);
    }
  }

  zoom(factor: number): void {
    this.pan.zoom(factor);
  }

  /** Finds tensors by name, operator or index, and marks them or the boxes that hide them. */
  search(text: string): number[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.drawing?.nodes.forEach((element) => element.classList.remove("hit"));
    const hits =
      words.length === 0
        ? []
        : list(this.folding?.graph.nodes).filter((n) => {
            const element = this.elementOf(n.index);
            const hay = `${n.name ?? ""} ${n.op ?? ""} ${n.desc ?? ""} #${n.index}`.toLowerCase();
            const hit = element !== undefined && words.every((w) => hay.includes(w));
            element?.classList.toggle("hit", hit || element.classList.contains("hit"));
            return hit;
          });
    this.svg.classList.toggle("searching", words.length > 0);
    return hits.map((n) => n.index).sort((a, b) => a - b);
  }

  /** The element of a tensor, or of the box that hides it. */
  private elementOf(index: number): SVGGElement | undefined {
    return this.drawing?.nodes.get(this.folding?.boxOf(index) ?? index);
  }

  /** Shows a tensor; unfolds the box that hides it. */
  find(index: number): void {
    if (this.folding?.boxOf(index) !== undefined) {
      this.folding.reveal(index);
      this.draw();
    }
    this.go(index);
  }

  /** Selects the element of a tensor and scrolls to it. */
  private go(index: number): void {
    const target = this.folding?.boxOf(index) ?? index;
    const box = this.layout?.boxes.get(target);
    if (box) {
      this.pan.centre(box.x + box.width / 2, box.y + box.height / 2, READABLE);
    }
    this.select(target);
  }

  private paint(): void {
    const heat = heatOf(this.p!);
    this.drawing = new Painter(this.p!, this.layout!, heat).paint();
    this.svg.replaceChildren(this.drawing.root);
    this.legend.replaceChildren(legend(heat));
  }

  private select(index: number | null): void {
    this.lit.forEach((e) => e.classList.remove("lit", "selected"));
    this.lit = [];
    this.selected = index;
    const node = index == null ? null : this.p?.node.get(index);
    this.panel.hidden = !node;
    if (index == null || !node) {
      return;
    }
    const element = this.drawing?.nodes.get(index);
    element?.classList.add("selected");
    this.lit = [...(element ? [element] : []), ...(this.drawing?.touching.get(index) ?? [])];
    this.drawing?.touching.get(index)?.forEach((e) => e.classList.add("lit"));
    const close = h(
      "button",
      {
        type: "button",
        class: "close",
        "aria-label": "Close",
        on: {
          click: () => {
            this.select(null);
            this.element.focus();
          },
        },
      },
      "×",
    );
    const show = (i: number): void => this.find(i);
    const turn = (part: Part): void => this.turn(part);
    this.panel.replaceChildren(
      close,
      ...(isFolded(node) ? foldedDetail(node, show, turn) : detail(this.p!, node, show)),
      ...foldButtons(this.foldable(node), turn),
    );
    this.panel.scrollTop = 0;
  }

  /** The node under the pointer, or the target of the reference under it. */
  private under(e: Event): { index: number; jump: boolean } | null {
    const hit = (e.target as Element).closest<SVGElement>("[data-node],[data-jump]");
    if (!hit) {
      return null;
    }
    const jump = hit.dataset.jump !== undefined;
    return { index: Number(jump ? hit.dataset.jump : hit.dataset.node), jump };
  }

  private hover(e: PointerEvent): void {
    const hit = this.under(e);
    const node = hit && this.p?.node.get(hit.index);
    this.tooltip.hidden = !node || e.buttons > 0;
    if (node && !this.tooltip.hidden) {
      this.tooltip.replaceChildren(...(isFolded(node) ? foldedTip(node) : tip(this.p!, node)));
      const box = this.element.getBoundingClientRect();
      const x = e.clientX - box.left;
      const y = e.clientY - box.top;
      const left =
        x + 14 + this.tooltip.offsetWidth > box.width ? x - 14 - this.tooltip.offsetWidth : x + 14;
      this.tooltip.style.transform = `translate(${Math.max(4, left)}px, ${Math.min(y + 12, box.height - this.tooltip.offsetHeight - 6)}px)`;
    }
  }

  /** Selects the next or previous node in execution order. */
  private step(by: number): void {
    const order = this.p!.computed.filter((i) => this.layout!.boxes.has(i));
    const at = this.selected == null ? (by > 0 ? -1 : order.length) : order.indexOf(this.selected);
    const next = order[Math.min(order.length - 1, Math.max(0, at + by))];
    if (next !== undefined) {
      this.go(next);
    }
  }

  /** Parts around a drawn node that can still be folded. */
  private foldable(node: DagNode): Part[] {
    return this.folding!.partsAround(node.index).filter(
      (p) => !isFolded(node) || (p.kind === "layer" && node.part.kind === "module"),
    );
  }

  /**
   * Unfolds the selected box, or folds the part around the selected node; with Shift, its layer.
   */
  private turnSelected(shift: boolean): void {
    const node = this.selected == null ? undefined : this.p?.node.get(this.selected);
    if (!node) {
      return;
    }
    const parts = this.foldable(node);
    const layer = shift ? parts.find((p) => p.kind === "layer") : undefined;
    const part = layer ?? (isFolded(node) ? node.part : parts[0]);
    if (part) {
      this.turn(part);
    }
  }

  private listen(): void {
    this.svg.addEventListener("dblclick", (e) => {
      const hit = this.under(e);
      const node = hit && !hit.jump ? this.p?.node.get(hit.index) : null;
      if (node && isFolded(node)) {
        this.turn(node.part);
      }
    });
    this.svg.addEventListener("click", (e) => {
      const hit = this.under(e);
      if (hit?.jump) {
        this.go(hit.index);
      } else {
        this.select(hit ? hit.index : null);
      }
    });
    this.svg.addEventListener("pointermove", (e) => this.hover(e));
    this.svg.addEventListener("pointerleave", () => (this.tooltip.hidden = true));
    this.element.addEventListener("keydown", (e) => {
      if (e.key === "Escape") {
        this.select(null);
        this.element.focus();
      } else if (e.target === this.element && e.key === "0") {
        this.fit();
      } else if (e.target === this.element && (e.key === "," || e.key === ".")) {
        this.step(e.key === "." ? 1 : -1);
      } else if (e.target === this.element && e.key === "Enter") {
        e.preventDefault();
        this.turnSelected(e.shiftKey);
      }
    });
  }

  /** Description of what is shown. */
  caption(): string {
    const g = this.folding?.graph;
    if (!g || !this.p) {
      return "";
    }
    const leafs = list(g.nodes).filter((n) => isLeaf(g, n)).length;
    const boxes = [...this.p.node.values()].filter(isFolded);
    const folded = boxes.reduce((sum, b) => sum + b.part.nodes.length, 0);
    const hidden = this.p.node.size - this.drawing!.nodes.size;
    const how =
      boxes.length > 0
        ? `, ${count(folded)} of them in ${plural(boxes.length, "box", "boxes")} (double-click or Enter to open)`
        : "";
    return `${plural(list(g.nodes).length - leafs, "node")}${how}, ${plural(leafs, "leaf", "leafs")}${hidden > 0 ? ` (${count(hidden)} hidden)` : ""}, ${plural(list(g.edges).length, "edge")}`;
  }
}
