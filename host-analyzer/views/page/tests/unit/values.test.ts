// Formatting, chart data, and reading the data of the page.

import { deepEqual, equal, ok } from "node:assert/strict";
import test from "node:test";
import { change, changeTime } from "../../src/compare/change.ts";
import { hasTokenLevel } from "../../src/data/levels.ts";
import { list, readJson } from "../../src/data/read.ts";
import type { Call, Engine, Summary, Weights } from "../../src/data/schema.ts";
import { linesOf, maxDensity } from "../../src/experts/cells.ts";
import { apart, columns, medianOf, needsLog } from "../../src/sections/token_times.ts";
import { contextColumn } from "../../src/ui/contexts.ts";
import * as format from "../../src/ui/format.ts";
import { usedByOthers } from "../../src/sections/conditions.ts";
import { cpuBackend, place, weightLine } from "../../src/ui/place.ts";
import { cpuRanges, quantity } from "../../src/ui/quantity.ts";
import { random } from "./graphs.ts";

test("times and sizes have three digits and a unit", () => {
  const times = [0, 999, 1e3, 9_990, 99_900, 999_499, 999_500, 1.5e9, 119.9e9, 120e9, 3725e9];
  deepEqual(times.map(format.time), [
    "0 ns",
    "999 ns",
    "1.00 µs",
    "9.99 µs",
    "99.9 µs",
    "999 µs",
    "1.00 ms",
    "1.50 s",
    "120 s",
    "2 min 0 s",
    "62 min 5 s",
  ]);
  equal(format.time(-2e6), "-2.00 ms");
  deepEqual([0, 1023, 1024, 5 * 2 ** 20, 2 ** 42].map(format.bytes), [
    "0 B",
    "1023 B",
    "1.00 KiB",
    "5.00 MiB",
    "4.00 TiB",
  ]);
  deepEqual([null, undefined].map(format.time), ["–", "–"]);
});

test("counts, shares, dimensions and names", () => {
  deepEqual([7, 1234, 1234567].map(format.count), ["7", "1\u202f234", "1\u202f234\u202f567"]);
  deepEqual([0, 0.0001, 0.5, 1].map(format.percent), ["0.0 %", "<0.1 %", "50.0 %", "100.0 %"]);
  deepEqual([[64, 2, 1, 1], [1, 1], [], null].map(format.dims), ["64×2", "1", "–", "–"]);
  deepEqual(
    [format.plural(1, "box", "boxes"), format.plural(2, "box", "boxes")],
    ["1 box", "2 boxes"],
  );
  equal(format.shorten("blk.12.attn_q.weight", 12), "blk.12.a…ght");
  equal(format.shorten("blk.12.attn_q.weight", 12).length, 12);
  equal(format.shorten("norm", 12), "norm");
  deepEqual(["warm_up", "batch_decode", null].map(format.phaseName), [
    "warm-up",
    "batch decode",
    "unknown",
  ]);
});

test("quantities of gauges and CPUs as ranges", () => {
  equal(quantity(1.8e9, "hertz"), "1.80 GHz");
  equal(quantity(2048, "bytes_per_s"), "2.00 KiB/s");
  equal(quantity(2000, "bytes_per_s", false), "2.00 kB/s");
  equal(quantity(45_250, "millidegrees"), "45.3 °C");
  deepEqual([[3, 0, 1, 2, 6], [5], []].map(cpuRanges), ["0-3,6", "5", "–"]);
});

test("changes have a sign, and none where nothing changed", () => {
  deepEqual([0.0314, -0.25, 0.0001, -0.0001, null].map(change), [
    "+3.1 %",
    "-25 %",
    "0.0 %",
    "0.0 %",
    "–",
  ]);
  deepEqual([2e6, -2e6, null].map(changeTime), ["+2.00 ms", "-2.00 ms", "–"]);
});

function call(rest: Partial<Call>): Call {
  return { phase: "decode", context: "a", duration_ns: 10, status: 0, ...rest } as Call;
}

test("a token's time is from the end of the call before it in its own context", () => {
  const calls = [
    call({ phase: "prefill", start_ns: 0, duration_ns: 50 }),
    call({ start_ns: 60 }),
    call({ start_ns: 65, context: "b" }),
    // Failed: neither a token nor the end of a token.
    call({ start_ns: 75, status: 1 }),
    call({ start_ns: 100, graph_ns: 8, op_wall_ns: 7 }),
  ];
  deepEqual(columns(calls), [
    [1, 2, 3],
    [20, null, 40],
    [10, 10, 10],
    [null, null, 8],
    [null, null, 7],
  ]);
});

test("a few long tokens do not flatten the others", () => {
  const times = [...new Array<number>(99).fill(10), 5000];
  equal(needsLog([[], times, [], [], []]), true);
  equal(medianOf([[], [null, ...times], [], [], []]), 10);
  equal(needsLog([[], [10, 12, 14], [9, null, 13], [], []]), false);
  equal(needsLog([[], [null], [9], [], []]), false);
});

test("names at lines are apart, in the order of their lines, and inside", () => {
  deepEqual(apart([50, 10, 90], 14, 0, 100), [50, 10, 90]);
  const next = random(3);
  for (let i = 0; i < 200; i++) {
    const wanted = Array.from({ length: 4 }, () => next() * 100);
    const at = apart(wanted, 14, 0, 100);
    const order = wanted.map((_, k) => k).sort((a, b) => wanted[a]! - wanted[b]!);
    order.forEach((k, n) => {
      const before = order[n - 1];
      ok(at[k]! >= 0 && at[k]! <= 100);
      ok(before === undefined || at[k]! - at[before]! >= 14 - 1e-9, `${wanted} at ${at}`);
    });
  }
});

test("experts by number or by use, with the part of the tokens", () => {
  const routing = {
    layers: [{ layer: 3, name: null, tokens: 10, expert_uses: [2, 5, 5] }],
  } as never;
  const [line] = linesOf(routing, "use");
  deepEqual(
    line!.cells.map((c) => [c.expert, c.density]),
    [
      [1, 0.5],
      [2, 0.5],
      [0, 0.2],
    ],
  );
  deepEqual(
    linesOf(routing, "number")[0]!.cells.map((c) => c.expert),
    [0, 1, 2],
  );
  equal(maxDensity(linesOf(routing, "number")), 0.5);
  deepEqual(linesOf(undefined, "use"), []);
});

async function gzip(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}

/** Result of reading an element with this text. */
function read(text: string | null): Promise<unknown> {
  const element = text === null ? null : { textContent: text };
  Object.assign(globalThis, { document: { getElementById: () => element } });
  return readJson("summary");
}

test("the data is inflated, and nothing in it turns the text around it", async () => {
  const value = { name: "a</script>\u202eb", n: [1, null], é: "\u{e0041}" };
  deepEqual(await read(await gzip(JSON.stringify(value))), {
    ...value,
    name: "a</script>\ufffdb",
    é: "\ufffd",
  });
});

test("data that is absent or damaged is none", async () => {
  const whole = await gzip('{"a": [1, 2, 3]}');
  const damaged = [
    null,
    "",
    "%",
    "AAAA",
    whole.slice(0, -8),
    await gzip('{"a": '),
    whole.replace(/.{4}$/, "AAA="),
  ];
  for (const text of damaged) {
    equal(await read(text), null, String(text));
  }
});

/** A partial summary; the functions under test read nothing else. */
function summary(rest: object): Summary {
  return rest as Summary;
}

test("a list that is null or missing is empty", () => {
  deepEqual([list(null), list(undefined), list([1])], [[], [], [1]]);
});

test("a session has a token level unless its probes could not be attached", () => {
  const probe = (attached: boolean): object => ({
    session: { probes: [{ level: "token", attached }] },
  });
  ok(hasTokenLevel(summary({})));
  ok(hasTokenLevel(summary(probe(true))));
  ok(!hasTokenLevel(summary(probe(false))));
  ok(hasTokenLevel(summary({ ...probe(false), tokens: { calls: [{}] } })));
});

test("CPU time of other programs is in CPUs, and names those that matter", () => {
  const programs = [
    { program: "python3", busy_ns: 1.9e9 },
    { program: "cc1", busy_ns: 40e6 },
    { program: "cron", busy_ns: 10e6 },
  ];
  const session = { duration_ns: 2e9, cpus: 4 };
  const of = (other_programs: object | null): string | null =>
    usedByOthers(summary({ session, sched: { other_programs } }));
  equal(of({ busy_ns: 2e9, programs }), "1.00 of 4 CPUs: python3 0.95, cc1 0.02");
  equal(of({ busy_ns: 0, programs: [] }), "0.00 of 4 CPUs");
  equal(of(null), null);
});

test("weights and CPU backends are described on one line", () => {
  equal(place("file", "CPU_Mapped", "/models/a.gguf"), "mapped from a.gguf (CPU_Mapped)");
  equal(place("device", null), "in device memory");
  equal(place(null, "CPU"), null);
  const buffer = (memory: string, bytes: number): object => ({ memory, bytes, buffer: null });
  const line = (buffers: object[]): string =>
    weightLine({ bytes: 3072, buffers } as unknown as Weights);
  equal(line([buffer("device", 3072)]), "3.00 KiB in device memory");
  equal(
    line([buffer("device", 2048), buffer("anonymous", 1024)]),
    "3.00 KiB: 2.00 KiB in device memory, 1.00 KiB in anonymous memory",
  );
  ok(line([]).startsWith("3.00 KiB, "));
  const backend = (rest: object): string | null => cpuBackend(rest as Engine);
  const file = "/lib/libggml-cpu.so";
  equal(
    backend({ cpu_backend: "variant", cpu_variant: "zen4", cpu_library: file }),
    "variant zen4 (libggml-cpu.so)",
  );
  equal(backend({ cpu_backend: "built_in", cpu_library: file }), "built into libggml-cpu.so");
  equal(backend({ cpu_backend: null }), null);
});

test("contexts are numbered in order of appearance, and one alone has no column", () => {
  const row = (context: string, pid: number): { context: string; pid: number } => ({
    context,
    pid,
  });
  deepEqual(contextColumn([row("0x1", 1), row("0x1", 1)]), []);
  const rows = [row("0x2", 1), row("0x1", 1), row("0x2", 2), row("0x2", 1)];
  const [column] = contextColumn(rows);
  deepEqual(
    rows.map((r) => column!.value(r)),
    [1, 2, 3, 1],
  );
});
