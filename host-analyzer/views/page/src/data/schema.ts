// Generated from profinfer-schema (host-analyzer/schema): PROFINFER_BLESS=1 cargo test -p
// profinfer-schema. docs/output-keys.md has the meaning of each field.

/** Spans without hardware counters, by reason. */
export interface AbsentCounts {
  unread: number;
  mixed: number;
  multiplexed: number;
  torn: number;
}

/** A fact that could not be read. */
export interface AbsentFact {
  pid: number | null;
  tid: number | null;
  cpu: number | null;
  name: string;
  why: string;
}

/** Comparison of backends by operator shape (docs/accelerators.md). */
export interface Accelerators {
  profiles: ProfileJoin[];
  rows: ShapeRow[];
}

/** Accuracy of bytes and operations. */
export type Accuracy = "counted" | "at_most" | "estimated" | "at_least";

/** `backends.json`. */
export interface Backends {
  schema: number;
  draft: boolean;
  recordings: BackendsRecording[];
  rows: SeveralRow[];
}

/** A recording. */
export interface BackendsRecording {
  name: string;
  profiles: ProfileJoin[];
}

/** Executions and kernels of one operator of a backend. */
export interface Balance {
  op: string;
  executions: number;
  kernels: number;
  fused: number;
  without: number;
  beyond: number;
}

/** Calls with one number of sequences in the batch. */
export interface Batches {
  sequences: number;
  calls: number;
  mixed_calls: number;
  time_ns: number;
  prompt_tokens: number;
  answer_tokens: number;
}

/** How the beginning of a request was recognized. */
export type Begin = "prompt" | "back" | "copied" | "unseen";

/** What limits the speed of an operator. */
export interface Bound {
  by: BoundBy;
  confidence: Confidence;
  evidence: BoundEvidence[];
}

/** The resource that limits an operator. */
export type BoundBy =
  | "memory"
  | "compute"
  | "synchronisation"
  | "interference"
  | "io"
  | "dispatch"
  | "unknown";

/** A number and its reference value. */
export interface BoundEvidence {
  kind: BoundEvidenceKind;
  value: number | null;
  against: number | null;
  share: number | null;
}

/** Quantity of a piece of evidence. */
export type BoundEvidenceKind =
  | "bandwidth"
  | "arithmetic"
  | "intensity"
  | "waited"
  | "backend_stalls"
  | "refills"
  | "ipc"
  | "major_faults"
  | "disturbed"
  | "tiny";

/** Operators off the path with the same name except for the layer number. */
export interface Branch {
  name: string;
  op: string;
  nodes: number;
  time_ns: number;
  parallel_to: string | null;
}

/** Where every nanosecond of every token went. */
export interface Budget {
  names: string[];
  scheduler: boolean;
  classes: string[];
  phases: PhaseBudget[];
  tokens: TokenBudget[];
}

/** Work of one operator type along the last arrivers. */
export interface BudgetWork {
  op: string;
  desc: string;
  ns: number;
}

/** One call of `llama_decode`, `llama_process` or `llama_encode`; of a program without a token level, one outermost graph (function `graph`). */
export interface Call {
  id: number;
  phase: Phase;
  phase_by: PhaseBy;
  function: string;
  context: string | null;
  thread: number;
  start_ns: number;
  duration_ns: number;
  n_tokens: number | null;
  logits: number | null;
  n_past: number | null;
  n_kv: number | null;
  graph_ns: number | null;
  op_wall_ns: number | null;
  traced: Traced;
  status: number;
}

/** Which operators were captured, and in which calls. */
export interface Capture {
  duty_share: number;
  ends: string;
  keep_above_per_s: number | null;
  max_slowdown: number | null;
  refused: RefusedOption[];
  filters: Filter[];
  spans_filtered: number;
  spans_gated: number;
  coverage: Coverage[];
  switches: Switch[];
  steps: DutyStep[];
}

/** A measured limit of the board. */
export interface Ceiling {
  kind: CeilingKind;
  unit: string;
  core: string | null;
  threads: number;
  cpus: number[];
  how: string;
  repeats: number;
  median: number | null;
  min: number | null;
  max: number | null;
  note: string;
  working_set_bytes: number | null;
  doubts: Doubt[];
  end: CurveEnd | null;
  points: CurvePoint[];
  source: CeilingSource | null;
  kept_unix_ns: number | null;
  polluted: boolean | null;
  load: CeilingLoad | null;
}

/** Measured quantity. */
export type CeilingKind = "read" | "copy" | "int8" | "f32" | "f16" | "barrier" | "wake-up";

/** Who held the CPUs while a ceiling was measured. */
export interface CeilingLoad {
  wall_ns: number;
  others_ns: number;
  pid: number;
  name: string;
  pid_ns: number;
}

/** Where a ceiling comes from. */
export type CeilingSource = "recording" | "given" | "kept" | "profile" | "best_seen";

/** A model, by its file. */
export interface Census {
  architecture: string;
  layers: number;
  parameters: number;
  file_bytes: number;
  weight_bytes: number;
  matrix_bytes: number;
  vector_bytes: number;
  embedding_bytes: number;
  table_bytes: number;
  tied: boolean;
  experts: number;
  experts_used: number;
  cells: number;
  cache_bytes: number;
  recurrent: boolean;
}

/** Control group of a process. */
export interface Cgroup {
  path: string | null;
  version: number | null;
  quota: "none" | Quota | null;
  uclamp_max: "none" | number | null;
  periods: Rise | null;
  throttled_periods: Rise | null;
  throttled_ns: Rise | null;
  cpuset: number[] | null;
  memory_limit_bytes: "none" | number | null;
  memory_high_bytes: "none" | number | null;
  memory_high_events: Rise | null;
  memory_stalled_ns: Rise | null;
}

/** Mean time per unit of both sides. */
export interface Change {
  a_ns: number;
  b_ns: number;
  change_ns: number;
}

/** A part of the change. */
export interface ChangeRow {
  level: string;
  step: StepKind;
  culprit: string | null;
  module: Module | null;
  op: string | null;
  tensor: string | null;
  title: string;
  a_ns: number;
  b_ns: number;
  change_ns: number;
  change_share: number | null;
  p: number | null;
  stands: boolean | null;
}

/** A child process that is not traced. */
export interface Child {
  pid: number;
  name: string;
  command: string;
}

/** `compare.json`: comparison of two sides, each with one or more runs. */
export interface Comparison {
  schema: number;
  draft: boolean;
  same_work: boolean;
  gate: GateItem[];
  question: Question;
  title: string;
  unit: string;
  verdict: ComparisonVerdict;
  power: Power | null;
  selection: Selection;
  sides: Side[];
  notes: Note[];
  change: Change | null;
  rows: ChangeRow[];
  others: QuestionComparison[];
}

/** Verdict on B relative to A. */
export interface ComparisonVerdict {
  code: string;
  sentence: string;
  shift_share: number | null;
  low_share: number | null;
  high_share: number | null;
  bound_share: number | null;
  practical_share: number;
  doubtful: boolean;
  method: string | null;
  coverage_share: number | null;
  within_share: number | null;
  between_share: number | null;
  between_seen: boolean | null;
}

/** Configuration and state of the system and of the traced processes. */
export interface Conditions {
  system: SystemFacts;
  cpus: CpuFacts[];
  processes: ProcessFacts[];
  threads: ThreadFacts[];
  absent: AbsentFact[];
}

/** Confidence in a verdict. */
export type Confidence = "low" | "medium" | "high";

/** Context shifts: the engine dropped cells of a full context, and a graph rotated the keys of the others to their new positions. */
export interface ContextShifts {
  pid: number;
  context: string | null;
  shifts: number;
  graph_ns: number;
  median_ns: number;
  other_median_ns: number | null;
  sentence: string;
}

/** Overhead of the profiler. */
export interface Cost {
  stream_bytes: number;
  span_bytes: number | null;
  spans: number;
  bytes_per_span: number | null;
  bpf_run_ns: number | null;
  bpf_runs: number | null;
  probe_pair_ns: number | null;
  probe_inside_ns: number | null;
  batch_hits: number | null;
  batch_probes_ns: number | null;
  decode_slowdown: number | null;
  slowdown: Slowdown;
  agent_cpu_ns: number | null;
  agent_rss_bytes: number | null;
}

/** Counter sums of one operator type, in one phase, on one core type. */
export interface Counted {
  phase: Phase;
  op: string;
  desc: string;
  pmu: string;
  spans: number;
  work_ns: number;
  switches: number;
  absent: AbsentCounts;
  values: CounterSum[];
}

/** A requested counter. */
export interface Counter {
  name: string;
  event: number;
  pmu: string;
  cpus: number[];
  attached: boolean;
  note: string;
}

/** Sum of one counter, in user mode. */
export interface CounterSum {
  name: string;
  sum: number;
  spans: number;
  work_ns: number;
}

/** How many calls of a phase have captured operators. */
export interface Coverage {
  phase: Phase;
  calls: number;
  traced: number;
  untraced: number;
  edge: number;
  bursts: number;
}

/** How the CPU backend is linked. */
export type CpuBackend = "variant" | "library" | "built_in";

/** Facts about one CPU. */
export interface CpuFacts {
  cpu: number;
  online: boolean | null;
  core: string | null;
  capacity: number | null;
  governor: string | null;
  frequency_max_hz: number | null;
  frequency_min_hz: number | null;
  frequency_limit_hz: Seen | null;
  steal_ns: Rise | null;
}

/** A task that had a CPU. */
export interface CpuHolder {
  tid: number;
  pid: number;
  name: string;
  program: string;
  command: string;
  cgroup: string;
  engine: boolean;
  agent: boolean | null;
  busy_ns: number;
  prefill_ns: number;
  decode_ns: number;
}

/** The tasks that had one CPU. */
export interface CpuUse {
  cpu: number;
  tasks: CpuHolder[];
  rest_tasks: number;
  rest_ns: number;
}

/** The critical path of one graph of dag.json in phase `decode`: the longest chain of operators that wait for each other. */
export interface CriticalPath {
  graph: number;
  nodes: number;
  sum_ns: number;
  path_ns: number;
  path_nodes: number;
  width_ratio: number | null;
  saving_ns: number;
  branches: Branch[];
}

/** A program that had CPUs of the engine. */
export interface Culprit {
  tid: number;
  pid: number;
  name: string;
  program: string;
  command: string;
  cgroup: string;
  engine: boolean;
  tasks: number;
  cpus: number[];
}

/** Why a curve has no larger working set. */
export type CurveEnd = "open" | "cache" | "memory" | "time";

/** A point of a read or copy curve. */
export interface CurvePoint {
  working_set_bytes: number;
  repeats: number;
  median: number;
  min: number;
  max: number;
  doubts: Doubt[];
}

/** `dag.json`: operator graphs. */
export interface Dag {
  schema: number;
  draft: boolean;
  graphs: DagGraph[];
}

/** A node that reads a tensor. */
export interface DagEdge {
  from: number;
  to: number;
  slot: number;
  ne: number[];
  dtype: string;
  bytes: number | null;
}

/** The topology that was computed most often (ties: most recently) in one phase, context and split. */
export interface DagGraph {
  id: number;
  phase: Phase;
  pid: number;
  context: string | null;
  split: number;
  topology: number;
  backend: string;
  n_tokens: number | null;
  calls: number;
  traced_calls: number;
  n_nodes: number;
  n_leafs: number;
  complete: boolean;
  nodes: DagNode[];
  edges: DagEdge[];
}

/** A tensor of a graph. */
export interface DagNode {
  index: number;
  name: string;
  op: string;
  desc: string;
  dtype: string;
  ne: number[];
  bytes: number | null;
  role: string;
  memory: string | null;
  buffer: string | null;
  module: Module;
  layer: number | null;
  view_of: number | null;
  order: number | null;
  fused_with: number | null;
  executions: number;
  wall_ns: number | null;
  work_ns: number | null;
  wait_ns: number | null;
  share: number;
  not_captured: boolean;
  critical: boolean | null;
}

/** One kind of damage. */
export interface Damage {
  kind: string;
  count: number;
  bytes: number;
  first_offset: number;
}

/** Work of several executions, and its rates. */
export interface Done {
  read_bytes: number;
  weight_bytes: number;
  cache_bytes: number;
  written_bytes: number;
  operations: number;
  accuracy: Accuracy;
  bytes_per_s: number | null;
  operations_per_s: number | null;
  intensity: number | null;
}

/** Why a ceiling is doubtful. */
export type Doubt = "unstable" | "engine_ran" | "noted" | "unknown";

/** Guesses at one position, in rounds of known outcome. */
export interface DraftPosition {
  position: number;
  drafted: number;
  accepted: number;
  accepted_share: number;
}

/** Losses on the board, by reason. */
export interface Dropped {
  spans: number;
  ring_full: number;
  queue_full: number;
  no_graph: number;
  graph_too_large: number;
  graph_unreadable: number;
  damaged: number;
  no_state: number;
  calls: number;
  tensors: number;
  frames: number;
  frame_bytes: number;
}

/** A change of the duty cycle by the controller. */
export interface DutyStep {
  at_ns: number;
  pid: number;
  reason: string;
  keep_above_per_s: number | null;
  max_slowdown: number | null;
  tokens_per_s: number | null;
  slowdown: number | null;
  low_slowdown: number | null;
  high_slowdown: number | null;
  before_share: number;
  after_share: number;
}

/** How the session ended. */
export interface Ending {
  code: EndingCode;
  state: EndingState;
  traced: boolean;
  pid: number | null;
  name: string | null;
  status: number | null;
  signal: number | null;
  output: string[];
  waited_for: string | null;
  inside_pid: number | null;
  tried: number | null;
  file: string | null;
  children: Child[];
  open_ns: number | null;
  memory: GroupMemory | null;
  sentence: string | null;
}

/** How a session ended. */
export type EndingCode =
  | "computed"
  | "engine_failed"
  | "engine_ended"
  | "no_process"
  | "no_probe"
  | "out_of_memory"
  | "call_unreturned"
  | "pid_namespace"
  | "packed_library"
  | "children_compute"
  | "refused"
  | "cut_short"
  | "nothing_computed"
  | "not_asked";

/** How views show an ending. */
export type EndingState = "good" | "nothing" | "bad";

/** The engine of one process. */
export interface Engine {
  pid: number;
  name: string;
  version: string;
  cpu_backend: CpuBackend | null;
  cpu_variant: string | null;
  cpu_library: string | null;
}

/** An estimate with its interval. */
export interface Estimate {
  value: number;
  interval: Interval | null;
}

/** One piece of evidence. */
export interface Evidence {
  key: string;
  name: string;
  text: string;
  unit: Unit;
  value: EvidenceValue;
  place: Place;
  per?: Question | null;
}

/** A value in its unit. */
export type EvidenceValue = number | number | number | number[] | string;

/** Figures of one layer, or of all layers. */
export interface ExpertFigures {
  batches: number;
  tokens: number;
  left_out: number;
  all_used: number;
  uses: number;
  n_expert: number;
  never_used: number;
  distinct_per_batch: number | null;
  bytes_per_batch: number | null;
  balance: number | null;
  reuse: Reuse | null;
  pins: Pin[];
}

/** Selected experts by stage; one per token, layer and rank. */
export interface ExpertSum {
  chosen: number | null;
  kept: number;
  ring_full: number | null;
  queue_full: number | null;
  unreadable: number | null;
  no_graph: number | null;
  unaccounted: number | null;
  missing: number;
}

/** What a process read from a file. */
export interface FileRead {
  file: string;
  bytes: Rise;
}

/** A filter on operators. */
export interface Filter {
  on: string;
  text: string;
  place: string;
  refused: string | null;
}

/** One finding. */
export interface Finding {
  code: string;
  title: string;
  sentence: string;
  observed: string;
  action: string;
  gain: Gain | null;
  effects: FindingEffect[];
  confidence: Confidence;
  remedy: Remedy;
  evidence: Evidence[];
}

/** What a finding is about in one question. */
export interface FindingEffect {
  question: Question;
  share: number;
  observed: boolean;
  ns: number;
  gain: Gain | null;
  steps: number[];
}

/** How fast the engine is, why not faster, what would help, what was ruled out. */
export interface Findings {
  headline: Headline;
  sentence: string;
  found: Finding[];
  ruled_out: RuledOut[];
  noisy: RuledOut[];
  not_known: NotKnown[];
}

/** What bounds an operator. */
export type FloorLimit = "memory" | "arithmetic" | "unknown";

/** Kernels that computed several operators. */
export interface FusedKernels {
  what: string;
  kernels: number;
  device_ns: number;
}

/** Time by which something becomes shorter, and the speed that follows. */
export interface Gain {
  of: Gains;
  shortens: string;
  low_ns: number;
  likely_ns: number;
  high_ns: number;
  low_tokens_per_s: number | null;
  likely_tokens_per_s: number | null;
  high_tokens_per_s: number | null;
}

/** What becomes shorter. */
export type Gains = "token" | "request";

/** A property that runs may differ in. */
export interface GateItem {
  thing: Thing;
  which: string;
  title: string;
  kind: ThingKind;
  found: string;
  other_work: boolean;
  a: ThingValue[];
  b: ThingValue[];
  only_a: string[];
  only_b: string[];
  sentence: string;
}

/** One sensor of the board. */
export interface Gauge {
  name: string;
  kind: string;
  unit: string;
  source: string;
  period_ns: number;
  attached: boolean;
  note: string;
  samples: number;
  absent: number;
  session: GaugeFigures | null;
  decode: GaugeFigures | null;
  decode_bytes_per_token: number | null;
  decode_tokens: number;
}

/** Statistics of a sensor. */
export interface GaugeFigures {
  min: number;
  mean: number;
  max: number;
  covered_ns: number;
}

/** Calls of one layer on one backend. */
export interface GraphRow {
  layer: string;
  backend: string;
  calls: number;
  topologies: number;
  min_nodes: number;
  max_nodes: number;
  time_ns: number;
}

/** Memory of a control group. */
export interface GroupMemory {
  high_bytes: number | null;
  limit_bytes: number | null;
  used_bytes: number | null;
  high_events: number | null;
  stalled_ns: number | null;
  oom_kills: number | null;
  is_reason: boolean;
}

/** Growth of the operators with one type or one name. */
export interface GrowingOperators {
  name: string | null;
  op: string;
  desc: string;
  backend: string;
  ns_per_1000_cells: number;
  low_ns: number;
  high_ns: number;
  grows: boolean;
  median_ns: number;
  share: number;
}

/** How a time grows with the cells. */
export interface Growth {
  ns_per_1000_cells: number;
  low_ns: number;
  high_ns: number;
  grows: boolean;
  median_ns: number;
  share: number;
}

/** What was recorded, in words: the first lines of every view. */
export interface Heading {
  name: string;
  model: string[];
  engine: string[];
  machine: string[];
}

/** How fast, and how near to what this board can do. */
export interface Headline {
  question: Question;
  calls: number;
  phase: Phase;
  tokens: number;
  sequences: number | null;
  texts: Texts | null;
  drafted: boolean;
  token_ns: number | null;
  tokens_per_s: number | null;
  median_ns: number | null;
  p95_ns: number | null;
  half_of_time: number;
  prefill_tokens_per_s: number | null;
  threads: number;
  mbu: number | null;
  probes_share: number;
  slowdown: Slowdown;
}

/** Health of a session. */
export interface Health {
  perfect: boolean;
  lines: string[];
  dropped: Dropped | null;
  damaged: Damage[];
  skipped: SkippedKind[];
  cut_short: boolean;
  end_reason: string | null;
  refused: string | null;
  spans: SpanSum;
  experts: ExpertSum | null;
  ring_stalls: RingStalls | null;
  late: Late[];
}

/** Times of one backend in one recording. */
export interface InRecording {
  recording: number;
  backend: string;
  executions: number;
  host: OnHost | null;
  device: OnDevice | null;
}

/** A task that occupied a CPU while an engine thread was preempted or woken there. */
export interface Interferer {
  tid: number;
  pid: number;
  name: string;
  program: string;
  command: string;
  cgroup: string;
  engine: boolean;
  agent: boolean | null;
  idle: boolean;
  turns: number;
  time_ns: number;
  prefill_ns: number;
  decode_ns: number;
  preempted_ns: number;
  woken_ns: number;
  cpus: OnCpu[];
  threads: Waiter[];
}

/** Interrupts with one name. */
export interface Interrupt {
  kind: string;
  name: string;
  count: number;
  time_ns: number;
  prefill_ns: number;
  decode_ns: number;
  longest_ns: number;
}

/** A 95 % interval. */
export interface Interval {
  low: number;
  high: number;
}

/** Number and device time of some kernels. */
export interface KernelPart {
  kernels: number;
  device_ns: number;
}

/** How the decode calls of one context grow with its KV cells. */
export interface Kv {
  pid: number;
  context: string | null;
  steps: KvStep[];
  limit_cells: number | null;
  token: Growth | null;
  at_limit: KvAtLimit | null;
  types: GrowingOperators[];
  names: GrowingOperators[];
}

/** Estimated duration of a `llama_decode` call with the KV cache full. */
export interface KvAtLimit {
  token_ns: number;
  low_ns: number;
  high_ns: number;
}

/** The decode calls that had one number of cells. */
export interface KvStep {
  cells: number;
  tokens: number;
  median_ns: number;
}

/** Where the time of one question goes: from the least time that the board allows up to the measured time. */
export interface Ladder {
  question: Question;
  pid: number;
  units: number;
  traced_units: number;
  tokens: number;
  measured_ns: number;
  undisturbed_ns: number;
  steps: LadderStep[];
  floor: LadderFloor | null;
  all_causes: LadderGain | null;
  start_up: LadderStartUp | null;
}

/** Operators at the limits of the board. */
export interface LadderFloor {
  ns: number;
  half_ns: number;
  bytes: number;
  bytes_per_s: number | null;
  source: CeilingSource | null;
  arithmetic_source: CeilingSource | null;
  parts: LadderFloorPart[];
  groups: LadderFloorGroup[];
}

/** Operators of one tensor group and type. */
export interface LadderFloorGroup {
  group: string;
  dtype: string;
  bytes: number;
  operations: number;
  floor_ns: number;
  work_ns: number;
  unknown_ns: number;
}

/** Operators of one type and data type. */
export interface LadderFloorPart {
  op: string;
  dtype: string;
  limit: FloorLimit;
  bytes: number;
  operations: number;
  floor_ns: number;
  work_ns: number;
}

/** Time that a remedy saves, of all units, ns. */
export interface LadderGain {
  low_ns: number;
  likely_ns: number;
  high_ns: number;
}

/** Counts until the first call of a process. */
export interface LadderStartUp {
  read_bytes: number;
  reading_ns: number;
  major_faults: number;
  minor_faults: number;
  other_threads_ns: number;
  resident_bytes: number;
  file_bytes: number;
}

/** One step of a ladder. */
export interface LadderStep {
  kind: StepKind;
  label: string;
  ns: number;
  low_ns: number;
  high_ns: number;
  culprit: Culprit | null;
  gain: LadderGain | null;
}

/** The ladders of one question of many parts of a session as one. */
export interface LadderSum {
  question: Question;
  parts: number;
  units: number;
  tokens: number;
  measured_ns: number;
  steps: LadderSumStep[];
}

/** One step of all parts. */
export interface LadderSumStep {
  kind: StepKind;
  label: string;
  culprit: string | null;
  ns: number;
}

/** A process whose first calls may be missing, because its engine was already loaded. */
export interface Late {
  pid: number;
  after_ns: number;
}

/** Sums over one layer in one phase, over all contexts and backends. */
export interface LayerSum {
  phase: Phase;
  layer: number | null;
  executions: number;
  wall_ns: number;
  work_ns: number;
  wait_ns: number | null;
  read_bytes: number;
  weight_bytes: number;
  written_bytes: number;
  operations: number;
  accuracy: Accuracy;
  share: number;
}

/** Tasks below the listed ones. */
export interface LeftOut {
  tasks: number;
  time_ns: number;
}

/** A recording, predicted from the others. */
export interface LeftOutRun {
  recording: string | null;
  decode_error: number | null;
  prefill_error: number | null;
  one_parameter_error: number | null;
  unseen: boolean;
}

/** A file of an engine. */
export interface Library {
  pid: number;
  path: string;
  build_id: string;
  roles: LibraryRole[];
}

/** What a file is to the engine. */
export type LibraryRole =
  | "token"
  | "graph"
  | "cpu_graph"
  | "cpu_operators"
  | "backend_functions"
  | "names_and_layout";

/** The best known limits of a phase. */
export interface Limits {
  read: Top | null;
  int8: Top | null;
  f32: Top | null;
  f16: Top | null;
}

/** Slowdown of the tokens during which probes were attached or detached, compared with the same line: pauses, and partly traced operators. */
export interface MeasuredEdges {
  slowdown: number;
  low: number;
  high: number;
  extra_ns: number;
  tokens: number;
}

/** A measured slowdown. */
export interface MeasuredSlowdown {
  slowdown: number;
  low: number;
  high: number;
  of_all_tokens: number;
  bursts: number;
  traced: number;
  untraced: number;
  edges: MeasuredEdges | null;
}

/** Kind of memory that holds a weight. */
export type Memory = "file" | "anonymous" | "device" | "unknown";

/** What a rule needs and does not have. */
export interface Missing {
  kind: MissingKind;
  name?: MissingName | null;
  why?: string | null;
}

/** A kind of what a rule needs. */
export type MissingKind =
  | "calls"
  | "traced_calls"
  | "ends"
  | "all_operators"
  | "cpus"
  | "level"
  | "ceiling"
  | "fact"
  | "counter"
  | "gauge"
  | "context_steps"
  | "rounds"
  | "plain_tokens"
  | "culprit"
  | "other_type"
  | "other_kv_type"
  | "without_neighbours"
  | "waits_for_backends"
  | "steal_readings"
  | "explained"
  | "interrupts"
  | "text_lengths"
  | "prompts";

/** Which, or how many. */
export type MissingName = number | string;

/** A part of a model. */
export type Module =
  | "embedding"
  | "attention"
  | "recurrent"
  | "ffn"
  | "router"
  | "experts"
  | "norm"
  | "head"
  | "other";

/** Sums over one module in one phase, over all contexts and backends. */
export interface ModuleSum {
  phase: Phase;
  module: Module;
  layer: number | null;
  executions: number;
  wall_ns: number;
  work_ns: number;
  wait_ns: number | null;
  read_bytes: number;
  weight_bytes: number;
  written_bytes: number;
  operations: number;
  accuracy: Accuracy;
  share: number;
}

/** Calls of one backend function inside the operators of one type, for example `ggml_cl_mul_mat` of CLBlast inside `MUL_MAT` on the CPU. */
export interface NestedCalls {
  phase: Phase;
  op: string;
  desc: string;
  op_backend: string;
  function: string;
  backend: string;
  calls: number;
  time_ns: number;
  wall_ns: number;
  executions: number;
  op_wall_ns: number;
  share: number | null;
}

/** A cause on which this recording cannot decide. */
export interface NotKnown {
  code: string;
  topic: string;
  sentence: string;
  missing: Missing[];
}

/** A caveat. */
export interface Note {
  code: string;
  sentence: string;
}

/** Times of one backend. */
export interface OnBackend {
  backend: string;
  executions: number;
  host: OnHost | null;
  device: OnDevice | null;
}

/** Time of a task on one wanted CPU. */
export interface OnCpu {
  cpu: number;
  turns: number;
  time_ns: number;
}

/** Time on the device. */
export interface OnDevice {
  kernels: number;
  device_ns: number;
  work: Done | null;
  at_once: boolean;
  fused: FusedKernels[];
}

/** Time on the host. */
export interface OnHost {
  host_side: boolean;
  executions: number;
  wall_ns: number;
  work: Done;
}

/** All operators of one type in one phase. */
export interface OpType {
  phase: Phase;
  backend: string;
  host_side: boolean;
  op: string;
  desc: string;
  executions: number;
  wall_ns: number;
  median_ns: number | null;
  biased: boolean;
  work_ns: number;
  wait_ns: number | null;
  share: number;
  estimate: TypeEstimate | null;
  work: Done;
}

/** One operator of a graph: all its executions in one phase of one context. */
export interface Operator {
  phase: Phase;
  backend: string;
  pid: number;
  context: string | null;
  name: string;
  op: string;
  desc: string;
  nth: number;
  dtype: string;
  ne: number[];
  src: Source[];
  executions: number;
  wall_ns: number;
  median_ns: number | null;
  p95_ns: number | null;
  work_ns: number;
  wait_ns: number | null;
  share: number;
  fused: string | null;
  module: Module;
  layer: number | null;
  work: Done;
  bound: Bound;
}

/** Operators of one type in a token. */
export interface OperatorShare {
  desc: string;
  rows: number;
  weights: boolean;
  arithmetic: string;
  ns: number;
  bytes: number;
}

/** What simpler formulas say. */
export interface OtherPredictions {
  one_parameter_tokens_per_s: number | null;
  llmfit_tokens_per_s: number;
  gguf_parser_tokens_per_s: number | null;
}

/** CPU time of other programs. */
export interface OtherPrograms {
  busy_ns: number;
  programs: ProgramTime[];
}

/** Purpose of a `llama_decode` call. */
export type Phase =
  | "prefill"
  | "decode"
  | "batch_decode"
  | "draft"
  | "warm_up"
  | "encode"
  | "unknown";

/** Budget of the calls of one phase. */
export interface PhaseBudget {
  phase: Phase;
  calls: number;
  all_calls: number;
  time_ns: number;
  wall: number[];
  work: BudgetWork[];
  threads: ThreadBudget[];
}

/** How a phase was determined. */
export type PhaseBy = "logits" | "positions" | "contexts" | "tokens";

/** The successful calls of one phase. */
export interface PhaseTotals {
  calls: number;
  tokens: number;
  time_ns: number;
  tokens_per_s: number | null;
  median_ns: number | null;
  p95_ns: number | null;
  graph_ns: number | null;
  op_wall_ns: number | null;
  traced_calls: number;
  traced_time_ns: number;
  phase_by_token_count: number;
}

/** Benefit of keeping the most used experts of each layer in fast memory. */
export interface Pin {
  rule: string;
  experts: number;
  bytes: number | null;
  hits: number;
  share: number | null;
  ahead_share: number | null;
  even_share: number | null;
}

/** Part of the report that shows the number. */
export type Place =
  | "budget"
  | "timeline"
  | "threads"
  | "interference"
  | "operators"
  | "roofline"
  | "tokens"
  | "gauges"
  | "conditions"
  | "weights"
  | "experts"
  | "requests"
  | "context"
  | "speculative"
  | "graphs";

/** Time of the target for one token without a draft. */
export interface Plain {
  ns: number;
  low_ns: number;
  high_ns: number;
  calls: number;
  by: ToldBy;
}

/** Statistical power: which differences can be detected with this run-to-run variation. */
export interface Power {
  power_share: number;
  variation_share: number;
  detectable_share: number | null;
  runs: number | null;
  sentence: string;
}

/** Parts of a decode call, which sum to its time. */
export interface PredictedParts {
  products_ns: number;
  attention_ns: number;
  others_ns: number;
  between_ns: number;
  nodes: number;
}

/** A predicted setting. */
export interface PredictedSetting {
  name: string;
  threads: number;
  cpus: string;
  core: string | null;
  token_ns: number;
  low_ns: number;
  high_ns: number;
  recorded: boolean;
  plausible: boolean;
  sure: boolean;
}

/** `predict.json`. */
export interface Prediction {
  schema: number;
  draft: boolean;
  code: string;
  model: string;
  recordings: string[];
  words: string[];
  threads: number | null;
  census: Census | null;
  decode: SpeedRange | null;
  gap_ns: number | null;
  seen_tokens_per_s: number | null;
  prefill: SpeedRange | null;
  read: Top | null;
  prompt_tokens: number | null;
  types: TypeShare[];
  parts: PredictedParts | null;
  others: OtherPredictions | null;
  left_out: LeftOutRun[];
}

/** A probe. */
export interface Probe {
  pid: number;
  level: string | null;
  what: string;
  symbol: string;
  library: string;
  offset: number;
  attached: boolean;
  note: string;
}

/** A traced process. */
export interface Process {
  pid: number;
  name: string;
  command: string;
  engine_version: string;
}

/** Facts about one traced process. */
export interface ProcessFacts {
  pid: number;
  program: string | null;
  environment: Variable[];
  variables: number | null;
  affinity: number[] | null;
  cgroup: Cgroup;
  rss_anonymous_bytes: Seen | null;
  rss_file_bytes: Seen | null;
  rss_shared_bytes: Seen | null;
  huge_anonymous_bytes: Seen | null;
  huge_file_bytes: Seen | null;
  major_faults: Rise | null;
  minor_faults: Rise | null;
  storage_read_bytes: Rise | null;
  file_reads: FileRead[];
  swapped_bytes: Seen | null;
  threads: Seen | null;
  nice: number | null;
  ended: boolean;
}

/** A matrix product: `m` × `k` by `k` × `n`. */
export interface Product {
  m: number;
  n: number;
  k: number;
  batch: number;
}

/** Format of an accelerator's profile. */
export type ProfileFormat = "opencl_table" | "opencl_trace" | "vulkan_log" | "hexagon_log";

/** How much of one accelerator profile matches the recording. */
export interface ProfileJoin {
  name: string;
  format: ProfileFormat;
  backend: string | null;
  kernels: number;
  device_ns: number;
  joined: KernelPart;
  grouped: KernelPart;
  unjoined: KernelPart;
  share: number;
  unjoined_kinds: Unjoined[];
  operators: Balance[];
  unread_fusions: number;
  lines: number;
  other_lines: number;
  damaged_lines: number;
  left_out_rows: number;
  open_blocks: number;
  span_ns: number | null;
  queued_ns: number | null;
}

/** CPU time of a program. */
export interface ProgramTime {
  program: string;
  busy_ns: number;
}

/** What a ladder explains. */
export type Question =
  | "decode"
  | "prompt"
  | "first_token"
  | "start_up"
  | "encode"
  | "between_calls";

/** Comparison of the calls of one question. */
export interface QuestionComparison {
  question: Question;
  title: string;
  unit: string;
  verdict: ComparisonVerdict;
  power: Power | null;
  selection: Selection;
  sides: Side[];
  notes: Note[];
  change: Change | null;
  rows: ChangeRow[];
}

/** A CPU quota. */
export interface Quota {
  quota_us: number;
  period_us: number;
  milli_cpus: number;
  level: number | null;
}

/** The recorded setting. */
export interface RecordedSetting {
  tokens: number;
  threads: number;
  cpus: number[];
  token_ns: number;
  half_ns: number | null;
  probes_ns: number;
  barriers: number;
  between_operators_ns: number;
  serial_ns: number;
  waits_ns: number;
  taken_ns: number;
  other_ns: number;
  operators: OperatorShare[];
}

/** An option that is not in effect. */
export interface RefusedOption {
  option: string;
  why: string;
}

/** What to do about a cause. */
export type Remedy =
  | { kind: "threads"; threads: number }
  | { kind: "move_tasks"; tasks: [number, string][] }
  | { kind: "kernel_threads"; tasks: [number, string][] }
  | { kind: "move_neighbours"; tasks: [number, string][] }
  | { kind: "quota"; cpus: number; threads: number }
  | { kind: "pin"; threads: number; cpus: number[] }
  | { kind: "pin_threads" }
  | { kind: "spin_at_barriers" }
  | { kind: "sleep_when_idle" }
  | { kind: "more_memory"; bytes: number }
  | { kind: "one_copy"; bytes: number }
  | { kind: "clock"; hertz: number }
  | { kind: "memory_clock"; hertz: number }
  | { kind: "cooling" }
  | { kind: "sampling" }
  | { kind: "shorter_context"; cells: number; quantize: boolean }
  | { kind: "no_draft" }
  | { kind: "pin_experts" }
  | { kind: "cheaper_arithmetic" }
  | { kind: "requantize"; group: string; from: string; to: string }
  | { kind: "repacked_type" }
  | { kind: "smaller_weights" }
  | { kind: "better_variant" }
  | { kind: "fake_numa" }
  | { kind: "huge_pages" }
  | { kind: "one_backend" }
  | { kind: "cache_prompt" }
  | { kind: "keep_window" }
  | { kind: "keep_state" }
  | { kind: "table_in_memory" }
  | { kind: "fewer_state_copies" }
  | { kind: "steady_shapes" }
  | { kind: "no_stops" }
  | { kind: "whole_prompts" }
  | { kind: "larger_batches"; tokens: number }
  | { kind: "no_idle_team" }
  | { kind: "less_application_work" }
  | { kind: "reserved_cpus" }
  | { kind: "move_interrupts" }
  | { kind: "find_sleep" }
  | { kind: "warm_cache" }
  | { kind: "kv_type"; types: string[] }
  | { kind: "keep_conditions" };

/** A prompt and the tokens generated from it, by sequences and positions: those of `server`, and of contexts whose batches show no sequences, by the positions in their graphs. */
export interface Request {
  index: number;
  context: string | null;
  slot: number | null;
  reused: number | null;
  first_call: number;
  prompt_tokens: number;
  ttft_ns: number | null;
  encode_ns: number;
  generated: number;
  tpot_ns: number | null;
  decode_tokens_per_s: number | null;
}

/** Reuse of experts between decode tokens of a context. */
export interface Reuse {
  uses: number;
  again: number;
  share: number | null;
  even_share: number | null;
  known: number;
  median_tokens: number | null;
  p90_tokens: number | null;
  never: number;
  unknown: number;
}

/** Records that a thread reserved but did not submit in time, because it lost its CPU. */
export interface RingStalls {
  count: number;
  longest_ns: number;
}

/** Increase of a kernel counter that was read about once a second. */
export interface Rise {
  total: number;
  total_ns: number;
  decode: number | null;
  decode_ns: number;
}

/** CPUs of one phase, and their measured ceilings. */
export interface Roof {
  phase: Phase;
  threads: number;
  cpus: number[];
  reads_bytes: number | null;
  read: Top | null;
  int8: Top | null;
  f32: Top | null;
  f16: Top | null;
  no_read: string | null;
  limits: Limits | null;
}

/** One layer. */
export interface RoutedLayer {
  layer: number | null;
  name: string;
  weights: string;
  n_used: number;
  expert_bytes: number | null;
  expert_uses: number[];
  batches: number;
  tokens: number;
  left_out: number;
  all_used: number;
  uses: number;
  n_expert: number;
  never_used: number;
  distinct_per_batch: number | null;
  bytes_per_batch: number | null;
  balance: number | null;
  reuse: Reuse | null;
  pins: Pin[];
}

/** Expert selections of one context in one phase. */
export interface Routing {
  phase: Phase;
  pid: number;
  context: string | null;
  sentence: string | null;
  all_layers: ExpertFigures;
  layers: RoutedLayer[];
}

/** A cause that the numbers rule out, or that variation hides. */
export interface RuledOut {
  code: string;
  topic: string;
  sentence: string;
  evidence: Evidence[];
}

/** One run. */
export interface Run {
  name: string;
  calls: number;
  units: number;
  mean_ns: number;
  median_ns: number;
  half_share: number | null;
  disturbed_share: number | null;
}

/** Results of the scheduler level. */
export interface Sched {
  recorded: boolean;
  interrupts_recorded: boolean;
  threads: SchedThread[];
  interference: Interferer[];
  left_out: LeftOut;
  cpu_use_recorded: boolean;
  cpu_use: CpuUse[];
  other_programs: OtherPrograms | null;
  interrupts: Interrupt[];
}

/** One engine thread. */
export interface SchedThread {
  tid: number;
  pid: number;
  name: string;
  runs: number;
  preemptions: number;
  migrations: number;
  total: StateTimes;
  prefill: StateTimes;
  decode: StateTimes;
}

/** A value that was read about once a second. */
export interface Seen {
  first: number;
  last: number;
  min: number;
  max: number;
}

/** Compared calls. */
export interface Selection {
  warm_up: number;
  first_position: number | null;
  last_position: number | null;
  sizes: number[];
  traced: boolean;
  sentence: string;
}

/** Mean of a sensor during text generation. */
export interface SensorMean {
  name: string;
  mean: number;
}

/** Requests by slot; in llama-server a slot is a sequence of the context. */
export interface Server {
  contexts: ServerContext[];
  requests: SlotRequest[];
}

/** One context and its slots. */
export interface ServerContext {
  pid: number;
  context: string | null;
  requests: number;
  ttft_ns: Spread;
  tpot_ns: Spread;
  waited_ns: Spread;
  prompt_tokens: Spread;
  reused: Spread;
  output_tokens: Spread;
  cost_ns: number;
  slots: Slot[];
  batches: Batches[];
  incomplete_calls: number;
  branches: boolean;
}

/** The session. */
export interface Session {
  agent: string;
  kernel: string;
  machine: string;
  cpu_model: string;
  board: string;
  cpus: number;
  levels: string[];
  start_unix_ns: number;
  duration_ns: number;
  processes: Process[];
  libraries: Library[];
  probes: Probe[];
  counters: Counter[];
}

/** Operators of one shape in all recordings. */
export interface SeveralRow {
  shapes: Shape[];
  backends: InRecording[];
}

/** An operator with its types and dimensions. */
export interface Shape {
  op: string;
  desc: string;
  types: string[];
  dtype: string;
  src: number[][];
  ne: number[];
  product: Product | null;
}

/** Operators of one shape on all backends that computed it. */
export interface ShapeRow {
  shapes: Shape[];
  backends: OnBackend[];
}

/** One side of the comparison. */
export interface Side {
  name: string;
  mean_ns: number | null;
  median_ns: number | null;
  tokens_per_s: number | null;
  spread_share: number | null;
  runs: Run[];
}

/** Records of one kind that this build does not know. */
export interface SkippedKind {
  kind: number;
  count: number;
}

/** One slot. */
export interface Slot {
  slot: number;
  requests: number;
  ttft_ns: Spread;
  tpot_ns: Spread;
  waited_ns: Spread;
  prompt_tokens: Spread;
  reused: Spread;
  output_tokens: Spread;
  cost_ns: number;
}

/** A request of one slot. */
export interface SlotRequest {
  index: number;
  pid: number;
  context: string | null;
  slot: number;
  first_call: number;
  start_ns: number;
  end_ns: number;
  begin: Begin;
  reused: number | null;
  prompt_tokens: number | null;
  prompt_calls: number;
  reads: number;
  ttft_ns: number | null;
  encode_ns: number;
  waited_ns: number | null;
  output_tokens: number | null;
  cost_ns: number;
  tpot_ns: number | null;
}

/** How much longer a decode call takes because its operators are captured. */
export type Slowdown =
  | ({ kind: "measured" } & MeasuredSlowdown)
  | { kind: "estimated"; slowdown: number; of_all_tokens: number | null }
  | { kind: "unknown" };

/** A tensor that an operator reads. */
export interface Source {
  name: string;
  dtype: string;
  ne: number[];
  role: string;
}

/** Operator spans by stage since the session began. */
export interface SpanSum {
  kernel: number | null;
  received: number;
  dropped: number | null;
  left_out: number | null;
  empty: number | null;
  no_start: number | null;
  no_end: number | null;
  unaccounted: number | null;
}

/** Speculative decoding with one draft context and one target context of a process. */
export interface Speculative {
  pid: number;
  draft: string | null;
  target: string | null;
  rounds: number;
  open_rounds: number;
  drafted: number;
  accepted: number;
  emitted: number;
  accepted_share: number | null;
  emitted_per_round: number | null;
  positions: DraftPosition[];
  verified: Verified[];
  draft_token_ns: number | null;
  replay_ns: number;
  copies_ns: number;
  plain: Plain | null;
  draft_ratio: number | null;
  break_even_per_round: number | null;
  wins: boolean | null;
  tokens_per_s: number | null;
  plain_tokens_per_s: number | null;
}

/** A speed with its interval. */
export interface SpeedRange {
  tokens_per_s: number | null;
  low_tokens_per_s: number;
  high_tokens_per_s: number;
  token_ns: number | null;
  interval: string;
  predictions: number;
  unseen: boolean;
  alike: number | null;
}

/** Percentiles (nearest rank) over the requests that have the figure. */
export interface Spread {
  n: number;
  p50: number | null;
  p90: number | null;
  p99: number | null;
}

/** Time by thread state, ns. */
export interface StateTimes {
  running_ns: number;
  preempted_ns: number;
  woken_ns: number;
  sleeping_ns: number;
  blocked_ns: number;
  stopped_ns: number;
  unknown_ns: number;
}

/** Calls that give each of their sequences one token and do nothing else. */
export interface Step {
  pid: number;
  context: string | null;
  sequences: number;
  calls: number;
  median_ns: number;
  token_ns: number;
}

/** What a step of a ladder is. */
export type StepKind =
  | "floor"
  | "above_floor"
  | "imbalance"
  | "dispatch"
  | "graph_preparation"
  | "graph_allocation"
  | "application"
  | "state_copies"
  | "idle"
  | "encoder"
  | "before_engine"
  | "page_in"
  | "page_faults"
  | "loading"
  | "context"
  | "warm_up"
  | "other_backend"
  | "probes"
  | "program"
  | "agent"
  | "placement"
  | "too_many_threads"
  | "shared_cpu"
  | "idle_team"
  | "steal"
  | "throttled"
  | "unknown_holder"
  | "interrupts"
  | "wake_up"
  | "blocked"
  | "asleep"
  | "stopped"
  | "shared_memory"
  | "lower_speed"
  | "small_causes"
  | "not_recorded"
  | "unexplained";

/** `summary.json`: all statistics of a session. */
export interface Summary {
  schema: number;
  draft: boolean;
  heading: Heading;
  session: Session;
  ending: Ending;
  health: Health;
  capture: Capture;
  findings: Findings;
  ladders: Ladder[];
  ladders_of_pieces: LadderSum[];
  engines: Engine[];
  weights: Weights[];
  tokens: Tokens;
  server: Server;
  speculative: Speculative[];
  kv: Kv[];
  critical_paths: CriticalPath[];
  budget: Budget;
  graphs: GraphRow[];
  op_types: OpType[];
  operators: Operator[];
  work: Work;
  backends: Accelerators;
  nested_calls: NestedCalls[];
  experts: Routing[];
  threads: Thread[];
  counters: Counted[];
  gauges: Gauge[];
  conditions: Conditions;
  ceilings: Ceiling[];
  sched: Sched;
  tracks: Track[];
  cost: Cost;
}

/** Operator probes were attached or detached. */
export interface Switch {
  pid: number;
  on: boolean;
  reason: string;
  began_ns: number;
  done_ns: number;
  probes: number;
  pause_ns: number | null;
}

/** System-wide facts. */
export interface SystemFacts {
  kernel_options: string[] | null;
  preemption: string | null;
  private_stacks: boolean | null;
  page_size_bytes: number | null;
  numa_nodes: number | null;
  hugepages_policy: string | null;
  hypervisor: string | null;
  load_average_milli: number | null;
  memory_total_bytes: number | null;
  memory_available_bytes: Seen | null;
  swap_total_bytes: number | null;
  swap_free_bytes: Seen | null;
  ddr_frequency_hz: Seen | null;
  ddr_frequency_max_hz: number | null;
  ddr_governor: string | null;
  cpu_features: string[] | null;
  sched_missed: number | null;
  batch_hits: number | null;
}

/** Texts that are only read: embeddings, reranking, perplexity. */
export interface Texts {
  texts: number;
  reads: number;
  tokens: number;
  calls: number;
  tokens_per_s: number | null;
  texts_per_s: number | null;
  median_ns: number | null;
}

/** A property that runs may differ in. */
export type Thing =
  | "weights"
  | "experts"
  | "draft"
  | "capture"
  | "model_file"
  | "engine_version"
  | "engine_build"
  | "cpu_variant"
  | "command"
  | "threads"
  | "affinity"
  | "environment"
  | "quota"
  | "kv_cache"
  | "cells"
  | "prompt"
  | "operators"
  | "backends"
  | "buffers"
  | "board"
  | "cpu"
  | "cpus"
  | "kernel"
  | "agent"
  | "governor"
  | "clock_limit"
  | "huge_pages"
  | "clock"
  | "temperature"
  | "ceiling"
  | "probe_cost"
  | "losses";

/** Meaning of a difference. */
export type ThingKind = "work" | "environment";

/** Value in one run. */
export type ThingValue = number | string[] | null;

/** One thread that computed operators. */
export interface Thread {
  tid: number;
  pid: number;
  name: string;
  spans: number;
  migrated: number | null;
  work_ns: number;
  wait_ns: number | null;
  prefill_work_ns: number;
  prefill_wait_ns: number | null;
  decode_work_ns: number;
  decode_wait_ns: number | null;
  batch_decode_work_ns: number;
  batch_decode_wait_ns: number | null;
}

/** Time of one thread in the calls of one phase. */
export interface ThreadBudget {
  tid: number | null;
  calls_tokens: boolean;
  time_ns: number;
  parts: number[];
}

/** Facts about a thread that computed. */
export interface ThreadFacts {
  tid: number;
  affinity: number[] | null;
  policy: string | null;
  run_ns: Rise | null;
  run_delay_ns: Rise | null;
}

/** Budget of one `llama_decode` call. */
export interface TokenBudget {
  call: number;
  phase: Phase;
  traced: boolean;
  start_ns: number;
  time_ns: number;
  wall: number[];
}

/** `llama_decode` calls by phase, and requests. */
export interface Tokens {
  prefill: PhaseTotals;
  decode: PhaseTotals;
  batch_decode: PhaseTotals;
  draft: PhaseTotals;
  warm_up: PhaseTotals;
  encode: PhaseTotals;
  failed_calls: number;
  steps: Step[];
  context_shifts: ContextShifts[];
  requests: Request[];
  requests_unknown: boolean;
  calls: Call[];
}

/** Source of a time, most reliable first. */
export type ToldBy = "calls" | "line" | "bounds";

/** A ceiling that applies to a phase. */
export interface Top {
  per_s: number;
  same_cpus: boolean;
  working_set_bytes: number | null;
  beyond: boolean;
  low: number | null;
  high: number | null;
  polluted: boolean | null;
  source: CeilingSource | null;
  kept_unix_ns: number | null;
}

/** Whether the operators of a call were captured. */
export type Traced = "whole" | "untraced" | "edge";

/** One track of the timeline files. */
export interface Track {
  process: number;
  track: string;
  kind: TrackKind;
  tid: number;
  slices: number;
  total_ns: number;
}

/** Content of a track. */
export type TrackKind = "token" | "graph" | "thread";

/** A setting that was measured. */
export interface TriedSetting {
  name: string;
  threads: number | null;
  cpus: string | null;
  standing: string | null;
  token_ns: number | null;
  runs_ns: number[];
  longer_share: number | null;
  low_share: number | null;
  high_share: number | null;
  prompt_token_ns: number | null;
  clocks: SensorMean[];
  power: SensorMean[];
  joules_per_token: number | null;
}

/** `tune.json`. */
export interface Tuning {
  schema: number;
  draft: boolean;
  status: string;
  advice: string[];
  fastest: string | null;
  choice: string | null;
  open: string[];
  practical_share: number;
  settings: TriedSetting[];
  prediction: TuningPrediction | null;
}

/** Predicted settings: of a mean decode token, without what the probes take. */
export interface TuningPrediction {
  choice: string | null;
  plausible: string[];
  cached: boolean;
  memory_share: number;
  read: Top | null;
  recorded: RecordedSetting;
  settings: PredictedSetting[];
}

/** Estimates for all tokens of the phase, for one operator type. */
export interface TypeEstimate {
  wall_per_call: Estimate | null;
  wall_per_execution: Estimate | null;
  share: Estimate | null;
}

/** Products of one data type. */
export interface TypeShare {
  dtype: string;
  products: number;
  bytes: number;
  ns: number;
  low_ns: number;
  high_ns: number;
  bytes_per_s: number;
  seen: boolean;
}

/** Unit of a piece of evidence. */
export type Unit =
  | "nanoseconds"
  | "bytes"
  | "count"
  | "mean"
  | "share"
  | "bytes_per_second"
  | "hertz"
  | "millidegrees"
  | "cpus"
  | "milli_cpus"
  | "name";

/** Kernels of one kind that match no node. */
export interface Unjoined {
  text: string;
  why: UnjoinedWhy;
  kernels: number;
  device_ns: number;
}

/** Why a kernel has no node. */
export type UnjoinedWhy = "no_backend" | "not_recorded" | "no_node";

/** Memory bandwidth utilisation (MBU) of the successful decode calls. */
export interface Utilisation {
  phase: Phase;
  tokens: number;
  bytes_per_token: number;
  accuracy: Accuracy;
  bytes_per_s: number;
  mbu: number | null;
}

/** An environment variable. */
export interface Variable {
  name: string;
  value: string | null;
}

/** Calls of the target that verify one number of guesses. */
export interface Verified {
  drafted: number;
  rounds: number;
  median_ns: number;
  verify_ratio: number | null;
}

/** An engine thread that waited for the task. */
export interface Waiter {
  tid: number;
  preempted_ns: number;
  woken_ns: number;
}

/** Weights of one context, by buffer type and kind of memory. */
export interface WeightBuffer {
  buffer: string | null;
  memory: Memory;
  path: string | null;
  tensors: number;
  bytes: number;
}

/** Weights that the graphs of one context read. */
export interface Weights {
  pid: number;
  context: string | null;
  tensors: number;
  bytes: number;
  mapped_bytes: number | null;
  own_bytes: number | null;
  device_bytes: number | null;
  unknown_bytes: number | null;
  buffers: WeightBuffer[];
}

/** Use of memory bandwidth, and ceilings that apply to each phase. */
export interface Work {
  decode: Utilisation | null;
  roofs: Roof[];
  modules: ModuleSum[];
  layers: LayerSum[];
}
