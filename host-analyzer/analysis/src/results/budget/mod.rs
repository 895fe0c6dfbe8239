//! The budget: every nanosecond of a token in exactly one class, for each thread and for the token
//! itself.
//!
//! Stage: analysis. From: `llama_decode` calls, graph calls, spans, the scheduler level, cost of
//! the probes. To: [`Budget`]. Promises: the classes of a token sum to its time to the nanosecond,
//! and so do those of each thread in it. A token that was not completely traced has its graphs in
//! the class `not_traced`. The sums of a phase cover the completely traced tokens, if there are
//! any.
//!
//! A token is the time from the end of one `llama_decode` call to the end of the next (`interval`).
//! The spans of a thread show its part: work, then waiting until the last thread arrives at the
//! barrier, then anything else until its next span. Waiting is split by why the last thread was
//! late (`lateness`). The token's own time follows the last arrivers (`wall`): a delay of any other
//! thread costs nothing, because that thread would have waited anyway.

mod arrival;
mod call;
mod class;
mod disturbed;
mod habit;
mod lateness;
mod off_cpu;
mod orderly;
mod thread;
mod token;
mod wall;
mod worked;

use std::collections::{BTreeMap, HashMap};

use crate::shared::housekeeping::OfThreads;
use crate::shared::interval;
use crate::shared::phase::{Phase, Phases};
use call::CallRows;
pub use class::{Class, Parts};
pub use disturbed::disturbed;
use habit::Habits;
use lateness::Causes;
use off_cpu::Scheduler;
use profinfer_trace::model::{FactScope, FactValue, Model, Text, ThreadId, Traced};
use thread::ThreadWalk;
use token::Scratch;
use worked::{WorkSums, Worked};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Budget {
    /// The scheduler level was recorded. Without it no time is classified as preempted, throttled,
    /// interrupted or blocked.
    pub scheduler: bool,
    /// Names of the classes, in the order of the columns of every time by class.
    pub classes: Vec<&'static str>,
    /// Per phase that has calls.
    pub phases: Vec<PhaseBudget>,
    /// Per successful `llama_decode` call, by process and end.
    pub tokens: Vec<TokenBudget>,
}

/// Budget of the calls of one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseBudget {
    pub phase: Phase,
    /// Calls that the figures cover: completely traced ones, or all where none was.
    pub calls: u64,
    /// All calls of the phase.
    pub all_calls: u64,
    /// Sum of their times, ns: in decode, each from the end of the previous call.
    pub time_ns: u64,
    /// That time by class, along the last arrivers.
    pub wall: Parts,
    /// Work in that time by operator type, longest first. It sums to the class `work`, or to
    /// `work_and_wait` without end probes.
    pub work: Vec<Work>,
    /// The same time on each thread.
    pub threads: Vec<ThreadBudget>,
}

/// Work of one operator type along the last arrivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// Description by the engine.
    pub desc: String,
    /// ns.
    pub ns: u64,
}

/// One thread in the calls of one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadBudget {
    /// Thread id of the kernel. `None` for all threads beyond the limit, for an engine that
    /// continuously creates new ones.
    pub tid: Option<u32>,
    /// It made the `llama_decode` calls.
    pub calls_tokens: bool,
    /// Sum of the times of the tokens in which it took part, ns.
    pub time_ns: u64,
    /// That time by class.
    pub parts: Parts,
}

/// Budget of one `llama_decode` call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBudget {
    /// Row in `llama_calls`.
    pub call: u32,
    pub phase: Phase,
    /// Its operators were completely captured.
    pub traced: bool,
    /// Start of its time, ns from the start of the session.
    pub start_ns: u64,
    /// ns.
    pub time_ns: u64,
    /// That time by class, along the last arrivers.
    pub wall: Parts,
}

/// Time that the probes of an operator take, ns.
#[derive(Debug, Clone, Copy, Default)]
struct Costs {
    /// Within the operator's time.
    inside: u64,
    /// Between it and the next one.
    outside: u64,
}

/// Threads that are listed individually. An engine without a thread pool creates new ones for every
/// graph.
const MAX_THREADS: usize = 256;

impl Budget {
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases) -> Self {
        let mut rows = CallRows::of_all(model);
        let habits = Habits::compute(model, &phases.tracing, &mut rows);
        let scheduler = Scheduler::compute(model);
        let all = Tokens { model, phases, scheduler: &scheduler, habits: &habits, rows: &rows };
        let (sums, tokens) =
            if scheduler.has_rows() { all.classify::<true>() } else { all.classify::<false>() };
        let classes = Class::ALL.map(Class::key).to_vec();
        Self { scheduler: model.sched.recorded, classes, phases: sums.phases(model), tokens }
    }

    /// One phase, if it has calls.
    #[must_use]
    pub fn phase(&self, phase: Phase) -> Option<&PhaseBudget> {
        self.phases.iter().find(|p| p.phase == phase)
    }
}

/// Data that determines tokens.
struct Tokens<'a> {
    model: &'a Model,
    phases: &'a Phases,
    scheduler: &'a Scheduler<'a>,
    habits: &'a Habits,
    /// Rows of the spans, by graph call.
    rows: &'a [CallRows],
}

impl Tokens<'_> {
    /// All tokens, and their sums. `SCHED`: the scheduler level has rows.
    fn classify<const SCHED: bool>(&self) -> (Sums, Vec<TokenBudget>) {
        let Self { model, phases, scheduler, habits, rows } = *self;
        let cost = model.health.probe_cost;
        let inside = cost.map_or(0, |c| c.inside_ns);
        let costs = Costs { inside, outside: cost.map_or(0, |c| c.pair_ns.saturating_sub(inside)) };
        let speeds = speeds(model);
        let left_out = model.capture.nodes_left_out();
        let between = if left_out { Class::NotTraced } else { Class::BetweenOperators };
        let causes = Causes::<SCHED> { model, scheduler, habits, speeds: &speeds, inside, between };
        let intervals = interval::intervals(model, phases);
        let waits = OfThreads::waits(model);
        let mut sums = Sums::default();
        let mut tokens = Vec::with_capacity(intervals.len());
        let mut scratch = Scratch::default();
        for interval in &intervals {
            let traced = phases.tracing.llama_calls[interval.call.0 as usize] == Traced::Whole;
            let way = ThreadWalk { model, causes: &causes, costs, interval, waits: &waits, traced };
            tokens.push(sums.token(&way, rows, &mut scratch));
        }
        (sums, tokens)
    }
}

#[derive(Default)]
struct Sum {
    calls: u64,
    time_ns: u64,
    wall: Parts,
    work: WorkSums,
    threads: BTreeMap<Option<ThreadId>, (bool, u64, Parts)>,
}

/// By [`Phase::index`]: traced tokens, and others.
#[derive(Default)]
struct Sums([[Sum; 2]; Phase::COUNT]);

impl Sums {
    fn token<const SCHED: bool>(
        &mut self,
        way: &ThreadWalk<'_, SCHED>,
        rows: &[CallRows],
        scratch: &mut Scratch,
    ) -> TokenBudget {
        let (model, interval) = (way.model, way.interval);
        let sum = &mut self.0[interval.phase.index()][usize::from(!way.traced)];
        let time_ns = interval.end.saturating_sub(interval.start);
        let caller = model.llama_calls.thread[interval.call.0 as usize];
        let threads = threads(way, rows, caller);
        let mut worked = Worked { model, sums: &mut sum.work };
        let parts_of_token = way.token(&threads, rows, scratch, &mut worked);
        sum.calls += 1;
        sum.time_ns = sum.time_ns.saturating_add(time_ns);
        sum.wall.add_all(&parts_of_token.wall);
        for (thread, parts) in threads.into_iter().zip(&parts_of_token.threads) {
            let one_by_one = thread == caller || model.threads.len() <= MAX_THREADS;
            let row = sum.threads.entry(one_by_one.then_some(thread)).or_default();
            row.0 |= thread == caller;
            row.1 = row.1.saturating_add(time_ns);
            row.2.add_all(parts);
        }
        TokenBudget {
            call: interval.call.0,
            phase: interval.phase,
            traced: way.traced,
            start_ns: interval.start.saturating_sub(model.session.start_ns),
            time_ns,
            wall: parts_of_token.wall,
        }
    }

    fn phases(self, model: &Model) -> Vec<PhaseBudget> {
        let of = |(phase, [traced, others]): (Phase, [Sum; 2])| {
            let all_calls = traced.calls + others.calls;
            let sum = if traced.calls > 0 { traced } else { others };
            PhaseBudget {
                phase,
                calls: sum.calls,
                all_calls,
                time_ns: sum.time_ns,
                wall: sum.wall,
                work: work(model, &sum.work),
                threads: sum
                    .threads
                    .into_iter()
                    .map(|(thread, (calls_tokens, time_ns, parts))| ThreadBudget {
                        tid: thread.map(|t| model.threads.get(t).tid),
                        calls_tokens,
                        time_ns,
                        parts,
                    })
                    .collect(),
            }
        };
        let any = |(_, sums): &(Phase, [Sum; 2])| sums.iter().any(|sum| sum.calls > 0);
        Phase::ALL.into_iter().zip(self.0).filter(any).map(of).collect()
    }
}

/// The sums of nodes by operator type.
fn work(model: &Model, of_nodes: &[Vec<u64>]) -> Vec<Work> {
    let mut sums: HashMap<(Text, Text), u64> = HashMap::new();
    for (topology, of_nodes) in model.topologies.rows.iter().zip(of_nodes) {
        for (node, ns) in topology.nodes.iter().zip(of_nodes) {
            *sums.entry((node.op, node.desc)).or_default() += ns;
        }
    }
    let text = |t: Text| model.texts.get(t).to_owned();
    let mut rows: Vec<_> = sums
        .into_iter()
        .filter(|(_, ns)| *ns > 0)
        .map(|((op, desc), ns)| Work { op: text(op), desc: text(desc), ns })
        .collect();
    rows.sort_by(|a, b| (b.ns, &a.op, &a.desc).cmp(&(a.ns, &b.op, &b.desc)));
    rows
}

/// The threads that took part in a token: the caller first, then those that ran operators.
fn threads<const SCHED: bool>(
    way: &ThreadWalk<'_, SCHED>,
    rows: &[CallRows],
    caller: ThreadId,
) -> Vec<ThreadId> {
    let mut found = vec![caller];
    for graph in way.interval.graphs.iter().filter(|_| way.traced) {
        for thread in rows[graph.0 as usize].threads(&way.model.spans) {
            if !found.contains(&thread) {
                found.push(thread);
            }
        }
    }
    found
}

/// Relative speed of each CPU, in one unit for all: the kernel's capacity, else the highest clock;
/// 0 where neither is known.
#[must_use]
pub fn speeds(model: &Model) -> Vec<u64> {
    ["cpu.capacity", "cpu.frequency.max"]
        .into_iter()
        .map(|name| {
            let Some(name) = model.texts.find(name) else { return Vec::new() };
            (0..model.session.cpus)
                .map(|cpu| match model.facts.latest(FactScope::Cpu(cpu), name) {
                    Some(FactValue::Number(n)) => n,
                    _ => 0,
                })
                .collect()
        })
        .find(|speeds: &Vec<u64>| speeds.iter().any(|s| *s > 0))
        .unwrap_or_default()
}
