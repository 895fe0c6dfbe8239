// The budget, as summary.json has it: every list of times has a column for each class.

import type { Maybe, Num, Str } from "./maybe.ts";

export interface ThreadBudget {
  tid: Num;
  calls_tokens: Maybe<boolean>;
  time_ns: Num;
  parts: Maybe<number[]>;
}

export interface PhaseBudget {
  phase: Str;
  calls: Num;
  /** More where a part of them was traced. */
  all_calls?: Num;
  time_ns: Num;
  wall: Maybe<number[]>;
  threads: Maybe<ThreadBudget[]>;
}

export interface TokenBudget {
  call: Num;
  phase: Str;
  time_ns: Num;
  wall: Maybe<number[]>;
}

export interface Budget {
  scheduler: Maybe<boolean>;
  classes: Maybe<string[]>;
  names: Maybe<string[]>;
  phases: Maybe<PhaseBudget[]>;
  tokens: Maybe<TokenBudget[]>;
}
