//! Results: pure functions of the model.
//!
//! Stage: analysis. From: `model`. To: [`Analysis`], which the views write out. Promises: the same model
//! gives the same result; nothing here panics on a model that keeps the promises of `model`; each table is read
//! in single passes with dense arrays, and what several results need is computed once.

pub mod budget;
mod context;
pub mod cost;
pub mod counter;
pub mod critical_path;
pub mod dag;
pub mod engine;
pub mod excerpt;
pub mod execution;
pub mod expert;
pub mod gauge;
pub mod graph;
pub mod group;
pub mod health;
pub mod kv;
mod name;
pub mod nested;
pub mod op;
pub mod percentile;
pub mod phase;
mod rate;
pub mod request;
pub mod session;
pub mod speculative;
pub mod tally;
pub mod thread;
pub mod token;
pub mod track;
pub mod weight;

use crate::model::Model;

/// All results for one session.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    /// What was lost; every view shows it first.
    pub health: health::Health,
    /// Length of the session, ns.
    pub duration_ns: u64,
    /// Which engine each process runs.
    pub engine: Vec<engine::Engine>,
    /// Where the weights of each context lie.
    pub weight: Vec<weight::Weights>,
    /// Phase of every call.
    pub phases: phase::Phases,
    /// Token level.
    pub token: token::Token,
    /// Speculative decoding, by draft and target.
    pub speculative: Vec<speculative::Speculative>,
    /// Where every nanosecond of every token went.
    pub budget: budget::Budget,
    /// Graph level.
    pub graph: Vec<graph::Graph>,
    /// What grows with the context.
    pub kv: Vec<kv::Kv>,
    /// Operator level.
    pub op: op::Op,
    /// What operators had functions of backends do.
    pub nested: Vec<nested::Nested>,
    /// Experts, of models that have them.
    pub expert: Vec<expert::Routing>,
    /// Threads.
    pub thread: Vec<thread::Thread>,
    /// Graphs with the times of their nodes.
    pub dag: Vec<dag::Dag>,
    /// Tracks of the timeline.
    pub track: Vec<track::Track>,
    /// What each type of operator counted.
    pub counted: Vec<counter::Counted>,
    /// What the board's sensors said.
    pub gauge: Vec<gauge::Gauge>,
    /// What the measuring cost.
    pub cost: cost::Cost,
}

impl Analysis {
    /// The results for `model`.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let phases = phase::Phases::of(model);
        let executions = execution::Executions::of(model);
        let groups = group::Groups::of(model, &phases);
        let tallies = tally::Tallies::of(model, &groups, &executions);
        let token = token::Token::of(model, &phases, &executions);
        let cost = cost::Cost::of(model, &phases, &executions, &token);
        Self {
            health: health::health(model),
            duration_ns: session::duration_ns(model),
            engine: engine::engines(model),
            weight: weight::weights(model),
            token,
            speculative: speculative::speculative(model, &phases),
            budget: budget::Budget::of(model, &phases),
            kv: kv::kv(model, &phases, &executions),
            graph: graph::graphs(model),
            op: op::Op::of(model, &groups, &executions, &tallies),
            nested: nested::nested_calls(model, &phases, &executions),
            expert: expert::routings(model, &phases),
            thread: thread::threads(model, &phases),
            dag: dag::dags(model, &groups, &executions, &tallies),
            track: track::tracks(model),
            counted: counter::counted(model, &phases),
            gauge: gauge::gauges(model, &phases),
            cost,
            phases,
        }
    }
}
