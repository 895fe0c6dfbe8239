// What of the operators was captured, as summary.json has it.

import type { Maybe, Num, Str } from "./maybe.ts";

export interface Coverage {
  phase: Str;
  calls: Num;
  traced: Num;
  untraced: Num;
  edge: Num;
  bursts: Num;
}

export interface Filter {
  on: Str;
  text: Str;
  place: Str;
  refused: Str;
}

export interface Capture {
  duty_share: Num;
  /** `both`, or `none`: then a time goes on to the next start. */
  ends: Str;
  filters: Maybe<Filter[]>;
  coverage: Maybe<Coverage[]>;
}

/** A figure from a part of the tokens. */
export interface Estimate {
  value: Num;
  interval: Maybe<{ low: Num; high: Num }>;
}

/** What capturing operators adds to a decode call; 0.01 is 1 %. */
export interface Slowdown {
  kind: Str;
  slowdown?: Num;
  low?: Num;
  high?: Num;
  of_all_tokens?: Num;
  bursts?: Num;
  traced?: Num;
  untraced?: Num;
  edges?: Maybe<{ slowdown: Num; low: Num; high: Num; extra_ns: Num; tokens: Num }>;
}
