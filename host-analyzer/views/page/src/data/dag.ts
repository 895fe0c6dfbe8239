// Types of dag.json; docs/output-schema.md is the reference.

import type { Maybe, Num, Str } from "./maybe.ts";

export interface DagNode {
  index: number;
  name: Str;
  op: Str;
  desc: Str;
  dtype: Str;
  ne: Maybe<number[]>;
  bytes: Num;
  role: Str;
  memory?: Str;
  buffer?: Str;
  module?: Str;
  layer?: Num;
  view_of: Num;
  order: Num;
  fused_with: Num;
  executions: Num;
  wall_ns: Num;
  work_ns: Num;
  wait_ns: Num;
  share: Num;
  critical?: Maybe<boolean>;
  /** It ran, and no probe was to see it. */
  not_captured?: Maybe<boolean>;
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
  id: Num;
  phase: Str;
  pid: Num;
  context: Str;
  split: Num;
  topology: Num;
  backend: Str;
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

const VIEWS = new Set(["NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"]);

/**
 * A node that only gives a tensor another shape, which the engine never runs (its
 * `ggml_op_is_empty`).
 */
export function isView(graph: DagGraph, node: DagNode): boolean {
  return !isLeaf(graph, node) && node.order == null && VIEWS.has(node.op ?? "");
}
