//! `summary.json`: all statistics of a session.

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
use super::heading::Heading;
use super::health::Health;
use super::kv::Kv;
use super::ladder::{Ladder, LadderSum};
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

/// `summary.json`: all statistics of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Schema version.
    pub schema: u32,
    /// True until this version is released. Fields of a draft may still change.
    #[serde(default = "crate::draft")]
    pub draft: bool,
    /// Model, engine and machine in words.
    #[serde(default)]
    pub heading: Heading,
    /// What was recorded, and where.
    pub session: Session,
    /// How the session ended.
    pub ending: Ending,
    /// Losses and damage.
    pub health: Health,
    /// Which operators were captured.
    pub capture: Capture,
    /// How fast the engine is, why not faster, what would help, what was ruled out.
    pub findings: Findings,
    /// Where the time of tokens and prompts goes, step by step, a row per question and process.
    #[serde(default)]
    pub ladders: Vec<Ladder>,
    /// The ladders of all pieces of the recording (`--rotate`), a row per question; empty where the
    /// other fields cover all pieces.
    #[serde(default)]
    pub ladders_of_pieces: Vec<LadderSum>,
    /// The engine in each process.
    pub engines: Vec<Engine>,
    /// Where the weights of each context are in memory.
    pub weights: Vec<Weights>,
    /// Token level: `llama_decode` calls and requests.
    pub tokens: Tokens,
    /// Requests by slot.
    pub server: Server,
    /// Speculative decoding, a row per pair of draft and target.
    pub speculative: Vec<Speculative>,
    /// How decode calls grow with the context, a row per context.
    pub kv: Vec<Kv>,
    /// Critical path of each graph in dag.json of phase `decode`.
    pub critical_paths: Vec<CriticalPath>,
    /// Where the time of each token went.
    pub budget: Budget,
    /// Calls of complete graphs and of their splits.
    pub graphs: Vec<GraphRow>,
    /// Operators by type.
    pub op_types: Vec<OpType>,
    /// Operators by tensor name.
    pub operators: Vec<Operator>,
    /// Memory bandwidth utilisation, ceilings per phase, sums per module and layer.
    pub work: Work,
    /// Operators by shape on each backend, and accelerator profiles.
    pub backends: Accelerators,
    /// Backend functions called inside operators.
    pub nested_calls: Vec<NestedCalls>,
    /// Expert selections, a row per phase and context of a model with routers.
    pub experts: Vec<Routing>,
    /// Threads that computed operators.
    pub threads: Vec<Thread>,
    /// Counters by type of operator.
    pub counters: Vec<Counted>,
    /// The board's sensors.
    pub gauges: Vec<Gauge>,
    /// Configuration and state of the system and of the engine's processes.
    pub conditions: Conditions,
    /// Measured limits of the board.
    pub ceilings: Vec<Ceiling>,
    /// Scheduling of the engine's threads.
    pub sched: Sched,
    /// Content of the timeline files, for cross-checks.
    pub tracks: Vec<Track>,
    /// Overhead of the profiler.
    pub cost: Cost,
}
