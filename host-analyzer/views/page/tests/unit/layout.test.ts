// Layout of a graph: every tensor and edge once, no overlaps, no upward edges.

import { deepEqual, equal, ok } from "node:assert/strict";
import test from "node:test";
import { sample } from "../../fixtures/make.mjs";
import { Folding } from "../../src/dag/fold.ts";
import { type Layout, layoutGraph, type Rect, thin } from "../../src/dag/layout.ts";
import { DOCK, NODE, Placer } from "../../src/dag/place.ts";
import type { Point } from "../../src/dag/placed.ts";
import { type Prepared, prepare } from "../../src/dag/prepare.ts";
import { segments } from "../../src/dag/segments.ts";
import type { DagGraph } from "../../src/data/schema.ts";
import { anyGraph, edge, graph, leaf, node, transformer } from "./graphs.ts";

const WIDE = { weights: true, aspect: 1.6 };

/** Graphs that the layout treats differently, with names for messages. */
function graphs(): [string, DagGraph][] {
  const chain = Array.from({ length: 300 }, (_, i) => node(i));
  const out: [string, DagGraph][] = [
    ["one node", graph([node(0)], [], [])],
    ["nothing but leafs", graph([], [leaf(0), leaf(1)], [])],
    [
      "a chain",
      graph(
        chain,
        [],
        chain.slice(1).map((n) => edge(n.index - 1, n.index)),
      ),
    ],
    ["nodes without edges", graph(chain.slice(0, 40), [], [])],
    ["a transformer", transformer(6)],
    ["a leaf that reads", graph([node(0), node(1)], [leaf(2), leaf(3)], [edge(0, 1), edge(1, 2)])],
    // All nodes read a hub, so there is no waist, and too many edges for dagre.
    [
      "a hub",
      graph(
        chain,
        [],
        chain.slice(1).map((n) => edge(0, n.index)),
      ),
    ],
    ["far edges", anyGraph(5, { nodes: 300, leafs: 3, sources: 4, reach: 250 })],
  ];
  for (const g of sample({ listing: "fixtures/dense.tsv" }).dag.graphs ?? []) {
    out.push([`dense.tsv, ${g.phase}`, g]);
  }
  for (let seed = 1; seed <= 8; seed++) {
    const shape = { nodes: 20 + seed * 12, leafs: seed * 2, sources: 3, reach: 2 + seed };
    out.push([`by chance, seed ${seed}`, anyGraph(seed, shape)]);
  }
  return out;
}

const placed = graphs().map(([name, g]) => {
  const p = prepare(g);
  return { name, p, out: layoutGraph(p, WIDE) };
});

/** Tolerance, because positions may be fractions and two edges may touch. */
const SLACK = 1e-6;

function overlaps(a: Rect, b: Rect): boolean {
  return (
    a.x + SLACK < b.x + b.width &&
    b.x + SLACK < a.x + a.width &&
    a.y + SLACK < b.y + b.height &&
    b.y + SLACK < a.y + a.height
  );
}

const text = (r: Rect): string => `${r.width}×${r.height} at ${r.x},${r.y}`;

test("every tensor is placed once", () => {
  for (const { name, p, out } of placed) {
    const wanted = [...p.computed, ...p.leafs].sort((a, b) => a - b);
    deepEqual(
      [...out.boxes.keys()].sort((a, b) => a - b),
      wanted,
      name,
    );
  }
});

test("no box lies on another", () => {
  for (const { name, out } of placed) {
    const boxes = [...out.boxes.values(), ...out.references];
    boxes.sort((a, b) => a.y - b.y);
    boxes.forEach((box, i) => {
      for (const other of boxes.slice(i + 1)) {
        if (other.y >= box.y + box.height) {
          break;
        }
        ok(!overlaps(box, other), `${name}: ${text(box)} and ${text(other)}`);
      }
    });
  }
});

test("everything is inside the picture", () => {
  for (const { name, out } of placed) {
    for (const box of [...out.boxes.values(), ...out.references]) {
      const inside =
        box.x >= -SLACK &&
        box.y >= -SLACK &&
        box.x + box.width <= out.width + SLACK &&
        box.y + box.height <= out.height + SLACK;
      // A drawing without nodes has no columns; its leafs are in a separate row.
      ok(
        inside || out.width < DOCK.width * 2,
        `${name}: ${text(box)} in ${out.width}×${out.height}`,
      );
    }
  }
});

test("every edge is drawn once, and ends at its reader", () => {
  for (const { name, p, out } of placed) {
    const edges = [...p.kind.keys()];
    const drawn = out.lines.flatMap((line) => (line.edge ? [line.edge] : []));
    equal(drawn.length, edges.length, name);
    deepEqual(new Set(drawn), new Set(edges), name);
    for (const { edge: e, points } of out.lines) {
      const box = e && out.boxes.get(e.to);
      const end = points[points.length - 1];
      if (box && end) {
        const there = end.x >= box.x - SLACK && end.x <= box.x + box.width + SLACK;
        ok(
          there && end.y >= box.y - SLACK,
          `${name}: ${e.from} to ${e.to} ends at ${end.x},${end.y}`,
        );
      }
    }
  }
});

/** Whether b follows a: below it, or in a later column. */
function after(a: Rect, b: Rect): boolean {
  return b.y >= a.y + a.height - SLACK || b.x > a.x + NODE.width;
}

test("an edge never goes upwards in a column", () => {
  for (const { name, p, out } of placed) {
    for (const [e, kind] of p.kind) {
      if (kind === "flow") {
        const [from, to] = [out.boxes.get(e.from)!, out.boxes.get(e.to)!];
        ok(after(from, to), `${name}: ${e.from} ${text(from)} to ${e.to} ${text(to)}`);
      }
    }
  }
});

test("a line inside a segment never turns upwards", () => {
  for (const { name, out } of placed) {
    for (const line of out.lines.filter((l) => !l.square)) {
      line.points.forEach((q, i) => {
        const before = line.points[i - 1] ?? q;
        ok(q.y >= before.y - SLACK, `${name}: from ${line.source}, ${JSON.stringify(line.points)}`);
      });
    }
  }
});

test("within its segment a node stands below everything that it reads", () => {
  for (const { name, p } of placed) {
    const placer = new Placer();
    for (const s of segments(p)) {
      const { at } = placer.place(p, s, { of: () => [], width: 0 });
      const inside = new Set(s.nodes);
      for (const n of s.nodes) {
        for (const e of p.into.get(n) ?? []) {
          const key = inside.has(e.from) ? String(e.from) : `in:${e.from}`;
          if (p.kind.get(e) === "flow") {
            ok(at.get(key)!.y < at.get(String(n))!.y, `${name}: ${key} to ${n}`);
          }
        }
      }
    }
  }
});

test("without weights they are gone, and nothing else is", () => {
  for (const { name, p } of placed) {
    const shown = [...p.node.values()].filter((n) => n.role !== "weight").map((n) => n.index);
    const out = layoutGraph(p, { weights: false, aspect: 1.6 });
    deepEqual(new Set(out.boxes.keys()), new Set(shown), name);
  }
});

test("the same graph gives the same picture", () => {
  for (const { name, p, out } of placed) {
    deepEqual(layoutGraph(prepare(p.graph), WIDE), out, name);
  }
});

/** Boxes of a layer, relative to the first one. */
function shape(p: Prepared, out: Layout, layer: number): Point[] {
  const boxes = p.computed
    .filter((n) => p.node.get(n)?.layer === layer)
    .map((n) => out.boxes.get(n)!);
  const first = boxes[0]!;
  return boxes.map((b) => ({ x: b.x - first.x, y: b.y - first.y }));
}

test("equal layers give equal pictures, each in a frame", () => {
  const p = prepare(transformer(8));
  const out = layoutGraph(p, { weights: true, aspect: 0.01 });
  const labels = out.blocks.map((b) => b.label);
  deepEqual(
    labels,
    [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `layer ${n}`),
  );
  for (let layer = 2; layer < 7; layer++) {
    deepEqual(shape(p, out, layer), shape(p, out, 1), `layer ${layer}`);
  }
});

test("folding and unfolding give the same picture", () => {
  for (const level of ["nodes", "modules", "layers"] as const) {
    const folding = new Folding(transformer(5), level);
    const draw = (): Layout => layoutGraph(prepare(folding.apply()), WIDE);
    const before = draw();
    const part = folding.partsAround(12)[0]!;
    folding.turn(part);
    const turned = draw();
    // Parts inside a folded layer turn without a visible change.
    equal(turned.boxes.size === before.boxes.size, level === "layers", level);
    folding.turn(part);
    deepEqual(draw(), before, level);
  }
});

test("bends that do not bend are left out", () => {
  const straight = [0, 10, 20, 30, 40].map((y) => ({ x: 5, y }));
  deepEqual(thin(straight), [
    { x: 5, y: 10 },
    { x: 5, y: 30 },
  ]);
  const bent = [
    { x: 0, y: 0 },
    { x: 0, y: 10 },
    { x: 0, y: 20 },
    { x: 50, y: 30 },
    { x: 50, y: 40 },
    { x: 50, y: 50 },
    { x: 50, y: 60 },
  ];
  deepEqual(thin(bent), [
    { x: 0, y: 10 },
    { x: 0, y: 20 },
    { x: 50, y: 30 },
    { x: 50, y: 50 },
  ]);
  deepEqual(thin([{ x: 0, y: 0 }]), []);
});
