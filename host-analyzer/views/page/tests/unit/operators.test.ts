// Operators of the same name in all layers.

import { deepEqual, equal } from "node:assert/strict";
import test from "node:test";
import type { Operator } from "../../src/data/schema.ts";
import { byName, nameWithoutLayer } from "../../src/sections/operators.ts";

function row(name: string, layer: number | null, wall_ns: number, op = "MUL_MAT"): Operator {
  return { name, layer, op, wall_ns, executions: 2, share: wall_ns / 100 } as Operator;
}

test("only the number of the layer is removed from a name", () => {
  equal(nameWithoutLayer(row("ffn_up-3", 3, 1)), "ffn_up");
  equal(nameWithoutLayer(row("ffn_up-31", 3, 1)), "ffn_up-31");
  equal(nameWithoutLayer(row("Vcur-1 (view)", 1, 1)), "Vcur (view)");
  equal(nameWithoutLayer(row("result-3", null, 1)), "result-3");
  equal(nameWithoutLayer(row("node_55", null, 1)), "unnamed");
});

test("nodes of one name are summed, and those of another operator are apart", () => {
  const rows = [
    row("up-0", 0, 10),
    row("up-1", 1, 30),
    row("up-1", 1, 5, "ADD"),
    row("out", null, 55),
  ];
  const sums = byName(rows);
  deepEqual(
    sums.map((s) => [s.name, s.op, s.layers, s.wall_ns, s.executions]),
    [
      ["up", "MUL_MAT", 2, 40, 4],
      ["up", "ADD", 1, 5, 2],
      ["out", "MUL_MAT", 1, 55, 2],
    ],
  );
  const whole = sums.reduce((all, s) => all + s.share, 0);
  equal(Math.round(whole * 100), 100);
});
