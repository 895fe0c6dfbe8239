// The first screen: speeds, ladder, tokens, remedies, checks.

import { deepEqual, equal, ok } from "node:assert/strict";
import test from "node:test";
import type {
  Finding,
  Headline,
  Ladder,
  LadderStep,
  Summary,
  TokenBudget,
} from "../../src/data/schema.ts";
import { effect } from "../../src/first/actions.ts";
import {
  columnsOf,
  decodeTokens,
  heights,
  isShown,
  longest,
} from "../../src/first/decode_tokens.ts";
import { largestSteps } from "../../src/first/ladder.ts";
import { otherPrograms } from "../../src/first/programs.ts";
import { command, cpuMask, freeCpus } from "../../src/first/remedy.ts";
import {
  atMemoryRate,
  distribution,
  largestCause,
  mainLadders,
  rateText,
  tracingCost,
  withoutCauses,
} from "../../src/first/speeds.ts";
import { couldNotCheck, topic } from "../../src/first/verdicts.ts";
import { waterfall } from "../../src/first/waterfall.ts";

function step(kind: LadderStep["kind"], ns: number): LadderStep {
  return { kind, ns, label: kind, low_ns: ns, high_ns: ns, culprit: null, gain: null };
}

/** Two tokens of 50 ns: 20 of operators, 60 of two programs, 22 of interrupts, -2 unexplained. */
const LADDER = {
  question: "decode",
  pid: 7,
  units: 2,
  traced_units: 2,
  tokens: 2,
  measured_ns: 100,
  undisturbed_ns: 20,
  steps: [
    step("above_floor", 20),
    step("program", 40),
    step("program", 20),
    step("interrupts", 22),
    step("unexplained", -2),
  ],
  floor: {
    ns: 8,
    half_ns: 0,
    bytes: 400,
    bytes_per_s: 10e9,
    source: "recording",
    arithmetic_source: null,
    parts: [],
    groups: [],
  },
  all_causes: { low_ns: 60, likely_ns: 80, high_ns: 90 },
  start_up: null,
} satisfies Ladder;

test("speeds have no more digits than a repetition would confirm", () => {
  deepEqual([0.514, 1.917, 9.94, 35.85, 163.99].map(rateText), ["0.51", "1.9", "9.9", "36", "164"]);
});

test("the attainable speeds are those of the ladder", () => {
  // Two tokens in 20 ns, 10 to 40 ns.
  deepEqual(withoutCauses(LADDER), { likely: 1e8, low: 0.5e8, high: 2e8 });
  // 200 bytes per token at 10 GB/s.
  equal(atMemoryRate(LADDER), 5e7);
  equal(atMemoryRate({ ...LADDER, floor: { ...LADDER.floor, bytes_per_s: null } }), null);
  equal(atMemoryRate({ ...LADDER, floor: null }), null);
  const little = { low_ns: 0, likely_ns: 1, high_ns: 2 };
  equal(withoutCauses({ ...LADDER, all_causes: little }), null);
  equal(withoutCauses({ ...LADDER, all_causes: null }), null);
  equal(withoutCauses(undefined), null);
});

test("few tokens that take half of the time are named", () => {
  const of = (half_of_time: number, tokens: number): string | null =>
    distribution({ half_of_time, tokens } as Headline);
  equal(of(5, 63), "5 of 63 tokens took half of all the time.");
  equal(of(1, 63), "1 of 63 tokens took half of all the time.");
  equal(of(21, 63), null);
  equal(of(0, 0), null);
});

test("the cost of measuring is stated from 3 % on", () => {
  const of = (slowdown: object, probes_share = 0): string | null =>
    tracingCost({ slowdown, probes_share } as Headline);
  equal(
    of({ kind: "estimated", slowdown: 0.25 }, 0.2),
    "The probes take about 20 % of a token's time.",
  );
  equal(of({ kind: "measured", slowdown: 0.1122 }, 0.2), "Measuring slows decode by about 11 %.");
  equal(of({ kind: "measured", slowdown: 0.029 }), null);
  equal(of({ kind: "unknown" }), null);
});

test("the largest cause is the sum over its programs, from a fifth of the time on", () => {
  equal(largestCause(LADDER), "Other programs cost 60 % of a token's time.");
  equal(largestCause({ ...LADDER, steps: [step("interrupts", 19)] }), null);
  equal(
    largestCause({ ...LADDER, steps: [step("interrupts", 20)] }),
    "Interrupts cost 20 % of a token's time.",
  );
  const holders = [step("program", 15), step("unknown_holder", 6)];
  equal(largestCause({ ...LADDER, steps: holders }), "Other programs cost 21 % of a token's time.");
  equal(largestCause(undefined), null);
});

test("only ladders with units, of the first process", () => {
  const ladders = [LADDER, { ...LADDER, pid: 8 }, { ...LADDER, units: 0 }];
  deepEqual(mainLadders({ ladders } as unknown as Summary), [LADDER]);
  deepEqual(mainLadders({} as Summary), []);
});

test("the line of a folded ladder names the longest steps, with the program of a cause", () => {
  const culprit = { name: "opt x", program: "rustc", pid: 3, tid: 3 } as LadderStep["culprit"];
  const steps = [
    step("application", 30),
    step("small_causes", 1),
    { ...step("program", 50), culprit },
  ];
  equal(
    largestSteps({ steps: [...steps, step("idle", 15), step("loading", 4)], measured_ns: 100 }),
    "50 % rustc · 30 % sampling, application · 15 % asleep",
  );
});

test("each bar begins where the one before ends, also after a negative step", () => {
  const bars = waterfall(LADDER);
  // The sum of the steps before the negative one is 102.
  const places = bars.map(({ from, width }) => [from * 102, width * 102].map(Math.round));
  deepEqual(places, [
    [0, 20],
    [20, 40],
    [60, 20],
    [80, 22],
    [100, 2],
  ]);
  const first = waterfall({ measured_ns: 10, steps: [step("unexplained", -2), step("floor", 12)] });
  deepEqual(
    first.map(({ from, width }) => [from * 12, width * 12].map(Math.round)),
    [
      [0, 2],
      [0, 12],
    ],
  );
});

function token(call: number, start_ns: number, time_ns: number): TokenBudget {
  return { call, phase: "decode", traced: true, start_ns, time_ns, wall: [] };
}

test("decode tokens are those of the headline: of one process, with a call before", () => {
  const prefill = { ...token(0, 0, 90), phase: "prefill" as const };
  const tokens = [prefill, token(1, 10, 9), token(2, 19, 1), token(3, 20, 8), token(4, 28, 7)];
  const calls = [0, 1, 2, 3, 4].map((id) => ({ id, thread: id === 2 ? 21 : 11 }));
  const threads = [
    { tid: 11, pid: 11 },
    { tid: 21, pid: 20 },
  ];
  const summary = { budget: { tokens }, tokens: { calls }, threads } as unknown as Summary;
  const found = decodeTokens(summary);
  deepEqual(
    found.map((t) => t.call),
    [1, 3, 4],
  );
  equal(longest(found)?.call, 1);
  equal(longest([]), null);
  const late = { ...summary, budget: { tokens: tokens.slice(1) } } as unknown as Summary;
  deepEqual(
    decodeTokens(late).map((t) => t.call),
    [3, 4],
  );
  const timeline = { start_ns: 20, end_ns: 30 } as never;
  deepEqual(
    found.map((t) => isShown(t, timeline)),
    [false, true, false],
  );
  equal(isShown(found[1]!, null), false);
  // Between the parts nothing is shown.
  const parts = [
    { start_ns: 0, end_ns: 19, long_token: false },
    { start_ns: 28, end_ns: 35, long_token: true },
  ];
  deepEqual(
    found.map((t) => isShown(t, { start_ns: 0, end_ns: 35, parts } as never)),
    [true, false, true],
  );
  deepEqual(decodeTokens({} as Summary), []);
});

test("columns of tokens: linear, or logarithmic if one is far above the median", () => {
  deepEqual(heights([5, 10], 8), { values: [0.5, 1], log: false });
  const { values, log } = heights([10, 20, 1000], 20);
  ok(log);
  equal(values[2], 1);
  ok(values[0]! > 0 && values[0]! < values[1]! && values[1]! < 0.5, String(values));
  deepEqual(columnsOf([1, 5, 2, 3, 9], 3), [5, 3, 9]);
  deepEqual(columnsOf([1, 2], 3), [1, 2]);
});

test("threads of one process are one program; the engine and idle CPUs are none", () => {
  const task = (name: string, pid: number, time_ns: number, rest: object = {}): object => ({
    name,
    pid,
    time_ns,
    program: name,
    engine: false,
    idle: false,
    ...rest,
  });
  const interference = [
    task("opt x", 5, 7, { program: "rustc" }),
    task("llama", 1, 9, { engine: true }),
    task("swapper", 0, 9, { idle: true }),
    task("rustc", 5, 4),
    task("sh", 0, 2),
    task("sh", 0, 1),
  ];
  deepEqual(otherPrograms({ interference } as never), [
    { name: "rustc", pid: 5, time_ns: 11 },
    { name: "sh", pid: 0, time_ns: 3 },
  ]);
  deepEqual(otherPrograms(null), []);
});

function found(remedy: Finding["remedy"], cpus: number[] = []): Finding {
  return {
    remedy,
    evidence: [{ key: "cpus", unit: "cpus", value: cpus, place: "threads" }],
  } as unknown as Finding;
}

test("remedies have commands where there are some", () => {
  const move = found({
    kind: "move_tasks",
    tasks: [
      [40, "a"],
      [0, "gone"],
      [41, "b"],
    ],
  });
  equal(command(move, [2, 3], 2), "taskset -acp 2-3 40; taskset -acp 2-3 41");
  equal(command(move, [], 2), "kill -STOP 40 41");
  equal(command(found({ kind: "move_tasks", tasks: [] }), [], 2), null);
  equal(command(found({ kind: "threads", threads: 3 }), [], 2), "-t 3");
  equal(
    command(found({ kind: "pin", threads: 2, cpus: [4, 5, 6] }), [], 4),
    "taskset -c 4-6 … -t 2",
  );
  const pin = found({ kind: "pin_threads" }, [0, 1, 33]);
  equal(command(pin, [], 3), "-t 3 --cpu-mask 0x200000003 --cpu-strict 1");
  equal(command(pin, [], 4), null);
  equal(command(found({ kind: "cooling" }), [], 4), null);
  equal(cpuMask([]), "0x0");
});

test("free CPUs are those that no engine may use", () => {
  const summary = (affinity: (number[] | null)[]): Summary =>
    ({
      session: { cpus: 4 },
      conditions: { processes: affinity.map((a) => ({ affinity: a })) },
    }) as unknown as Summary;
  deepEqual(freeCpus(summary([[0, 1], [1]])), [2, 3]);
  deepEqual(freeCpus(summary([[0], null])), []);
  deepEqual(freeCpus(summary([])), []);
});

test("the effect of a remedy is a speed, or the time that it saves", () => {
  const gain = {
    of: "token" as const,
    shortens: "per token",
    low_ns: 50e6,
    likely_ns: 60e6,
    high_ns: 75e6,
    low_tokens_per_s: 20,
    likely_tokens_per_s: 25,
    high_tokens_per_s: 40,
  };
  deepEqual(effect(gain, 10), ["10 → ~25 t/s", "20 to 40 t/s"]);
  deepEqual(effect({ ...gain, high_tokens_per_s: null }, 10), ["10 → ~25 t/s", "20 t/s or more"]);
  const speeds = { low_tokens_per_s: null, likely_tokens_per_s: null, high_tokens_per_s: null };
  deepEqual(effect({ ...gain, ...speeds, of: "request", shortens: "until the first token" }, 10), [
    "saves ~60.0 ms",
    "50.0 ms to 75.0 ms, until the first token",
  ]);
  deepEqual(effect(null, 10), ["gain not known", ""]);
});

test("checks without data are grouped by what they lack", () => {
  const row = (topic: string, kind: string, name?: string | number, why?: string): never =>
    ({ code: "a_code", topic, missing: [{ kind, name, why }] }) as never;
  deepEqual(
    couldNotCheck([
      row("memory bandwidth", "ceiling", "read"),
      row("clock limits", "fact", "cpu.frequency.max"),
      row("arithmetic", "ceiling", "int8", "not_measured"),
      row("temperature", "calls", 24),
      row("", "time_travel"),
      row("memory bandwidth", "ceiling", "read", "unstable"),
    ]),
    [
      "memory bandwidth, arithmetic (needs --bench)",
      "clock limits (not readable here)",
      "temperature (needs 24 generated tokens)",
      "a code (data missing)",
      "memory bandwidth (no usable measured peak)",
    ],
  );
  equal(topic({ code: "later_rule" } as never), "later rule");
});
