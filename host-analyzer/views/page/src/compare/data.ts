// compare.json, see docs/output-schema.md. Every field may be absent.

import type { Maybe, Num } from "../data/maybe.ts";

export interface Verdict {
  code?: Maybe<string>;
  sentence?: Maybe<string>;
  shift_share?: Num;
  low_share?: Num;
  high_share?: Num;
  practical_share?: Num;
}

export interface GateItem {
  title?: Maybe<string>;
  kind?: Maybe<string>;
  found?: Maybe<string>;
  other_work?: Maybe<boolean>;
  sentence?: Maybe<string>;
}

export interface Run {
  name?: Maybe<string>;
  tokens?: Num;
  mean_ns?: Num;
  median_ns?: Num;
  half_share?: Num;
}

export interface Side {
  name?: Maybe<string>;
  mean_ns?: Num;
  tokens_per_s?: Num;
  runs?: Maybe<Run[]>;
}

export interface Row {
  level?: Maybe<string>;
  class?: Maybe<string>;
  op?: Maybe<string>;
  tensor?: Maybe<string>;
  title?: Maybe<string>;
  a_ns?: Num;
  b_ns?: Num;
  change_ns?: Num;
  change_share?: Num;
  p?: Num;
  stands?: Maybe<boolean>;
}

export interface Comparison {
  schema?: Num;
  verdict?: Maybe<Verdict>;
  power?: Maybe<{ sentence?: Maybe<string> }>;
  gate?: Maybe<GateItem[]>;
  selection?: Maybe<{ sentence?: Maybe<string> }>;
  sides?: Maybe<Side[]>;
  notes?: Maybe<{ code?: Maybe<string>; sentence?: Maybe<string> }[]>;
  change?: Maybe<{ a_ns?: Num; b_ns?: Num; change_ns?: Num }>;
  rows?: Maybe<Row[]>;
}
