//! Tables of one session, in columns, with newtype ids.
//!
//! Stage: storage. From `ingest`; to the analyses and views. Promises: every id in a table is valid
//! in the table that it points to. Times are ns of the session's monotonic clock. Rows are ordered
//! by time as each table states. It does not know the wire.

pub mod accelerator;
pub mod blueprint;
pub mod capture;
pub mod ceiling;
pub mod controller;
pub mod counter;
pub mod direct;
pub mod duty;
pub mod edit;
pub mod ending;
pub mod expert;
pub mod fact;
pub mod filter;
pub mod gauge;
pub mod graph;
pub mod health;
pub mod housekeeping;
pub mod loss;
pub mod meter;
pub mod nested;
pub mod one;
pub mod op;
pub mod part;
pub mod refusal;
mod rows;
pub mod sched;
pub mod session;
pub mod start_up;
pub mod text;
pub mod thread;
pub mod token;
pub mod totals;
pub mod weight;

pub use accelerator::{
    AcceleratorProfile, DeviceTimeline, KernelDims, KernelKind, KernelPart, KernelRow, ProfileFormat,
    ProfileLines,
};
pub use blueprint::{Blueprint, Tensor};
pub use capture::{ALWAYS, Capture, CaptureOption, Ends};
pub use ceiling::{
    BoardMemory, Ceiling, CeilingKind, CeilingLoad, CeilingPoint, CeilingSource, CeilingUnit, CurveEnd, Doubt,
};
pub use controller::{ControllerLimit, ControllerStep, MeasuredSlowdown, StepReason};
pub use counter::{Absence, Counter, Counts};
pub use direct::{DirectTotals, NotDirect, OperatorProbes, Why};
pub use duty::{Duty, ProbeSwitch, SwitchReason, Traced};
pub use edit::{Edit, EditKind};
pub use ending::{EndingKind, EndingRow, MAX_ENDINGS};
pub use expert::{Experts, Selection};
pub use fact::{Fact, FactScope, FactValue, Facts, Rise, rises};
pub use filter::{Filter, FilterOn, FilterPlace};
pub use gauge::{Gauge, GaugeKind, GaugeUnit};
pub use graph::{
    Backend, GraphCallId, GraphCalls, Layer, Node, NodeIdx, Role, Topologies, Topology, TopologyId,
};
pub use health::{
    Damage, DamageKind, End, EndReason, Health, MAX_SKIPPED, Piece, ProbeCost, RefusedPlan, Skipped,
};
pub use housekeeping::{Housekeeping, HousekeepingKind};
pub use loss::{
    CaptureLedger, CpuUseLedger, ExpertLedger, Ledger, NestedLedger, PartLedger, ReasonLedger, SchedLedger,
};
pub use nested::NestedCalls;
pub use op::{SpanId, Spans, WAIT_UNKNOWN};
pub use part::Parts;
pub use refusal::Refusal;
pub use sched::{
    CpuUse, InterruptKind, Interrupts, OTHER_TASKS, Sched, Task, TaskId, ThreadState, ThreadStates, Turns,
};
pub use session::{Level, Library, LibraryRole, Probe, Process, Session};
pub use start_up::{StartMoment, StartSample};
pub use text::{Text, Texts};
pub use thread::{Thread, ThreadId, Threads};
pub use token::{DecodeFunction, LlamaCallId, LlamaCalls};
pub use weight::{Buffer, BufferId, Memory};

/// Everything known of one session.
#[derive(Debug, Default)]
pub struct Model {
    /// Processes, machine and times.
    pub session: Session,
    /// Capture options and filters for operators.
    pub capture: Capture,
    /// When they were captured.
    pub duty: Duty,
    /// Changes by the controller, in order of time.
    pub controller_steps: Vec<ControllerStep>,
    /// Interned strings.
    pub texts: Texts,
    /// Threads, in order of first appearance.
    pub threads: Threads,
    /// Decode calls, by start.
    pub llama_calls: LlamaCalls,
    /// Topologies of graphs.
    pub topologies: Topologies,
    /// Buffers that hold weights; empty when not recorded.
    pub buffers: Vec<Buffer>,
    /// Graph-level calls, by start.
    pub graph_calls: GraphCalls,
    /// Operator spans, by graph call, then thread, then start.
    pub spans: Spans,
    /// Calls of backend functions inside operators.
    pub nested_calls: NestedCalls,
    /// Experts that routers selected, by graph call, node, token, rank.
    pub experts: Experts,
    /// Parts of the batches of decode calls, by call, then index.
    pub parts: Parts,
    /// Gauges with their samples, in the agent's order.
    pub gauges: Vec<Gauge>,
    /// What the kernel's scheduler did with the engine's threads.
    pub sched: Sched,
    /// The board's best results, as measured.
    pub ceilings: Vec<Ceiling>,
    /// The memory's bandwidth by the board's profile. Not in a stream: the host adds it.
    pub board_memory: Option<BoardMemory>,
    /// Profiles by accelerators' own profilers; from files, not from the stream.
    pub accelerators: Vec<AcceleratorProfile>,
    /// Settings of the system and of the engine's processes.
    pub facts: Facts,
    /// How engines ended, and why nothing was traced; empty in recordings of older agents.
    pub endings: Vec<EndingRow>,
    /// Edits of the memory of contexts, by time.
    pub edits: Vec<Edit>,
    /// What the engines did for themselves between operators, by start.
    pub housekeeping: Vec<Housekeeping>,
    /// Calls of which outputs were taken, in their order, and the number of these outputs. Empty if calls may
    /// be missing: then what is not in it shows nothing.
    pub taken: Vec<(LlamaCallId, u32)>,
    /// Samples between the exec of processes and their first calls, by time.
    pub start_ups: Vec<StartSample>,
    /// Losses and damage.
    pub health: Health,
}
