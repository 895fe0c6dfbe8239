//! `ladders`: where the time of each question goes, step by step: that of a decode token, of a prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ceiling::CeilingSource;

/// Where the time of one question goes: from the least time that the board allows up to the
/// measured time. Times are of all units together; divide by `units`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ladder {
    /// What the ladder explains.
    pub question: Question,
    /// Process of the engine.
    pub pid: u32,
    /// Tokens (`decode`), prompts (`prompt`), requests (`first_token`), starts (`start_up`) or calls
    /// that it covers. A token before which no call was recorded is left out.
    pub units: u64,
    /// Units whose operators were captured completely.
    pub traced_units: u64,
    /// Tokens that came out, of all sequences: more than `units` where a call has several. 0 for other
    /// questions than `decode`.
    #[serde(default)]
    pub tokens: u64,
    /// Measured time, ns. The steps sum to it.
    pub measured_ns: u64,
    /// Time without all causes, ns.
    pub undisturbed_ns: u64,
    /// The steps, in order; steps without time are left out.
    pub steps: Vec<LadderStep>,
    /// Operators at the limits of the board; `null` without ceilings or captured operators.
    pub floor: Option<LadderFloor>,
    /// Effect of removing all causes together; `null` without causes.
    pub all_causes: Option<LadderGain>,
    /// What was counted until the first call; `null` for other questions than `start_up`.
    #[serde(default)]
    pub start_up: Option<LadderStartUp>,
}

/// Counts until the first call of a process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderStartUp {
    /// Bytes that the process read from storage.
    pub read_bytes: u64,
    /// Time of the 50 ms in which it read, summed, ns.
    pub reading_ns: u64,
    /// Page faults that needed a read from storage.
    pub major_faults: u64,
    /// Page faults without one.
    pub minor_faults: u64,
    /// CPU time of other threads than the main one, ns.
    pub other_threads_ns: u64,
    /// Resident memory at the first call, bytes.
    pub resident_bytes: u64,
    /// Part of it that is mapped from files or shared, bytes.
    pub file_bytes: u64,
}

/// What a ladder explains.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// A decode token, sampling included.
    #[default]
    Decode,
    /// Processing a prompt.
    Prompt,
    /// From the start of a prompt until its first token is sampled.
    FirstToken,
    /// From the start of the program to its first call.
    StartUp,
    /// A call of an encoder.
    Encode,
    /// From the end of a call to the next call of the same context.
    BetweenCalls,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// One step of a ladder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderStep {
    /// What it is.
    pub kind: StepKind,
    /// The same in words.
    pub label: String,
    /// Time of all units, ns.
    pub ns: i64,
    /// Low end of its 95 % interval, ns.
    pub low_ns: i64,
    /// High end, ns.
    pub high_ns: i64,
    /// The program that had CPUs of the engine; set for `program`.
    pub culprit: Option<Culprit>,
    /// Effect of removing this cause alone; `null` for a step that is no cause.
    pub gain: Option<LadderGain>,
}

/// What a step of a ladder is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Operators at the limit of the board that bounds each.
    #[default]
    Floor,
    /// Operators above that limit; all operators where no limit is known.
    AboveFloor,
    /// Threads that computed longer than the mean of the threads.
    Imbalance,
    /// Barriers, and the start of operators.
    Dispatch,
    /// In the call, outside of graphs: building the graph, inputs, outputs.
    GraphPreparation,
    /// In the call: the memory of a graph is allocated anew.
    GraphAllocation,
    /// Between calls: sampling and the application.
    Application,
    /// Between calls: the states of sequences are copied, for checkpoints and kept prompts.
    StateCopies,
    /// Between calls: the calling thread slept, for example for a request.
    Idle,
    /// Between calls: graphs of an encoder of images or sound.
    Encoder,
    /// From the start of the program until the engine's code was loaded.
    BeforeEngine,
    /// The main thread slept while data was read from storage.
    PageIn,
    /// CPU time in the kernel while the engine started: page faults, and copies of files.
    PageFaults,
    /// CPU time outside of the kernel while the engine started: repacking, allocation.
    Loading,
    /// Start-up: CPU time outside of the kernel while a context is created.
    Context,
    /// Trial calls of the engine before its first prompt, without delays.
    WarmUp,
    /// Graphs of other backends.
    OtherBackend,
    /// The probes of this recording.
    Probes,
    /// Another program had a CPU of the engine.
    Program,
    /// The agent had a CPU of the engine.
    Agent,
    /// Threads of the engine shared a CPU although another one was free.
    Placement,
    /// The engine has more running threads than CPUs.
    TooManyThreads,
    /// Threads of the engine shared a CPU; who had the other CPUs is not recorded.
    SharedCpu,
    /// Threads of the engine that computed nothing had a CPU: an idle team that spins.
    IdleTeam,
    /// A hypervisor had a CPU, by the counters of /proc/stat.
    Steal,
    /// A thread was runnable and its CPU idle: a quota was used up, or a hypervisor had the CPU.
    Throttled,
    /// A thread was runnable, and who had its CPU is not recorded.
    UnknownHolder,
    /// Interrupt handlers.
    Interrupts,
    /// Threads slept at barriers and had to be woken.
    WakeUp,
    /// Uninterruptible sleep in an operator: page read from storage, kernel lock.
    Blocked,
    /// Voluntary sleep in an operator.
    Asleep,
    /// Stopped by a signal or a debugger, or frozen with the control group.
    Stopped,
    /// A program on another CPU shared memory, caches or the clock.
    SharedMemory,
    /// Operators took longer than in the fastest part of the recording: clocks, heat, or users of the memory that
    /// were not recorded.
    LowerSpeed,
    /// Causes that are too small to list.
    SmallCauses,
    /// Operators that were not captured.
    NotRecorded,
    /// Delays without a recorded cause.
    Unexplained,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// A program that had CPUs of the engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Culprit {
    /// Thread id of its first task; 0 for many short tasks.
    pub tid: u32,
    /// Process; 0 where its tasks had exited before the lookup, or are of many processes.
    pub pid: u32,
    /// Task name.
    pub name: String,
    /// File name of its program; the task name if the command is unknown.
    #[serde(default)]
    pub program: String,
    /// Command line; empty for kernel threads and exited tasks.
    pub command: String,
    /// Control group; empty when unknown.
    pub cgroup: String,
    /// It is another traced engine.
    pub engine: bool,
    /// Number of tasks that it stands for.
    pub tasks: u32,
    /// CPUs on which it held up the engine.
    pub cpus: Vec<u16>,
}

/// The ladders of one question of many parts of a session as one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderSum {
    /// What the ladders explain. First tokens and starts are not summed.
    pub question: Question,
    /// Parts with calls of it: pieces of a recording, or windows of `analyze watch`.
    pub parts: u64,
    /// Tokens, prompts or calls of all parts.
    pub units: u64,
    /// Tokens that came out, of all sequences; 0 for other questions than `decode`.
    #[serde(default)]
    pub tokens: u64,
    /// Their time, ns. The steps sum to it.
    pub measured_ns: u64,
    /// The steps of all parts, the longest first.
    pub steps: Vec<LadderSumStep>,
}

/// One step of all parts. Programs of one name are one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderSumStep {
    /// What it is. `above_floor` is all of the operators' time.
    pub kind: StepKind,
    /// The same in words.
    pub label: String,
    /// Name of the program; set for `program`.
    pub culprit: Option<String>,
    /// Time of all units, ns.
    pub ns: u64,
}

/// Time that a remedy saves, of all units, ns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderGain {
    /// Least.
    pub low_ns: u64,
    /// Most likely.
    pub likely_ns: u64,
    /// Most.
    pub high_ns: u64,
}

/// Operators at the limits of the board.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderFloor {
    /// Least time of the operators, ns of all units.
    pub ns: u64,
    /// Half width of its interval by the spread of the ceilings, ns.
    pub half_ns: u64,
    /// Weights and KV cache that are read, bytes of all units.
    pub bytes: u64,
    /// Memory bandwidth at this working set, bytes per second.
    pub bytes_per_s: Option<u64>,
    /// Where that bandwidth is from.
    pub source: Option<CeilingSource>,
    /// The least certain source of the rates of the arithmetic that bound some of the operators; `null` if the memory
    /// bounds nearly all.
    #[serde(default)]
    pub arithmetic_source: Option<CeilingSource>,
    /// By operator and data type, the most time above the limit first.
    pub parts: Vec<LadderFloorPart>,
    /// By tensor group and type, the most time above the limit first. The times sum to the steps
    /// `floor` and `above_floor`.
    #[serde(default)]
    pub groups: Vec<LadderFloorGroup>,
}

/// Operators of one tensor group and type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderFloorGroup {
    /// `head`, `attention_projections`, `attention_cells` (reading the KV cache), `feed_forward`,
    /// `experts`, `elementwise`, `recurrent_projections`, `recurrent_state` or `other`.
    pub group: String,
    /// Type of the weights or of the KV cache that they read, else of their results.
    pub dtype: String,
    /// Weights and KV cache that they read, bytes of all units.
    pub bytes: u64,
    /// Operations of all units; a multiply-add counts as two.
    pub operations: u64,
    /// At the limit, ns of all units.
    pub floor_ns: u64,
    /// What they took without disturbances, ns of all units.
    pub work_ns: u64,
    /// Part of `work_ns` of operators whose work is unknown (`at_least`); their limit counts as 0.
    #[serde(default)]
    pub unknown_ns: u64,
}

/// Operators of one type and data type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderFloorPart {
    /// Operator as the engine describes it.
    pub op: String,
    /// Type of the weights that it reads, else of its result.
    pub dtype: String,
    /// What bounds it.
    pub limit: FloorLimit,
    /// Weights and KV cache that they read, bytes of all units.
    pub bytes: u64,
    /// Operations of all units; a multiply-add counts as two.
    pub operations: u64,
    /// At the limit, ns of all units.
    pub floor_ns: u64,
    /// What they took without disturbances, ns of all units.
    pub work_ns: u64,
}

/// What bounds an operator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FloorLimit {
    /// Memory bandwidth.
    Memory,
    /// Arithmetic of the cores.
    Arithmetic,
    /// No ceiling is known for it.
    #[default]
    Unknown,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}
