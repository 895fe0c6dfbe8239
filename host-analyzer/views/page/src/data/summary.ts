// Types of summary.json; docs/output-schema.md is the reference. Any field may be null or missing:
// readers go through the optional types below, and a missing value is shown as a dash, never as
// zero.

import type { Budget } from "./budget.ts";
import type { Capture, Estimate } from "./capture.ts";
import type { Ceiling } from "./ceiling.ts";
import type { Conditions } from "./conditions.ts";
import type { Kv, Speculative } from "./context.ts";
import type { Findings } from "./findings.ts";
import type { Maybe, Num, Str } from "./maybe.ts";
import type { Sched } from "./sched.ts";

export interface Process {
  pid: Num;
  name: Str;
  command: Str;
  engine_version: Str;
}

export interface Library {
  pid: Num;
  path: Str;
  build_id: Str;
  role: Str;
}

export interface Probe {
  pid: Num;
  level: Str;
  what: Str;
  symbol: Str;
  library: Str;
  offset: Num;
  attached: Maybe<boolean>;
  note: Str;
}

export interface Session {
  agent: Str;
  kernel: Str;
  machine: Str;
  cpu_model: Str;
  board: Str;
  cpus: Num;
  levels: Maybe<string[]>;
  start_unix_ns: Num;
  duration_ns: Num;
  processes: Maybe<Process[]>;
  libraries: Maybe<Library[]>;
  probes: Maybe<Probe[]>;
}

/** The engine in one process. */
export interface Engine {
  pid: Num;
  name: Str;
  version: Str;
  cpu_backend: Str;
  cpu_variant: Str;
  cpu_library: Str;
}

/** Weights of one context in buffers of one type. */
export interface WeightBuffer {
  buffer: Str;
  memory: Str;
  path: Str;
  tensors: Num;
  bytes: Num;
}

/** Where the weights of one context lie. */
export interface Weights {
  pid: Num;
  context: Str;
  tensors: Num;
  bytes: Num;
  mapped_bytes: Num;
  own_bytes: Num;
  device_bytes: Num;
  unknown_bytes: Num;
  buffers: Maybe<WeightBuffer[]>;
}

export interface Damage {
  kind: Str;
  count: Num;
  bytes: Num;
  first_offset: Num;
}

/** How the session ended; `sentence` is null where that is as it should be. */
export interface Ending {
  code: Str;
  state: Maybe<"good" | "nothing" | "bad">;
  traced: Maybe<boolean>;
  output: Maybe<string[]>;
  sentence: Str;
}

export interface Health {
  perfect: Maybe<boolean>;
  lines: Maybe<string[]>;
  dropped: Maybe<Record<string, Num>>;
  damaged: Maybe<Damage[]>;
  cut_short: Maybe<boolean>;
  end_reason: Str;
  refused: Str;
  spans: Maybe<Record<string, Num>>;
}

export interface PhaseTotals {
  calls: Num;
  tokens: Num;
  time_ns: Num;
  tokens_per_s: Num;
  median_ns?: Num;
  p95_ns?: Num;
  told_by_tokens?: Num;
}

export interface Request {
  index: Num;
  context: Str;
  first_call: Num;
  prompt_tokens: Num;
  ttft_ns: Num;
  generated: Num;
  tpot_ns: Num;
  decode_tokens_per_s: Num;
}

export interface Call {
  id: Num;
  phase: Str;
  function: Str;
  context: Str;
  thread: Num;
  start_ns: Num;
  duration_ns: Num;
  n_tokens: Num;
  graph_ns: Num;
  op_wall_ns: Num;
  status: Num;
}

export interface GraphRow {
  layer: Str;
  backend: Str;
  calls: Num;
  topologies: Num;
  min_nodes: Num;
  max_nodes: Num;
  time_ns: Num;
}

export interface OpType {
  phase: Str;
  backend: Str;
  /** Times are those of handing operators over to the backend. */
  host_side?: Maybe<boolean>;
  op: Str;
  desc: Str;
  executions: Num;
  wall_ns: Num;
  median_ns?: Num;
  /** Its probe puts more than a tenth of the median into its time. */
  biased?: Maybe<boolean>;
  work_ns: Num;
  wait_ns: Num;
  share: Num;
  /** Where a part of the tokens was traced. */
  estimate?: Maybe<{ share: Maybe<Estimate>; wall_per_call: Maybe<Estimate> }>;
  work?: Maybe<Done>;
}

/** Work of several executions, and what it comes to a second. */
export interface Done {
  read_bytes: Num;
  weight_bytes: Num;
  cache_bytes: Num;
  written_bytes: Num;
  operations: Num;
  /** `counted`, `at_most` or `estimated`. */
  accuracy: Str;
  bytes_per_s: Num;
  operations_per_s: Num;
  intensity: Num;
}

/** What bounds an operator. */
export interface Bound {
  by: Str;
  confidence: Str;
  evidence: Maybe<{ kind: Str; value: Num; against: Num; share: Num }[]>;
}

/** A ceiling of the board. */
export interface Top {
  per_s: number;
  same_cpus: boolean;
  /** Of reading memory, the bytes that the rate is of. */
  working_set_bytes?: Num;
  /** A call reads more than was measured. */
  beyond?: Maybe<boolean>;
}

/** What a phase ran on, and what that can do at best. */
export interface Roof {
  phase: Str;
  threads: Num;
  cpus: Maybe<number[]>;
  reads_bytes?: Num;
  read: Maybe<Top>;
  int8: Maybe<Top>;
  f32: Maybe<Top>;
  f16: Maybe<Top>;
}

/** Sums over a module or a layer in one phase. */
export interface PartSum {
  phase: Str;
  module?: Str;
  layer: Num;
  executions: Num;
  wall_ns: Num;
  work_ns: Num;
  wait_ns: Num;
  read_bytes: Num;
  weight_bytes: Num;
  written_bytes: Num;
  operations: Num;
  accuracy: Str;
  share: Num;
}

export interface Work {
  decode: Maybe<{ tokens: Num; bytes_per_token: Num; accuracy: Str; bytes_per_s: Num; mbu: Num }>;
  roofs: Maybe<Roof[]>;
  modules: Maybe<PartSum[]>;
  layers: Maybe<PartSum[]>;
}

export interface Source {
  name: Str;
  dtype: Str;
  ne: Maybe<number[]>;
  role: Str;
}

export interface Operator extends OpType {
  name: Str;
  dtype: Str;
  ne: Maybe<number[]>;
  src: Maybe<Source[]>;
  median_ns: Num;
  p95_ns: Num;
  pid: Num;
  context: Str;
  nth: Num;
  module?: Str;
  layer?: Num;
  bound?: Maybe<Bound>;
  /** Last tensor that the same kernel computed too. */
  fused: Str;
}

/** Calls of one function of a backend inside operators of one type. */
export interface NestedCalls {
  phase: Str;
  op: Str;
  desc: Str;
  op_backend: Str;
  function: Str;
  backend: Str;
  calls: Num;
  time_ns: Num;
  wall_ns: Num;
  executions: Num;
  op_wall_ns: Num;
  share: Num;
}

/** An operator with types and dimensions. */
export interface Shape {
  op: Str;
  desc: Str;
  types: Maybe<string[]>;
  dtype: Str;
  src: Maybe<number[][]>;
  ne: Maybe<number[]>;
  product: Maybe<{ m: Num; n: Num; k: Num; batch: Num }>;
}

/**
 * What one backend took for operators of a shape: on the host, and on the device as its own profile
 * says.
 */
export interface OnBackend {
  backend: Str;
  executions: Num;
  host: Maybe<{ host_side: Maybe<boolean>; executions: Num; wall_ns: Num; work: Maybe<Done> }>;
  device: Maybe<{
    kernels: Num;
    device_ns: Num;
    work: Maybe<Done>;
    at_once: Maybe<boolean>;
    fused: Maybe<{ what: Str; kernels: Num; device_ns: Num }[]>;
  }>;
}

/** How far an accelerator's profile fits the recording. */
export interface ProfileJoin {
  name: Str;
  format: Str;
  backend: Str;
  kernels: Num;
  device_ns: Num;
  joined: Maybe<{ kernels: Num; device_ns: Num }>;
  grouped: Maybe<{ kernels: Num; device_ns: Num }>;
  unjoined: Maybe<{ kernels: Num; device_ns: Num }>;
  unjoined_kinds: Maybe<{ text: Str; why: Str; kernels: Num; device_ns: Num }[]>;
  operators: Maybe<
    { op: Str; executions: Num; kernels: Num; fused: Num; without: Num; beyond: Num }[]
  >;
}

export interface Backends {
  profiles: Maybe<ProfileJoin[]>;
  rows: Maybe<{ shapes: Maybe<Shape[]>; backends: Maybe<OnBackend[]> }[]>;
}

export interface Thread {
  tid: Num;
  pid: Num;
  name: Str;
  spans: Num;
  migrated: Num;
  work_ns: Num;
  wait_ns: Num;
  prefill_work_ns: Num;
  prefill_wait_ns: Num;
  decode_work_ns: Num;
  decode_wait_ns: Num;
  batch_decode_work_ns?: Num;
  batch_decode_wait_ns?: Num;
}

export interface Counted {
  phase: Str;
  op: Str;
  desc: Str;
  pmu: Str;
  spans: Num;
  work_ns: Num;
  switches: Num;
  values: Maybe<{ name: Str; sum: Num; spans: Num; work_ns: Num }[]>;
}

export interface GaugeFigures {
  min: Num;
  mean: Num;
  max: Num;
  covered_ns: Num;
}

export interface Gauge {
  name: Str;
  kind: Str;
  unit: Str;
  source: Str;
  period_ns: Num;
  attached: Maybe<boolean>;
  note: Str;
  samples: Num;
  absent: Num;
  whole: Maybe<GaugeFigures>;
  decode: Maybe<GaugeFigures>;
  decode_bytes_per_token: Num;
  decode_tokens: Num;
}

export interface Reuse {
  uses: Num;
  again: Num;
  share: Num;
  even_share: Num;
  known: Num;
  median_tokens: Num;
  p90_tokens: Num;
  never: Num;
  unknown: Num;
}

export interface Pin {
  rule: Str;
  experts: Num;
  bytes: Num;
  hits: Num;
  share: Num;
  ahead_share: Num;
  even_share: Num;
}

export interface ExpertFigures {
  batches: Num;
  tokens: Num;
  left_out: Num;
  all_used: Num;
  uses: Num;
  n_expert: Num;
  never_used: Num;
  distinct_per_batch: Num;
  bytes_per_batch: Num;
  balance: Num;
  reuse: Maybe<Reuse>;
  pins: Maybe<Pin[]>;
}

export interface RoutedLayer extends ExpertFigures {
  layer: Num;
  name: Str;
  weights: Str;
  n_used: Num;
  expert_bytes: Num;
  expert_uses: Maybe<number[]>;
}

export interface Routing {
  phase: Str;
  pid: Num;
  context: Str;
  sentence: Str;
  whole: Maybe<ExpertFigures>;
  layers: Maybe<RoutedLayer[]>;
}

export interface Summary {
  kv?: Maybe<Kv[]>;
  speculative?: Maybe<Speculative[]>;
  findings?: Maybe<Findings>;
  budget?: Maybe<Budget>;
  schema: Num;
  session: Maybe<Session>;
  ending?: Maybe<Ending>;
  health: Maybe<Health>;
  capture?: Maybe<Capture>;
  engines?: Maybe<Engine[]>;
  weights?: Maybe<Weights[]>;
  tokens: Maybe<{
    prefill: Maybe<PhaseTotals>;
    decode: Maybe<PhaseTotals>;
    batch_decode?: Maybe<PhaseTotals>;
    draft?: Maybe<PhaseTotals>;
    warm_up?: Maybe<PhaseTotals>;
    failed_calls: Num;
    requests: Maybe<Request[]>;
    calls: Maybe<Call[]>;
  }>;
  graphs: Maybe<GraphRow[]>;
  op_types: Maybe<OpType[]>;
  operators: Maybe<Operator[]>;
  work?: Maybe<Work>;
  backends: Maybe<Backends>;
  nested_calls: Maybe<NestedCalls[]>;
  experts: Maybe<Routing[]>;
  threads: Maybe<Thread[]>;
  counters: Maybe<Counted[]>;
  gauges: Maybe<Gauge[]>;
  sched?: Maybe<Sched>;
  conditions?: Maybe<Conditions>;
  ceilings?: Maybe<Ceiling[]>;
  cost: Maybe<Record<string, Num>>;
}
