// Where a ceiling comes from, and why there is none.

import { equal, ok } from "node:assert/strict";
import test from "node:test";
import { noReadText, pollutedText, sourceText } from "../../src/ui/source.ts";

test("a kept ceiling has its day, and a source of a newer version its name", () => {
  ok(/^measured on 2025-11-2[567]/.test(sourceText("kept", 1_764_150_000_000_000_000)));
  equal(sourceText("kept", null), "measured here before");
  equal(sourceText("recording", null), "this session");
  equal(sourceText("from_the_moon" as "kept", null), "from_the_moon");
  equal(sourceText(null, null), "");
});

test("a neighbour is named only where it matters", () => {
  const load = { wall_ns: 100, others_ns: 150, pid: 7, name: "make", pid_ns: 90 };
  const text = pollutedText({ polluted: true, load });
  ok(/^others used 1.5 CPUs .*, most by make \(7\)/.test(text), text);
  ok(!/most by/.test(pollutedText({ polluted: true, load: { ...load, pid: 0 } })));
  equal(pollutedText({ polluted: false, load }), "");
  equal(pollutedText({ polluted: null, load: null }), "");
});

test("only a ceiling that was not measured asks for --bench", () => {
  ok(/--bench/.test(noReadText("not_measured", "2 threads")));
  for (const why of ["other_threads", "unstable", "engine_ran", "noted", "unknown"]) {
    const text = noReadText(why, "2 threads");
    ok(!/--bench/.test(text) && /for 2 threads/.test(text), text);
  }
});
