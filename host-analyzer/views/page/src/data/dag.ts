// Kinds of nodes in dag.json.

import type { DagGraph, DagNode } from "./schema.ts";

/** A tensor that the graph does not compute. Leafs follow the nodes in the engine's numbering. */
export function isLeaf(graph: DagGraph, node: DagNode): boolean {
  return node.index >= (graph.n_nodes ?? Number.POSITIVE_INFINITY);
}

const VIEWS = new Set(["NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"]);

/** A node that only changes the shape. The engine never executes it (`ggml_op_is_empty`). */
export function isView(graph: DagGraph, node: DagNode): boolean {
  return !isLeaf(graph, node) && node.order == null && VIEWS.has(node.op ?? "");
}
