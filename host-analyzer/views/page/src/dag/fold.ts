// Folding: shows a part of the model as one box with the sums of its nodes.

import { list } from "../data/read.ts";
import { isLeaf } from "../data/dag.ts";
import type { Num } from "../data/maybe.ts";
import type { DagEdge, DagGraph, DagNode } from "../data/schema.ts";
import { partsOf, type Around, type Part } from "./parts.ts";

/** Initial content of a box. */
export type Level = "nodes" | "modules" | "layers";
export const LEVELS: [Level, string][] = [
  ["nodes", "Nodes"],
  ["modules", "Modules"],
  ["layers", "Layers"],
];

/** A graph with more nodes starts with folded modules, because single nodes would be unreadable. */
const MANY = 400;

/** A box for a part. It has the index of the first node of the part. */
export interface FoldedNode extends DagNode {
  part: Part;
  /** Weights that only nodes of this part read. */
  weights: DagNode[];
}

export function isFolded(n: DagNode): n is FoldedNode {
  return "part" in n;
}

function sum(nodes: DagNode[], of: (n: DagNode) => Num): number | null {
  const known = nodes.map(of).filter((v): v is number => v != null);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) : null;
}

/**
 * The box of a part. Each node runs once per call, so the sum of the mean times is the part's time.
 */
function box(part: Part): FoldedNode {
  const { nodes } = part;
  const orders = nodes.map((n) => n.order).filter((o): o is number => o != null);
  const critical = nodes.some((n) => n.critical === true)
    ? true
    : nodes.some((n) => n.critical === false)
      ? false
      : null;
  const first = nodes[0]!;
  return {
    index: first.index,
    name: part.name,
    op: "",
    desc: "",
    dtype: "",
    ne: [],
    bytes: null,
    role: "node",
    memory: null,
    buffer: null,
    not_captured: false,
    module: part.kind === "module" ? first.module : "other",
    layer: nodes.find((n) => n.layer != null)?.layer ?? null,
    view_of: null,
    fused_with: null,
    order: orders.length > 0 ? Math.min(...orders) : null,
    executions: sum(nodes, (n) => n.executions) ?? 0,
    wall_ns: sum(nodes, (n) => n.wall_ns),
    work_ns: sum(nodes, (n) => n.work_ns),
    wait_ns: sum(nodes, (n) => n.wait_ns),
    share: sum(nodes, (n) => n.share) ?? 0,
    critical,
    part,
    weights: [],
  };
}

/** The folded parts of a graph, and the resulting graph. */
export class Folding {
  private readonly around: Map<number, Around>;
  private readonly turned = new Set<string>();
  /** For tensors that are not drawn: the index of their box. */
  private inside = new Map<number, number>();
  level: Level;

  constructor(
    readonly graph: DagGraph,
    level: Level | null,
  ) {
    this.around = partsOf(graph);
    this.level = this.possible()
      ? (level ?? (this.around.size > MANY ? "modules" : "nodes"))
      : "nodes";
  }

  /** Whether the parts of the model are known. */
  possible(): boolean {
    return [...this.around.values()].some((a) => a.layer || a.module);
  }

  /** Folds or unfolds a part. */
  turn(part: Part): void {
    if (!this.turned.delete(part.key)) {
      this.turned.add(part.key);
    }
  }

  /** Parts that contain a node, the innermost first. */
  partsAround(index: number): Part[] {
    const a = this.around.get(index);
    return [a?.module, a?.layer].filter((p): p is Part => p != null);
  }

  /** Unfolds the parts that hide a tensor. */
  reveal(index: number): void {
    const node = this.around.has(index) ? index : this.inside.get(index);
    for (const part of node === undefined ? [] : this.partsAround(node)) {
      if (this.folded(part)) {
        this.turn(part);
      }
    }
  }

  /** The box that hides a tensor; undefined if it is drawn, or not in the graph. */
  boxOf(index: number): number | undefined {
    return this.inside.get(index);
  }

  private folded(part: Part): boolean {
    const from = part.kind === "layer" ? this.level === "layers" : this.level !== "nodes";
    return from !== this.turned.has(part.key);
  }

  /** The outermost folded part that contains a node. */
  private hiding(index: number): Part | null {
    const a = this.around.get(index);
    return [a?.layer, a?.module].find((p) => p && this.folded(p)) ?? null;
  }

  /** The graph to draw. */
  apply(): DagGraph {
    const boxes = new Map<string, FoldedNode>();
    const place = new Map<number, number>();
    const nodes: DagNode[] = [];
    for (const n of list(this.graph.nodes)) {
      const part = this.hiding(n.index);
      let target = part ? boxes.get(part.key) : undefined;
      if (part && !target) {
        target = box(part);
        boxes.set(part.key, target);
        nodes.push(target);
      } else if (!part) {
        nodes.push(n);
      }
      place.set(n.index, target?.index ?? n.index);
    }
    const byIndex = new Map([...boxes.values()].map((b) => [b.index, b]));
    const hidden = this.leafsInside(byIndex, place);
    this.inside = new Map([...place].filter(([from, to]) => from !== to || byIndex.has(to)));
    hidden.forEach((to, leaf) => this.inside.set(leaf, to));
    return {
      ...this.graph,
      nodes: nodes.filter((n) => !hidden.has(n.index)),
      edges: this.edges(byIndex, place, hidden),
    };
  }

  /** Leafs that only one box reads become part of it; the others stay visible. */
  private leafsInside(
    boxes: Map<number, FoldedNode>,
    place: Map<number, number>,
  ): Map<number, number> {
    const readers = new Map<number, Set<number>>();
    for (const e of list(this.graph.edges)) {
      const set = readers.get(e.from) ?? new Set();
      readers.set(e.from, set.add(place.get(e.to) ?? e.to));
    }
    const hidden = new Map<number, number>();
    for (const n of list(this.graph.nodes)) {
      const [only, ...others] = isLeaf(this.graph, n) ? (readers.get(n.index) ?? []) : [];
      const target = only === undefined || others.length > 0 ? undefined : boxes.get(only);
      if (target) {
        hidden.set(n.index, target.index);
        if (n.role === "weight") {
          target.weights.push(n);
        }
      }
    }
    return hidden;
  }

  /**
   * Edges between drawn boxes. Edges of one pair become one edge, which has a shape only if all are
   * of the same tensor.
   */
  private edges(
    boxes: Map<number, FoldedNode>,
    place: Map<number, number>,
    hidden: Map<number, number>,
  ): DagEdge[] {
    const pairs = new Map<string, { edge: DagEdge; source: number }>();
    const out: DagEdge[] = [];
    for (const e of list(this.graph.edges)) {
      const [from, to] = [place.get(e.from) ?? e.from, place.get(e.to) ?? e.to];
      if (hidden.has(e.from) || (from === to && boxes.has(to))) {
        continue;
      }
      if (!boxes.has(from) && !boxes.has(to)) {
        out.push(e);
        continue;
      }
      const there = pairs.get(`${from}>${to}`);
      if (!there) {
        const edge = { ...e, from, to, slot: 0 };
        pairs.set(`${from}>${to}`, { edge, source: e.from });
        out.push(edge);
      } else if (there.source !== e.from) {
        Object.assign(there.edge, { ne: null, dtype: null, bytes: null });
      }
    }
    return out;
  }
}
