//! Results: pure functions of the model.
//!
//! Stage: analysis. From: [`profinfer_trace::model`]. To: [`Analysis`], which the views write out; [`findings`] judges by both. Promises: the same model
//! gives the same result; nothing here panics on a model that keeps the promises of `model`; each table is read
//! in single passes with dense arrays, and what several results need is computed once.

pub mod compare;
pub mod findings;
pub mod predict;
mod results;
mod shared;
mod stats;
pub mod tune;

pub use results::{
    accelerator, bound, budget, capture, ceiling, cost, counter, critical_path, dag, duty, ending, engine,
    excerpt, expert, fact, gauge, graph, health, kv, module, nested, op, request, roof, sched, server,
    speculative, thread, token, track, weight, work,
};
pub use shared::{empty, execution, group, per_node, phase, session, tally, tracing};
pub use stats::percentile;

use profinfer_trace::model::Model;

/// All results for one session.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    /// What was lost; every view shows it first.
    pub health: health::Health,
    /// How the session ended; where nothing was traced, why.
    pub ending: ending::Ending,
    /// Length of the session, ns.
    pub duration_ns: u64,
    /// Which engine each process runs.
    pub engine: Vec<engine::Engine>,
    /// Where the weights of each context lie.
    pub weight: Vec<weight::Weights>,
    /// Phase of every call.
    pub phases: phase::Phases,
    /// What of the operators was captured.
    pub capture: capture::Capture,
    /// Token level.
    pub token: token::Token,
    /// Requests by slot.
    pub server: server::Server,
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
    /// Intervals of the types of operators, by row of `op.types`; empty where every call was traced.
    pub op_estimate: Vec<duty::types::TypeEstimate>,
    /// Bytes and operations of every execution.
    pub work: work::Works,
    /// What the operators achieved with them.
    pub achieved: work::Achieved,
    /// What the board could do at best in each phase.
    pub roof: roof::Roofs,
    /// What bounds each operator, by row of `op.operators`.
    pub bound: Vec<bound::Bound>,
    /// What modules and layers took.
    pub module: module::Modules,
    /// Operators by shape across backends, and what accelerators' own profiles say.
    pub accelerator: accelerator::Accelerators,
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
    /// What the system and the engine's processes were set to.
    pub conditions: fact::Conditions,
    /// What the board can do at best.
    pub ceiling: ceiling::Ceilings,
    /// What the kernel's scheduler did with the engine's threads.
    pub sched: sched::Sched,
    /// What the measuring cost.
    pub cost: cost::Cost,
}

impl Analysis {
    /// The results for `model`.
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        Self::compute_parallel(model, |budget, rest| (budget(), rest()))
    }

    /// The same in two parts, which `run` may run side by side: the budget, which takes longest of all and needs nothing of the rest but
    /// phases, and the rest.
    pub fn compute_parallel(
        model: &Model,
        run: impl FnOnce(
            &(dyn Fn() -> budget::Budget + Sync),
            &(dyn Fn() -> Self + Sync),
        ) -> (budget::Budget, Self),
    ) -> Self {
        let phases = phase::Phases::compute(model);
        let (budget, rest) =
            run(&|| budget::Budget::compute(model, &phases), &|| Self::without_budget(model, &phases));
        Self { phases, budget, ..rest }
    }

    fn without_budget(model: &Model, phases: &phase::Phases) -> Self {
        let executions = execution::Executions::compute(model);
        let groups = group::Groups::compute(model, phases);
        let tallies = tally::Tallies::compute(model, &groups, &executions);
        let server = server::Server::compute(model, phases);
        let token = token::Token::compute(model, phases, &executions, &server);
        let cost = cost::Cost::compute(model, phases, &executions);
        let capture = capture::Capture::compute(model, &duty::coverage(model, phases));
        let op = op::Op::compute(model, phases, &groups, &executions, &tallies);
        let work = work::Works::compute(model);
        let achieved = work::Achieved::compute(model, &work, &op, &executions, &tallies);
        let ceiling = ceiling::Ceilings::compute(model);
        let roof = roof::Roofs::compute(model, phases, &executions, &token, &achieved, &ceiling);
        let counted = bound::Counted::compute(model, phases, &op, &groups, &tallies);
        let disturbed = budget::disturbed(model, &executions, &tallies, &op);
        let bound = bound::bounds(&op, &achieved, &roof, &counted, &disturbed, &cost);
        let places = module::Places::compute(model);
        let module = module::Modules::compute(model, &groups, &tallies, &op, &achieved, &places);
        let op_estimate = duty::types::types(model, phases, &op, &executions, &tallies);
        let kv = kv::kv(model, phases, &executions);
        let nested = nested::nested_calls(model, phases, &executions);
        let dag = dag::dags(model, &groups, &executions, &tallies, &places);
        let accelerator = accelerator::Accelerators::compute(model, &groups, &tallies, &work, &achieved);
        let ending = ending::Ending::compute(model);
        // They are as large as the tracks, which take their place.
        drop((executions, tallies));
        Self {
            op_estimate,
            health: health::health(model, &ending, &capture, &cost.slowdown, &accelerator.profiles),
            ending,
            capture,
            duration_ns: session::duration_ns(model),
            engine: engine::engines(model),
            weight: weight::weights(model),
            token,
            server,
            speculative: speculative::speculative(model, phases),
            kv,
            graph: graph::graphs(model),
            op,
            work,
            achieved,
            roof,
            bound,
            module,
            accelerator,
            nested,
            expert: expert::routings(model, phases),
            thread: thread::threads(model, phases),
            dag,
            track: track::tracks(model),
            counted: counter::counted(model, phases),
            gauge: gauge::gauges(model, phases),
            conditions: fact::Conditions::compute(model, phases),
            ceiling,
            sched: sched::Sched::compute(model, phases),
            cost,
            ..Self::default()
        }
    }
}
