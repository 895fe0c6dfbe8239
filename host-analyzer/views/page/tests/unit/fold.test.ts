// Folding a part of the model to one box: no node and no time is lost or counted twice.

import { deepEqual, equal, ok } from "node:assert/strict";
import test from "node:test";
import { type FoldedNode, Folding, isFolded, LEVELS } from "../../src/dag/fold.ts";
import { partsOf } from "../../src/dag/parts.ts";
import type { DagGraph, DagNode } from "../../src/data/schema.ts";
import { edge, graph, leaf, node, transformer } from "./graphs.ts";

const LAYERS = 5;
const whole = transformer(LAYERS);

function of(g: DagGraph): { nodes: DagNode[]; folded: FoldedNode[] } {
  const nodes = g.nodes.filter((n) => n.index < (g.n_nodes ?? 0));
  return { nodes, folded: nodes.filter(isFolded) };
}

const total = (nodes: DagNode[], key: "wall_ns" | "executions"): number =>
  nodes.reduce((sum, n) => sum + (n[key] ?? 0), 0);

test("unfolded, the graph is as it was", () => {
  const { nodes, edges } = new Folding(whole, "nodes").apply();
  deepEqual({ nodes, edges }, { nodes: whole.nodes, edges: whole.edges });
});

test("at every level each node is in one box, with its time", () => {
  for (const [level] of LEVELS) {
    const { nodes, folded } = of(new Folding(whole, level).apply());
    const inside = nodes.flatMap((n) => (isFolded(n) ? n.part.nodes : [n]));
    deepEqual(
      inside.map((n) => n.index),
      of(whole).nodes.map((n) => n.index),
      level,
    );
    for (const key of ["wall_ns", "executions"] as const) {
      equal(total(nodes, key), total(of(whole).nodes, key), level);
    }
    equal(folded.length > 0, level !== "nodes");
  }
});

test("a layer is one box, with the weights that only it reads", () => {
  const g = new Folding(whole, "layers").apply();
  const { nodes, folded } = of(g);
  deepEqual(
    folded.map((n) => n.name),
    [0, 1, 2, 3, 4].map((n) => `layer ${n}`),
  );
  equal(nodes.length, LAYERS + 2);
  // Every layer reads the mask, and the weight of the first node belongs to no layer: both stay
  // visible.
  deepEqual(
    g.nodes.slice(nodes.length).map((n) => n.name),
    ["mask", "leaf53"],
  );
  deepEqual(
    folded.map((n) => n.weights.length),
    [5, 5, 5, 5, 5],
  );
});

test("edges run between what is drawn, from the first to the later, each pair once", () => {
  for (const [level] of LEVELS) {
    const g = new Folding(whole, level).apply();
    const drawn = new Map(g.nodes.map((n) => [n.index, n]));
    const pairs = new Set<string>();
    for (const e of g.edges) {
      const [from, to] = [drawn.get(e.from)!, drawn.get(e.to)!];
      ok(from && to, `${level}: ${e.from} to ${e.to}`);
      ok(e.from < e.to || e.from >= (whole.n_nodes ?? 0), `${level}: ${e.from} to ${e.to}`);
      if (isFolded(from) || isFolded(to)) {
        ok(!pairs.has(`${e.from}>${e.to}`), `${level}: ${e.from} to ${e.to} twice`);
        pairs.add(`${e.from}>${e.to}`);
      }
    }
    // Every reader of another box still has an edge.
    const fed = new Set(g.edges.map((e) => e.to));
    for (const n of g.nodes.filter((n) => n.index > 0 && n.index < (whole.n_nodes ?? 0))) {
      ok(fed.has(n.index), `${level}: nothing leads to ${n.name}`);
    }
  }
});

test("an edge of several tensors between two boxes claims no form", () => {
  const nodes = [0, 0, 1, 1].map((layer, i) => node(i, { layer }));
  const one = new Folding(graph(nodes, [], [edge(0, 2), edge(0, 3)]), "layers").apply().edges;
  deepEqual(
    one.map((e) => [e.from, e.to, e.bytes]),
    [[0, 2, 64]],
  );
  const two = new Folding(graph(nodes, [], [edge(0, 2), edge(1, 3)]), "layers").apply().edges;
  deepEqual(
    two.map((e) => [e.from, e.to, e.bytes]),
    [[0, 2, null]],
  );
});

test("a part turned twice is as before, and one turned once is the only one that differs", () => {
  const folding = new Folding(whole, "layers");
  const before = folding.apply();
  const [, layer] = folding.partsAround(12);
  folding.turn(layer!);
  const once = of(folding.apply()).folded.map((n) => n.name);
  // Its modules are visible now.
  deepEqual(
    once.filter((name) => !name?.includes("layer 1")),
    ["layer 0", "layer 2", "layer 3", "layer 4"],
  );
  ok(once.includes("attention, layer 1") && !once.includes("layer 1"), once.join());
  folding.turn(layer!);
  deepEqual(folding.apply(), before);
});

test("what is hidden is found and can be shown", () => {
  const folding = new Folding(whole, "layers");
  folding.apply();
  const weight = whole.edges.find((e) => e.to === 12)!.from;
  equal(folding.boxOf(12), 11);
  for (const hidden of [12, weight]) {
    folding.level = "layers";
    folding.apply();
    folding.reveal(hidden);
    ok(
      folding.apply().nodes.some((n) => n.index === hidden && !isFolded(n)),
      `${hidden}`,
    );
  }
  equal(folding.boxOf(0), undefined);
});

test("a graph that knows no parts cannot be folded", () => {
  const plain = graph([node(0), node(1)], [leaf(2)], [edge(0, 1), edge(2, 0)]);
  const folding = new Folding(plain, "layers");
  deepEqual([folding.possible(), folding.level], [false, "nodes"]);
});

test("a long graph begins with its modules folded", () => {
  equal(new Folding(transformer(4), null).level, "nodes");
  equal(new Folding(transformer(50), null).level, "modules");
});

test("some nodes of another part inside a part belong to it, more do not", () => {
  const runs = (between: number): string[] => {
    const layers = [0, 0, ...new Array<null>(between).fill(null), 0];
    const nodes = layers.map((layer, i) => node(i, { layer }));
    const around = partsOf(graph(nodes, [], []));
    return [...around.values()].map((a) => a.layer?.key ?? "none");
  };
  deepEqual(runs(4), new Array(7).fill("layer 0"));
  deepEqual(runs(5), ["layer 0", "layer 0", ...new Array(6).fill("none")]);
});
