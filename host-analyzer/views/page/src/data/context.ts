// What grows with the context, and speculative decoding, as summary.json has them.

import type { Maybe, Num, Str } from "./maybe.ts";

export interface Growth {
  ns_per_1000_cells: Num;
  low_ns: Num;
  high_ns: Num;
  grows: Maybe<boolean>;
  median_ns: Num;
  share: Num;
}

export interface GrowingOperators extends Growth {
  name: Str;
  op: Str;
  desc: Str;
}

export interface Kv {
  context: Str;
  steps: Maybe<{ cells: Num; tokens: Num; median_ns: Num }[]>;
  limit_cells: Num;
  token: Maybe<Growth>;
  at_limit: Maybe<{ token_ns: Num; low_ns: Num; high_ns: Num }>;
  names: Maybe<GrowingOperators[]>;
}

export interface Speculative {
  rounds: Num;
  drafted: Num;
  accepted: Num;
  accepted_share: Num;
  emitted_per_round: Num;
  break_even_per_round: Num;
  wins: Maybe<boolean>;
  plain?: Maybe<{ by: Str }>;
  tokens_per_s: Num;
  plain_tokens_per_s: Num;
  positions: Maybe<{ position: Num; drafted: Num; accepted: Num; accepted_share: Num }[]>;
  verified: Maybe<{ drafted: Num; rounds: Num; median_ns: Num; verify_ratio: Num }[]>;
}
