//! Results of a recording: pure functions of its tables.
//!
//! Stage: analysis. From: [`profinfer_trace::model`]. To: [`Analysis`], which the views write;
//! [`findings`] judges both. Promises: the same model gives the same result. Nothing here panics on
//! a model that keeps the promises of `model`. Every table is read in single passes with dense
//! arrays, and what several results need is computed once.
//!
//! Folders: `stats` knows numbers only, `shared` holds what several results need, `results` what a
//! user knows. `compare`, `predict`, `tune` and [`findings`] use the results.

pub mod compare;
pub mod findings;
pub mod ladder;
pub mod predict;
pub mod replay;
mod results;
mod shared;
mod stats;
pub mod tune;

pub use results::{
    accelerator, bound, budget, capture, ceiling, cost, counter, critical_path, dag, duty, ending, engine,
    excerpt, expert, fact, gauge, graph, health, kv, module, nested, op, request, roof, sched, server,
    speculative, steps, thread, token, track, weight, work,
};
pub use shared::{cpu_use, empty, execution, group, per_node, phase, program, session, tally, tracing};
pub use stats::percentile;

use profinfer_trace::model::Model;

/// All results for one session.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    /// What was lost. Every view shows it first.
    pub health: health::Health,
    /// How the session ended, and why nothing was traced if so.
    pub ending: ending::Ending,
    /// Length of the session, ns.
    pub duration_ns: u64,
    /// Engine and version, by process.
    pub engine: Vec<engine::Engine>,
    /// Buffers that hold the weights, by context.
    pub weight: Vec<weight::Weights>,
    pub phases: phase::Phases,
    /// Which operators were captured.
    pub capture: capture::Capture,
    pub token: token::Token,
    pub server: server::Server,
    /// By draft and target.
    pub speculative: Vec<speculative::Speculative>,
    /// Time per token by class; accounts for every nanosecond.
    pub budget: budget::Budget,
    pub graph: Vec<graph::Graph>,
    /// What grows with the context.
    pub kv: Vec<kv::Kv>,
    pub op: op::Op,
    /// Confidence intervals by operator type, by row of `op.types`. Empty where every call was
    /// traced.
    pub op_estimate: Vec<duty::types::TypeEstimate>,
    /// Bytes and operations of every execution.
    pub work: work::Works,
    /// Rates that the operators achieved.
    pub achieved: work::Achieved,
    /// Ceilings that apply to each phase.
    pub roof: roof::Roofs,
    /// What limits each operator, by row of `op.operators`.
    pub bound: Vec<bound::Bound>,
    /// Time by module and layer.
    pub module: module::Modules,
    /// Operators by shape across backends, and the profiles that accelerators wrote.
    pub accelerator: accelerator::Accelerators,
    /// Time that operators spend in functions of backends.
    pub nested: Vec<nested::Nested>,
    /// Routing to experts, for models that have them.
    pub expert: Vec<expert::Routing>,
    pub thread: Vec<thread::Thread>,
    /// Graphs with the times of their nodes.
    pub dag: Vec<dag::Dag>,
    /// Tracks of the timeline.
    pub track: Vec<track::Track>,
    /// Counter sums by operator type.
    pub counted: Vec<counter::Counted>,
    pub gauge: Vec<gauge::Gauge>,
    /// Configuration of the system and of the engine's processes.
    pub conditions: fact::Conditions,
    /// Measured ceilings of the board.
    pub ceiling: ceiling::Ceilings,
    /// What the kernel's scheduler did with the engine's threads.
    pub sched: sched::Sched,
    /// Cost of tracing.
    pub cost: cost::Cost,
    /// What calls would take without what delayed them.
    pub replay: replay::Replay,
    /// Where the time of tokens and prompts goes.
    pub ladder: ladder::Ladders,
    /// The ladders of all pieces of a session of which the other results cover one; whoever reads the
    /// pieces sets them.
    pub ladders_of_pieces: Vec<(ladder::Question, ladder::LadderSum)>,
}

impl Analysis {
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        Self::compute_parallel(model, |budget, rest| (budget(), rest()))
    }

    /// Computes the results in two parts, which `run` may run in parallel. One part is the budget:
    /// it takes longest and needs only the phases. The other part is all the rest.
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

    /// All results but the budget and the phases.
    fn without_budget(model: &Model, phases: &phase::Phases) -> Self {
        let executions = execution::Executions::compute(model);
        let groups = group::Groups::compute(model, phases);
        let tallies = tally::Tallies::compute(model, &groups, &executions);
        let server = server::Server::compute(model, phases);
        let token = token::Token::compute(model, phases, &executions, &server);
        let conditions = fact::Conditions::compute(model, phases);
        let capture = capture::Capture::compute(model, &duty::coverage(model, phases));
        let op = op::Op::compute(model, phases, &groups, &executions, &tallies);
        let work = work::Works::compute(model);
        let achieved = work::Achieved::compute(model, &work, &op, &executions, &tallies);
        let ceiling = ceiling::Ceilings::compute(model);
        let roof = roof::Roofs::compute(model, phases, &executions, &token, &op, &achieved, &ceiling);
        let counted = bound::Counted::compute(model, phases, &op, &groups, &tallies);
        let disturbed = budget::disturbed(model, &executions, &tallies, &op);
        let places = module::Places::compute(model);
        let module = module::Modules::compute(model, &groups, &tallies, &op, &achieved, &places);
        let op_estimate = duty::types::types(model, phases, &op, &executions, &tallies);
        let kv = kv::kv(model, phases, &executions);
        let nested = nested::nested_calls(model, phases, &executions);
        let dag = dag::dags(model, &groups, &executions, &tallies, &places);
        let accelerator = accelerator::Accelerators::compute(model, &groups, &tallies, &work, &achieved);
        let ending = ending::Ending::compute(model);
        let mut replay = replay::Replay::compute(model, phases, &conditions, &places);
        replay.add_work(&groups, &tallies, &achieved);
        let ladder = ladder::Ladders::compute(model, phases, &replay, &token.requests, &roof);
        let cost = cost::Cost::compute(model, &conditions, phases, &replay, &ladder);
        let bound = bound::bounds(&op, &achieved, &roof, &counted, &disturbed, &cost);
        // Free them before the tracks are built: both are equally large.
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
            conditions,
            ceiling,
            sched: sched::Sched::compute(model, phases),
            cost,
            replay,
            ladder,
            ..Self::default()
        }
    }
}
