// Cutting a graph into segments, and the kinds of its edges.

import { deepEqual, equal, ok } from "node:assert/strict";
import test from "node:test";
import { Folding } from "../../src/dag/fold.ts";
import { layerOf } from "../../src/dag/layer.ts";
import { prepare } from "../../src/dag/prepare.ts";
import { segments } from "../../src/dag/segments.ts";
import { anyGraph, edge, graph, leaf, node, transformer } from "./graphs.ts";

const some = Array.from({ length: 20 }, (_, i) =>
  prepare(anyGraph(i + 1, { nodes: 30 * (i + 1), leafs: i, sources: 3, reach: 3 * i + 1 })),
);

test("segments are all nodes, each once, in the engine's order", () => {
  for (const p of [...some, prepare(transformer(4))]) {
    deepEqual(
      segments(p).flatMap((s) => s.nodes),
      p.computed,
    );
  }
});

test("what leaves a segment enters the next, and what is read there has entered", () => {
  for (const p of some) {
    const parts = segments(p);
    deepEqual(parts[0]?.enter, []);
    deepEqual(parts[parts.length - 1]?.leave, []);
    parts.forEach((s, i) => {
      deepEqual(parts[i + 1]?.enter ?? [], s.leave);
      const known = new Set([...s.enter, ...s.nodes]);
      for (const n of s.nodes) {
        for (const e of p.into.get(n) ?? []) {
          ok(p.kind.get(e) !== "flow" || known.has(e.from), `${e.from} to ${n}`);
        }
      }
    });
  }
});

test("no segment is too large to be placed quickly", () => {
  const dense = prepare(anyGraph(3, { nodes: 1000, leafs: 0, sources: 3, reach: 900 }));
  for (const p of [...some, dense]) {
    for (const s of segments(p)) {
      ok(s.nodes.length <= 220, `${s.nodes.length} nodes`);
    }
  }
});

test("a chain is cut often, a layer at its residual stream", () => {
  const chain = Array.from({ length: 24 }, (_, i) => node(i));
  const edges = chain.slice(1).map((n) => edge(n.index - 1, n.index));
  const parts = segments(prepare(graph(chain, [], edges)));
  deepEqual(
    parts.map((s) => s.nodes.length),
    [6, 6, 6, 6],
  );
  for (const s of segments(prepare(transformer(4)))) {
    ok(s.enter.length <= 1 && s.leave.length <= 1, `${s.enter} and ${s.leave}`);
  }
});

test("with folded modules a segment is a layer", () => {
  const layers = 5;
  const p = prepare(new Folding(transformer(layers), "modules").apply());
  const parts = segments(p).map((s) => s.nodes.map((n) => p.node.get(n)!.layer));
  // The nodes before the first layer are in its segment, those after the last one in the last.
  equal(parts.length, layers);
  parts.forEach((found, i) => {
    deepEqual(new Set(found.filter((layer) => layer !== null)), new Set([i]));
  });
});

test("folded layers are cut like a chain of nodes", () => {
  const layers = 18;
  const p = prepare(new Folding(transformer(layers), "layers").apply());
  const sizes = segments(p).map((s) => s.nodes.length);
  equal(
    sizes.reduce((a, b) => a + b, 0),
    layers + 2,
  );
  deepEqual(sizes.slice(0, -1), [6, 6]);
});

test("without layers folded modules are cut after at most 24 boxes", () => {
  // Runs of two nodes per module, without layers.
  const nodes = Array.from({ length: 120 }, (_, i) =>
    node(i, { module: (["norm", "attention", "ffn"] as const)[Math.floor(i / 2) % 3]! }),
  );
  const edges = nodes.slice(1).map((n) => edge(n.index - 1, n.index));
  const p = prepare(new Folding(graph(nodes, [], edges), "modules").apply());
  equal(p.computed.length, 60);
  deepEqual(
    segments(p).map((s) => s.nodes.length),
    [24, 24, 12],
  );
});

test("a leaf is docked at its first reader, and referred to by the others", () => {
  const edges = [edge(3, 2), edge(3, 1, 0), edge(3, 1, 1)];
  const p = prepare(graph([node(0), node(1), node(2)], [leaf(3)], edges));
  deepEqual(
    edges.map((e) => p.kind.get(e)),
    ["ref", "dock", "ref"],
  );
  for (const p of some) {
    for (const l of p.leafs) {
      const kinds = (p.from.get(l) ?? []).map((e) => p.kind.get(e));
      equal(kinds.filter((kind) => kind === "dock").length, kinds.length > 0 ? 1 : 0);
      ok(!kinds.includes("flow"));
    }
  }
});

test("far readers of what many read get a reference, and so does what runs backwards", () => {
  const nodes = Array.from({ length: 80 }, (_, i) => node(i));
  const [near, far, back] = [edge(0, 47), edge(0, 48), edge(9, 5)];
  const few = [edge(10, 79)];
  const many = [1, 2, 3, 4].map((i) => edge(0, i));
  const p = prepare(graph(nodes, [], [...many, near, far, back, ...few]));
  deepEqual(
    [near, far, back, few[0]!].map((e) => p.kind.get(e)),
    ["flow", "ref", "ref", "flow"],
  );
});

test("edges of tensors that are not in the graph are left out", () => {
  equal(prepare(graph([node(0), node(1)], [], [edge(0, 1), edge(7, 1), edge(0, 9)])).kind.size, 1);
});

test("a run of nodes is of the layer that most of them name", () => {
  const p = prepare(
    graph(
      [
        node(0, { name: "ffn_out-3" }),
        node(1, { name: "Qcur-3 (view)" }),
        node(2, { name: "cache_k_l4" }),
        node(3, { name: "norm" }),
        node(4, { name: "attn_norm-3", layer: 5 }),
      ],
      [],
      [],
    ),
  );
  equal(layerOf(p, [0, 1, 2]), "layer 3");
  // The analyzer's result has priority over the name.
  equal(layerOf(p, [4]), "layer 5");
  equal(layerOf(p, [0, 2]), null);
  equal(layerOf(p, [3]), null);
});
