// Findings, as summary.json has them.

import type { Slowdown } from "./capture.ts";
import type { Maybe, Num, Str } from "./maybe.ts";

export interface Evidence {
  key: Str;
  unit: Str;
  /** In the unit: a number, a name, or a list of CPUs. */
  value: unknown;
  place: Str;
}

export interface Gain {
  of: Str;
  low_ns: Num;
  high_ns: Num;
  low_tokens_per_s: Num;
  high_tokens_per_s: Num;
}

export interface Finding {
  code: Str;
  title: Str;
  sentence: Str;
  gain: Maybe<Gain>;
  confidence: Str;
  evidence: Maybe<Evidence[]>;
}

export interface RuledOut {
  code: Str;
  sentence: Str;
  evidence?: Maybe<Evidence[]>;
  /** Of what could not be told: what that would need. */
  missing?: Maybe<{ kind: Str }[]>;
}

/** The decode tokens of the process that decodes most, without the first, sampling included. */
export interface Headline {
  tokens: Num;
  token_ns: Num;
  tokens_per_s: Num;
  median_ns: Num;
  p95_ns: Num;
  mbu: Num;
  probes_share: Num;
  slowdown?: Maybe<Slowdown>;
}

export interface Findings {
  headline: Maybe<Headline>;
  sentence: Str;
  found: Maybe<Finding[]>;
  ruled_out: Maybe<RuledOut[]>;
  noisy: Maybe<RuledOut[]>;
  not_known: Maybe<RuledOut[]>;
}
