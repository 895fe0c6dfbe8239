// Indexes the lists of dag.json and decides how each edge is drawn:
//
//   flow   node to later node: a line that the layout routes
//   dock   leaf to its first reader: the leaf is a small box next to that node
//   ref    leaf to a further reader, or a node with many readers (a mask that every layer uses) to
//          a distant reader: a small reference next to the reader, instead of a long line

import { list } from "../data/read.ts";
import { isLeaf } from "../data/dag.ts";
import type { DagEdge, DagGraph, DagNode } from "../data/schema.ts";

type EdgeKind = "flow" | "dock" | "ref";

export interface Prepared {
  graph: DagGraph;
  node: Map<number, DagNode>;
  /** Computed nodes in the engine's order, then leafs. */
  computed: number[];
  leafs: number[];
  kind: Map<DagEdge, EdgeKind>;
  into: Map<number, DagEdge[]>;
  from: Map<number, DagEdge[]>;
}

/** A node with at least this many readers is a hub. */
const HUB_READERS = 6;
/** A reader of a hub gets a reference if it is at least this many nodes after the hub. */
const HUB_DISTANCE = 48;

function group(edges: DagEdge[], end: "from" | "to"): Map<number, DagEdge[]> {
  const map = new Map<number, DagEdge[]>();
  for (const edge of edges) {
    const there = map.get(edge[end]);
    if (there) {
      there.push(edge);
    } else {
      map.set(edge[end], [edge]);
    }
  }
  return map;
}

export function prepare(graph: DagGraph): Prepared {
  const node = new Map(list(graph.nodes).map((n) => [n.index, n]));
  const edges = list(graph.edges).filter((e) => node.has(e.from) && node.has(e.to));
  const computed: number[] = [];
  const leafs: number[] = [];
  for (const n of node.values()) {
    (isLeaf(graph, n) ? leafs : computed).push(n.index);
  }
  const ascending = (a: number, b: number): number => a - b;
  computed.sort(ascending);
  leafs.sort(ascending);
  const from = group(edges, "from");
  const into = group(edges, "to");
  const leaf = new Set(leafs);
  const kind = new Map<DagEdge, EdgeKind>();
  for (const [source, out] of from) {
    const readers = out.filter((e) => !leaf.has(e.to));
    const home = readers.length > 0 ? Math.min(...readers.map((e) => e.to)) : -1;
    const hub = readers.length >= HUB_READERS;
    let docked = false;
    for (const e of out) {
      if (leaf.has(source)) {
        kind.set(e, e.to === home && !docked ? "dock" : "ref");
        docked ||= e.to === home;
      } else {
        const far = hub && e.to - source >= HUB_DISTANCE;
        kind.set(e, e.to > source && !far && !leaf.has(e.to) ? "flow" : "ref");
      }
    }
  }
  return { graph, node, computed, leafs, kind, from, into };
}
