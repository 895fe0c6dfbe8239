// Conversion of tracks to rows, and the visible part of a row.

import { deepEqual, equal, ok } from "node:assert/strict";
import test from "node:test";
import { sample } from "../../fixtures/make.mjs";
import type { Timeline, Track, TrackKind } from "../../src/data/timeline.ts";
import { GEOMETRY, heightOf, placesOf } from "../../src/timeline/place.ts";
import { rowsOf } from "../../src/timeline/rows.ts";
import type { Slice } from "../../src/timeline/slice.ts";
import { statesIn, statesMissing } from "../../src/timeline/states.ts";
import { firstVisible, textFor, tickStep } from "../../src/timeline/visible.ts";
import { random } from "./graphs.ts";

function timeline(tracks: Track[], rest: Partial<Timeline> = {}): Timeline {
  return {
    schema: 2,
    start_ns: 1000,
    end_ns: 2000,
    calls: 1,
    calls_total: 1,
    spans: 1,
    spans_total: 1,
    complete: true,
    texts: ["CPU", "ffn", "MUL_MAT", "f32", "norm"],
    nodes: [
      [1, 2, 2, 3, null, [64, 2, 1, 1]],
      [4, 2, 2, 3, 1, [8]],
    ],
    tracks,
    ...rest,
  };
}

const track = (kind: TrackKind, slices: number[], process = 7): Track => ({
  kind,
  process,
  track: kind,
  slices,
});

test("every slice of every track is in one row, at its time", () => {
  const { timeline: t } = sample({ listing: "fixtures/dense.tsv" });
  const rows = rowsOf(t);
  const wanted = t.tracks.flatMap((x: Track) => {
    return Array.from({ length: x.slices.length / 4 }, (_, i) => x.slices.slice(4 * i, 4 * i + 2));
  });
  const order = (a: number[], b: number[]): number => a[0]! - b[0]! || a[1]! - b[1]!;
  const slices = rows.flatMap((r) => r.slices);
  deepEqual(slices.map((s) => [s.start, s.length]).sort(order), wanted.sort(order));
  rows.forEach((row, i) => ok(row.slices.length > 0 && row.slices.every((s) => s.row === i)));
  deepEqual(
    rows.map((r) => r.title),
    ["token", "graph", "graph, backends", "llama-cli 4711", "llama-cli 4712"],
  );
});

test("calls are named by phase and tokens", () => {
  const [row] = rowsOf(timeline([track("token", [0, 5, 1, 4, 10, 5, 2, 1, 20, 5, 9, 3])]));
  deepEqual(
    row!.slices.map((s) => s.label),
    ["prefill n=4", "decode", "call"],
  );
  deepEqual(
    row!.slices.map((s) => s.kind),
    ["prefill", "decode", "call"],
  );
});

test("whole graphs and splits are apart", () => {
  const rows = rowsOf(timeline([track("graph", [0, 9, 30, -1, 1, 7, 20, 0])]));
  deepEqual(
    rows.map((r) => r.slices.map((s) => s.label)),
    [["graph (30 nodes)"], ["graph CPU (20 nodes)"]],
  );
});

test("a wait names the operator before it", () => {
  const [row] = rowsOf(timeline([track("thread", [0, 5, 0, 1, 5, 2, -1, 1, 7, 1, 1, -1])]));
  deepEqual(
    row!.slices.map((s) => [s.kind, s.label]),
    [
      ["op", "ffn"],
      ["barrier", "barrier"],
      ["op", "norm"],
    ],
  );
  deepEqual(
    row!.slices.map((s) => s.facts()),
    [["MUL_MAT · f32 · 64×2", "CPU 1"], ["after ffn"], ["MUL_MAT · f32 · 8", "fused up to ffn"]],
  );
});

test("of several processes each row names its own, and a track without slices has no row", () => {
  const tracks = [
    track("token", [0, 5, 1, 4], 7),
    track("token", [0, 5, 1, 4], 8),
    track("graph", [], 8),
  ];
  deepEqual(
    rowsOf(timeline(tracks)).map((r) => r.title),
    ["7 token", "8 token"],
  );
});

test("probes have a thin row, with a colour per kind", () => {
  const slices = [-5, 10, 0, 0, 5, 2, 1, 1, 7, 0, 2, 2, 9, 1, 9, 9];
  const [row, ...others] = rowsOf(
    timeline([track("probes", slices)], { labels: ["burst", "on", "10 %"] }),
  );
  equal(others.length, 0);
  ok(row!.thin);
  deepEqual(
    row!.slices.map((s) => [s.start, s.length, s.kind, s.label]),
    [
      [-5, 10, "graph", "burst"],
      [5, 2, "barrier", "on"],
      [7, 0, "call", "10 %"],
      // An unknown code, from a newer analyzer.
      [9, 1, "call", ""],
    ],
  );
});

test("a track with a rest of fewer than four numbers loses only the rest", () => {
  const [row] = rowsOf(timeline([track("token", [0, 5, 2, 1, 7, 5])]));
  equal(row!.slices.length, 1);
});

const states = (slices: number[], rest: Partial<Timeline> = {}): Slice[] => {
  const t = timeline([track("state", slices)], {
    states: [
      ["running", null],
      ["preempted", 0],
      ["throttled", null],
    ],
    tasks: [[99, 98, "stress", "stress -c 1", false]],
    scheduler: { recorded: true, left_out: 0, left_out_longest_ns: 0 },
    ...rest,
  });
  return rowsOf(t).flatMap((r) => r.slices);
};

test("between the parts of an excerpt nothing is unknown, because nothing is shown", () => {
  const parts = [
    { start_ns: 1000, end_ns: 1100, long_token: false },
    { start_ns: 1800, end_ns: 2000, long_token: true },
  ];
  const slices = states([0, 60, 0, 2, 850, 100, 0, 2], { parts });
  deepEqual(
    slices.map((s) => [s.start, s.length, s.op]),
    [
      [0, 60, "running"],
      [60, 40, "unknown"],
      [800, 50, "unknown"],
      [850, 100, "running"],
      [950, 50, "unknown"],
    ],
  );
});

test("between what is known of a thread stands what is not", () => {
  const slices = states([-50, 100, 0, 2, 50, 150, 1, 2, 400, 100, 2, 2]);
  deepEqual(
    slices.map((s) => [s.start, s.length, s.op]),
    [
      [-50, 100, "running"],
      [50, 150, "preempted"],
      [200, 200, "unknown"],
      [400, 100, "throttled"],
      [500, 500, "unknown"],
    ],
  );
  equal(slices[1]!.label, "preempted by stress");
  deepEqual(slices[1]!.facts(), ["by stress, thread 99 of process 98", "CPU 2", "stress -c 1"]);
  deepEqual(statesIn(slices), ["running", "preempted", "throttled", "unknown"]);
});

test("what the page leaves out of threads' states is said", () => {
  equal(statesMissing(timeline([])).includes("was not recorded"), true);
  const scheduler = { recorded: true, left_out: 1, left_out_longest_ns: 2000 };
  ok(statesMissing(timeline([], { scheduler })).includes("1 thread state of at most 2.00 µs"));
  equal(statesMissing(timeline([], { scheduler: { ...scheduler, left_out: 0 } })), "");
});

test("rows stand below each other, a thin one close to the row that it is about", () => {
  const rows = [false, true, false, false, true].map((thin) => ({ title: "", slices: [], thin }));
  const places = placesOf(rows);
  places.forEach((p, i) => {
    const before = places[i - 1];
    const gap = before ? p.top - before.top - before.height : p.top - GEOMETRY.axis;
    equal(gap, i === 0 ? 0 : rows[i]!.thin ? 1 : GEOMETRY.gap);
    equal(p.height, rows[i]!.thin ? GEOMETRY.thin : GEOMETRY.row);
  });
  const last = places[4]!;
  equal(heightOf(places), last.top + last.height + 2 * GEOMETRY.gap);
  equal(heightOf([]), GEOMETRY.axis + 2 * GEOMETRY.gap);
});

test("the first slice in a window is found as by looking at each", () => {
  const next = random(1);
  const slices: Slice[] = [];
  for (let start = 0; slices.length < 200; ) {
    const length = Math.floor(next() * 20);
    slices.push({ row: 0, start, length, label: "", kind: "op", op: "", facts: () => [] });
    start += length + Math.floor(next() * 5);
  }
  for (let from = -10; from < 3000; from++) {
    const found = slices.findIndex((s) => s.start + s.length >= from);
    equal(firstVisible(slices, from), found < 0 ? slices.length : found, `${from}`);
  }
});

test("ticks are at 1, 2 or 5 times a power of ten", () => {
  deepEqual(
    [100, 130, 300, 700, 1e6].map((s) => tickStep(s, 10)),
    [10, 20, 50, 100, 1e5],
  );
  const next = random(2);
  for (let i = 0; i < 200; i++) {
    const [width, n] = [10 ** (next() * 9), 2 + Math.floor(next() * 20)];
    const ticks = width / tickStep(width, n);
    ok(ticks <= n + 1e-9 && ticks > n / 2.6, `${ticks} for ${n}`);
  }
});

test("a slice has its label, what matters most of it, or what fits", () => {
  const slice: Slice = {
    row: 0,
    start: 0,
    length: 1,
    label: "preempted by stress",
    short: "stress",
    kind: "state",
    op: "",
    facts: () => [],
  };
  deepEqual(
    [40, 10, 5, 3].map((room) => textFor(slice, room)),
    ["preempted by stress", "stress", "stre…", ""],
  );
});
