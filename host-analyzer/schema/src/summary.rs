//! `summary.json`: every figure of a session except the single spans.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accelerator::Accelerators;
use super::budget::Budget;
use super::capture::Capture;
use super::ceiling::Ceiling;
use super::conditions::Conditions;
use super::cost::Cost;
use super::counter::Counted;
use super::critical_path::CriticalPath;
use super::ending::Ending;
use super::engine::Engine;
use super::expert::Routing;
use super::findings::Findings;
use super::gauge::Gauge;
use super::graph::GraphRow;
use super::health::Health;
use super::kv::Kv;
use super::nested::NestedCalls;
use super::op::{OpType, Operator};
use super::sched::Sched;
use super::server::Server;
use super::session::Session;
use super::speculative::Speculative;
use super::thread::Thread;
use super::tokens::Tokens;
use super::track::Track;
use super::weights::Weights;
use super::work::Work;

/// `summary.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of the schema.
    pub schema: u32,
    /// This version is not released: fields may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// What was recorded, and where.
    pub session: Session,
    /// How the session ended.
    pub ending: Ending,
    /// What is missing or damaged.
    pub health: Health,
    /// Which operators were captured.
    pub capture: Capture,
    /// How fast the engine is, why not faster, what would help, what was ruled out.
    pub findings: Findings,
    /// The engine in each process.
    pub engines: Vec<Engine>,
    /// Where the weights of each context are.
    pub weights: Vec<Weights>,
    /// Token level: calls and requests.
    pub tokens: Tokens,
    /// Requests by slot.
    pub server: Server,
    /// Speculative decoding, a row for each draft and target.
    pub speculative: Vec<Speculative>,
    /// Growth of a decode call with the context, a row for each context.
    pub kv: Vec<Kv>,
    /// Operators that wait for each other, a row for each graph of `dag.json` that decodes.
    pub critical_paths: Vec<CriticalPath>,
    /// Where the time of each token went.
    pub budget: Budget,
    /// Calls of whole graphs and of their splits.
    pub graphs: Vec<GraphRow>,
    /// Operators by type.
    pub op_types: Vec<OpType>,
    /// Operators by tensor name.
    pub operators: Vec<Operator>,
    /// Bytes, operations, and what the board could do.
    pub work: Work,
    /// Operators by shape on each backend, and accelerators' own profiles.
    pub backends: Accelerators,
    /// Calls of a backend inside operators.
    pub nested_calls: Vec<NestedCalls>,
    /// Selections of experts, a row for each phase and context of a model with routers.
    pub experts: Vec<Routing>,
    /// Threads that computed operators.
    pub threads: Vec<Thread>,
    /// Counters by type of operator.
    pub counters: Vec<Counted>,
    /// The board's sensors.
    pub gauges: Vec<Gauge>,
    /// Settings of the system and of the engine's processes.
    pub conditions: Conditions,
    /// What the board can do at best.
    pub ceilings: Vec<Ceiling>,
    /// What the scheduler did with the engine's threads.
    pub sched: Sched,
    /// Contents of the timeline files, for cross-checks.
    pub tracks: Vec<Track>,
    /// The profiler's own cost.
    pub cost: Cost,
}
