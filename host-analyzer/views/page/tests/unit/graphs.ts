// Graphs for tests: random graphs from a seed, so that failures are reproducible, and a
// transformer.

import type { DagEdge, DagGraph, DagNode, Module } from "../../src/data/schema.ts";

/** Pseudo-random numbers in [0, 1) (mulberry32). */
export function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function node(index: number, rest: Partial<DagNode> = {}): DagNode {
  return {
    index,
    name: `n${index}`,
    op: "MUL_MAT",
    desc: "MUL_MAT",
    dtype: "f32",
    ne: [4, 4],
    bytes: 64,
    role: "node",
    memory: null,
    buffer: null,
    module: "other",
    layer: null,
    view_of: null,
    order: index,
    fused_with: null,
    executions: 1,
    wall_ns: 1000 + index,
    work_ns: 900,
    wait_ns: 100,
    share: 0.01,
    not_captured: false,
    critical: null,
    ...rest,
  };
}

export function leaf(index: number, rest: Partial<DagNode> = {}): DagNode {
  return node(index, {
    name: `leaf${index}`,
    op: "NONE",
    role: "weight",
    order: null,
    executions: 0,
    wall_ns: null,
    work_ns: null,
    wait_ns: null,
    share: 0,
    ...rest,
  });
}

export function edge(from: number, to: number, slot = 0): DagEdge {
  return { from, to, slot, ne: [4, 4], dtype: "f32", bytes: 64 };
}

export function graph(nodes: DagNode[], leafs: DagNode[], edges: DagEdge[]): DagGraph {
  return {
    id: 0,
    phase: "decode",
    pid: 1,
    context: "0x1",
    split: 0,
    topology: 0,
    backend: "CPU",
    n_tokens: 1,
    calls: 1,
    traced_calls: 1,
    n_nodes: nodes.length,
    n_leafs: leafs.length,
    complete: true,
    nodes: [...nodes, ...leafs],
    edges,
  };
}

export interface Shape {
  nodes: number;
  leafs: number;
  /** Maximum number of sources of a node. */
  sources: number;
  /** Maximum distance of a source. */
  reach: number;
}

/** A graph that an engine could build: sources before their readers, leafs after all nodes. */
export function anyGraph(seed: number, { nodes: n, leafs: l, sources, reach }: Shape): DagGraph {
  const next = random(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const nodes = Array.from({ length: n }, (_, i) =>
    // Some are views, which have smaller boxes.
    node(i, next() < 0.15 ? { op: "VIEW", order: null, wall_ns: null } : {}),
  );
  const leafs = Array.from({ length: l }, (_, i) =>
    leaf(n + i, { role: next() < 0.7 ? "weight" : "input" }),
  );
  const edges: DagEdge[] = [];
  for (let i = 0; i < n; i++) {
    const count = below(sources + 1);
    for (let slot = 0; slot < count; slot++) {
      const fromLeaf = l > 0 && (i === 0 || next() < 0.3);
      if (fromLeaf || i > 0) {
        edges.push(edge(fromLeaf ? n + below(l) : Math.max(0, i - 1 - below(reach)), i, slot));
      }
    }
  }
  return graph(nodes, leafs, edges);
}

/**
 * Layers of a transformer: a residual stream, attention and a feed-forward network, weights, one
 * mask that every layer reads.
 */
export function transformer(layers: number): DagGraph {
  const nodes: DagNode[] = [];
  const leafs: DagNode[] = [];
  const edges: DagEdge[] = [];
  const perLayer = 10;
  const first = 1 + layers * perLayer + 1;
  const weight = (to: number): void => {
    leafs.push(leaf(first + leafs.length));
    edges.push(edge(first + leafs.length - 1, to, 0));
  };
  leafs.push(leaf(first, { name: "mask", role: "input" }));
  const add = (layer: number | null, module: Module, ...sources: number[]): number => {
    const index = nodes.length;
    nodes.push(node(index, { layer, module, name: layer == null ? "x" : `t${index}-${layer}` }));
    for (const [slot, from] of sources.entries()) {
      edges.push(edge(from, index, slot + 1));
    }
    return index;
  };
  let stream = add(null, "other");
  weight(stream);
  for (let layer = 0; layer < layers; layer++) {
    const norm = add(layer, "attention", stream);
    const [q, k, v] = [1, 2, 3].map(() => {
      const index = add(layer, "attention", norm);
      weight(index);
      return index;
    }) as [number, number, number];
    const scores = add(layer, "attention", q, k);
    edges.push(edge(first, scores, 3));
    const out = add(layer, "attention", scores, v);
    const residual = add(layer, "other", stream, out);
    const up = add(layer, "ffn", residual);
    weight(up);
    const down = add(layer, "ffn", up);
    weight(down);
    stream = add(layer, "other", residual, down);
  }
  add(null, "other", stream);
  return graph(nodes, leafs, edges);
}
