// Parts of the model as runs of nodes in the engine's order. Only a run can become one box: its
// sources then precede it and its readers follow it, as in the unfolded graph.

import { list } from "../data/read.ts";
import { isLeaf } from "../data/dag.ts";
import type { DagGraph, DagNode } from "../data/schema.ts";

/** A run of nodes that belong together. */
export interface Part {
  key: string;
  kind: "layer" | "module";
  /** Display name: `attention, layer 3`. */
  name: string;
  nodes: DagNode[];
}

/** The parts that contain a node; null if it is the only node of its part, or has no part. */
export interface Around {
  layer: Part | null;
  module: Part | null;
}

/**
 * A run of up to this many nodes inside another part belongs to that part: for example a norm of
 * the queries inside attention, or a view.
 */
const INSIDE = 4;

interface Run<T> {
  value: T;
  nodes: DagNode[];
}

/**
 * Groups neighbours with the same value. A short run between two groups of the same value joins
 * them, if `joins` allows it.
 */
function runs<T>(
  nodes: DagNode[],
  value: (n: DagNode) => T,
  joins: (run: Run<T>) => boolean,
): Run<T>[] {
  const out: Run<T>[] = [];
  for (const n of nodes) {
    const v = value(n);
    const last = out[out.length - 1];
    const before = out[out.length - 2];
    if (last && last.value === v) {
      last.nodes.push(n);
    } else if (last && before && before.value === v && last.nodes.length <= INSIDE && joins(last)) {
      out.pop();
      before.nodes.push(...last.nodes, n);
    } else {
      out.push({ value: v, nodes: [n] });
    }
  }
  return out;
}

const layerOf = (n: DagNode): number | null => n.layer ?? null;
const moduleOf = (n: DagNode): string => n.module || "other";

/** The parts that contain each computed node, by its index. */
export function partsOf(graph: DagGraph): Map<number, Around> {
  const computed = list(graph.nodes)
    .filter((n) => !isLeaf(graph, n))
    .sort((a, b) => a.index - b.index);
  const around = new Map<number, Around>(
    computed.map((n) => [n.index, { layer: null, module: null }]),
  );
  const set = (kind: Part["kind"], name: string, nodes: DagNode[]): void => {
    if (nodes.length > 1) {
      const part = { key: `${kind} ${nodes[0]!.index}`, kind, name, nodes };
      nodes.forEach((n) => (around.get(n.index)![kind] = part));
    }
  };
  for (const inLayer of runs(computed, layerOf, (run) => run.value === null)) {
    const layer = inLayer.value === null ? null : `layer ${inLayer.value}`;
    if (layer !== null) {
      set("layer", layer, inLayer.nodes);
    }
    for (const inModule of runs(inLayer.nodes, moduleOf, () => true)) {
      if (inModule.value !== "other") {
        set("module", [inModule.value, layer].filter(Boolean).join(", "), inModule.nodes);
      }
    }
  }
  return around;
}
