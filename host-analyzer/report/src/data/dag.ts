// Shape of dag.json; docs/output-schema.md is the reference.

import type { Maybe, Num, Str } from "./summary.ts";

export interface DagNode {
  index: number;
  name: Str;
  op: Str;
  desc: Str;
  dtype: Str;
  ne: Maybe<number[]>;
  bytes: Num;
  role: Str;
  view_of: Num;
  order: Num;
  fused_with: Num;
  executions: Num;
  wall_ns: Num;
  work_ns: Num;
  wait_ns: Num;
  share: Num;
}

export interface DagEdge {
  from: number;
  to: number;
  slot: Num;
  ne: Maybe<number[]>;
  dtype: Str;
  bytes: Num;
}

export interface DagGraph {
  id: Maybe<number | string>;
  phase: Str;
  shape: Num;
  n_tokens: Num;
  calls: Num;
  n_nodes: Num;
  n_leafs: Num;
  complete: Maybe<boolean>;
  nodes: DagNode[];
  edges: DagEdge[];
}

export interface Dag {
  schema: Num;
  graphs: Maybe<DagGraph[]>;
}

/** A tensor that the graph does not compute: it lies behind the nodes in the engine's numbering. */
export function isLeaf(graph: DagGraph, node: DagNode): boolean {
  return node.index >= (graph.n_nodes ?? Number.POSITIVE_INFINITY);
}

/** A node that is part of the graph and never run: views, reshapes. A fused node was run by another. */
export function isView(graph: DagGraph, node: DagNode): boolean {
  return !isLeaf(graph, node) && node.order == null && node.fused_with == null;
}
