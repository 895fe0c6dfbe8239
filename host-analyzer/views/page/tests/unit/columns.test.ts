// Arrangement of segments in columns, and the fast placement in rows.

import { deepEqual, equal, ok } from "node:assert/strict";
import test from "node:test";
import { type Box, columns, GAP } from "../../src/dag/columns.ts";
import { plain, ranks, span } from "../../src/dag/plain.ts";
import { random } from "./graphs.ts";

function boxes(seed: number, n: number): Box[] {
  const next = random(seed);
  return Array.from({ length: n }, () => {
    const width = 150 + Math.floor(next() * 400);
    return {
      width,
      height: 40 + Math.floor(next() * 600),
      entry: next() * width,
      exit: next() * width,
    };
  });
}

test("segments stay in their order, one below the other, column after column", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const all = boxes(seed, seed * 3);
    const { spots, left, width, height } = columns(all, 1.6);
    equal(spots.length, all.length);
    spots.forEach((spot, i) => {
      const box = all[i]!;
      const before = spots[i - 1];
      ok(spot.x > left[spot.column]! && spot.x + box.width <= (left[spot.column + 1] ?? width));
      ok(spot.y >= 0 && spot.y + box.height <= height);
      if (before && before.column === spot.column) {
        equal(spot.y, before.y + all[i - 1]!.height + GAP);
      } else {
        equal(spot.y, 0);
        equal(spot.column, before ? before.column + 1 : 0);
      }
    });
  }
});

test("the picture has about the form of its view", () => {
  const like = Array.from({ length: 48 }, () => ({
    width: 300,
    height: 200,
    entry: 150,
    exit: 150,
  }));
  for (const aspect of [0.5, 1, 2, 4]) {
    const { width, height } = columns(like, aspect);
    const form = width / height / aspect;
    ok(form > 0.6 && form < 1.7, `${width}×${height} for ${aspect}`);
  }
});

test("a value runs straight from one segment to the next, where there is space", () => {
  const wide = { width: 400, height: 50, entry: 200, exit: 120 };
  const narrow = { width: 100, height: 50, entry: 30, exit: 30 };
  // The view is narrow enough for one column.
  const { spots } = columns([wide, narrow, narrow], 0.01);
  equal(spots[1]!.x + narrow.entry, spots[0]!.x + wide.exit);
  equal(spots[2]!.x, spots[1]!.x);
  // Inside the column.
  const edge = columns([{ ...wide, exit: 395 }, narrow], 0.01).spots;
  equal(edge[1]!.x + narrow.width, edge[0]!.x + wide.width);
});

test("nothing has a place", () => {
  deepEqual(columns([], 1).spots, []);
});

/** Keys and edges of a random graph, sources before readers. */
function net(
  seed: number,
  n: number,
): { keys: string[]; edges: { from: string; to: string; weight: number }[] } {
  const next = random(seed);
  const keys = Array.from({ length: n }, (_, i) => `k${i}`);
  const edges = keys.slice(1).flatMap((to, i) =>
    Array.from({ length: Math.floor(next() * 4) }, () => {
      return { from: keys[Math.floor(next() * (i + 1))]!, to, weight: 1 };
    }),
  );
  return { keys, edges };
}

test("a rank is the longest way to a node", () => {
  const edges = [
    ["a", "b"],
    ["b", "c"],
    ["a", "c"],
    ["c", "d"],
  ].map(([from, to]) => ({ from: from!, to: to!, weight: 1 }));
  const keys = ["a", "b", "c", "d", "e"];
  deepEqual([...ranks(keys, edges).values()], [0, 1, 2, 3, 0]);
  equal(span(keys, edges), 1 + 1 + 2 + 1);
});

test("the quick placement puts readers below their sources, and nothing on anything", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { keys, edges } = net(seed, 150);
    const next = random(seed);
    const sizes = new Map(
      keys.map((k) => [k, { width: 50 + next() * 200, height: 18 + next() * 30 }]),
    );
    const { at, width, height } = plain(sizes, edges);
    equal(at.size, keys.length);
    for (const e of edges) {
      ok(at.get(e.from)!.y < at.get(e.to)!.y, `${e.from} to ${e.to}`);
    }
    const rects = keys.map((k) => {
      const [c, size] = [at.get(k)!, sizes.get(k)!];
      ok(
        c.x - size.width / 2 >= 0 &&
          c.x + size.width / 2 <= width &&
          c.y + size.height / 2 <= height,
      );
      return { ...size, x: c.x, y: c.y };
    });
    rects.forEach((a, i) => {
      for (const b of rects.slice(i + 1)) {
        const [dx, dy] = [Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
        ok(dx >= (a.width + b.width) / 2 || dy >= (a.height + b.height) / 2);
      }
    });
  }
});

test("a rank with very many nodes becomes several rows", () => {
  const keys = Array.from({ length: 100 }, (_, i) => `k${i}`);
  const { width, at } = plain(new Map(keys.map((k) => [k, { width: 150, height: 30 }])), []);
  ok(width <= 4000, `${width}`);
  equal(new Set([...at.values()].map((q) => q.y)).size, 5);
});
