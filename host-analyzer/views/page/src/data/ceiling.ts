// What the board can do at best, as summary.json has it.

import type { Maybe, Num, Str } from "./maybe.ts";

/** A reading curve's point. */
export interface CurvePoint {
  working_set_bytes: Num;
  repeats: Num;
  median: Num;
  min: Num;
  max: Num;
  doubts: Maybe<string[]>;
}

export interface Ceiling {
  /** `read`, `copy`, `int8`, `f32`, `f16`, `barrier` or `wake-up`. */
  kind: Str;
  /** `bytes_per_s`, `ops_per_s` or `ns`. */
  unit: Str;
  core: Str;
  threads: Num;
  cpus: Maybe<number[]>;
  how: Str;
  repeats: Num;
  median: Num;
  min: Num;
  max: Num;
  note: Str;
  /** Of the figures above; null for what reads no memory. */
  working_set_bytes?: Num;
  doubts?: Maybe<string[]>;
  /** `cache`, `memory`, `time` or `open`: why the curve has no larger working set. */
  end?: Str;
  points?: Maybe<CurvePoint[]>;
}
