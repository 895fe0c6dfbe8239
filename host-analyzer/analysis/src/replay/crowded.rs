//! Teams of one process that make each other's threads sleep at barriers.
//!
//! libgomp lets threads spin at a barrier only while the threads of all its teams are not more than the CPUs;
//! beyond that they sleep at once, and each barrier has to wake them. A team that waits for its next graph
//! counts as long as it lives, also while it sleeps, and each thread that calls the engine has a team of its
//! own. Source: libgomp, `gomp_managed_threads`, and `do_spin` of config/linux/wait.h.
//!
//! Where threads sleep because the environment asks for it, other teams change nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::away::AwayTimes;
use super::{CallReplay, Cause};
use crate::results::fact::Conditions;
use profinfer_trace::model::{Model, ThreadId};

/// Gives the wake-ups of calls that lie in such a time to the other teams.
pub(super) fn assign(model: &Model, away: &AwayTimes, conditions: &Conditions, calls: &mut [CallReplay]) {
    let mut teams: Option<BTreeMap<u32, Teams>> = None;
    for call in calls.iter_mut().filter(|c| c.caused.get(Cause::WakeUp) > 0) {
        let pid = call.pid(model);
        let Some(cpus) = away.cpus.get(&pid).filter(|_| may_spin(conditions, pid)) else { continue };
        let of_process = teams.get_or_insert_with(|| by_process(model)).get(&pid);
        let bounds = call.bounds(model);
        let Some(teams) = of_process.filter(|teams| teams.threads(bounds.1) > *cpus) else { continue };
        let caller = model.llama_calls.thread[call.call.0 as usize];
        let cause =
            if teams.others_compute(caller, bounds) { Cause::TooManyThreads } else { Cause::IdleTeam };
        call.caused.rename(Cause::WakeUp, cause);
        call.alone.rename(Cause::WakeUp, cause);
    }
}

/// The environment of the process was read, and does not ask for threads that sleep.
fn may_spin(conditions: &Conditions, pid: u32) -> bool {
    conditions.process(pid).is_some_and(|p| p.variables.value().is_some() && !p.asks_for_sleep())
}

/// The threads of a process that compute graphs which another thread began.
#[derive(Debug, Default)]
struct Teams {
    /// When each of them was first and last seen, ns; sorted, each on its own.
    first: Vec<u64>,
    last: Vec<u64>,
    /// Graphs by the thread that called for them, by start, ns.
    graphs: BTreeMap<ThreadId, Vec<(u64, u64)>>,
}

impl Teams {
    /// Threads that libgomp counts at a time: those of its teams, and one of those that called.
    fn threads(&self, at: u64) -> usize {
        let began = self.first.partition_point(|ns| *ns <= at);
        let ended = self.last.partition_point(|ns| *ns <= at);
        1 + began.saturating_sub(ended)
    }

    /// Whether a graph of another caller was computed in this time.
    fn others_compute(&self, caller: ThreadId, (from, to): (u64, u64)) -> bool {
        let mut others = self.graphs.iter().filter(|(other, _)| **other != caller);
        others.any(|(_, graphs)| {
            let before = graphs.partition_point(|(start, _)| *start < to);
            before.checked_sub(1).is_some_and(|last| graphs[last].1 > from)
        })
    }
}

fn by_process(model: &Model) -> BTreeMap<u32, Teams> {
    let mut of_process: BTreeMap<u32, Teams> = BTreeMap::new();
    let (mut callers, mut computed) = (BTreeSet::new(), BTreeSet::new());
    for (call, rows) in model.spans.by_call() {
        let caller = model.graph_calls.thread[call.0 as usize];
        callers.insert(caller);
        computed.extend(model.spans.by_thread(rows).map(|(thread, _)| thread));
        let teams = of_process.entry(model.threads.get(caller).pid).or_default();
        teams.graphs.entry(caller).or_default().push(model.graph_calls.bounds(call));
    }
    let states = &model.sched.states;
    let mut seen: BTreeMap<ThreadId, (u64, u64)> = BTreeMap::new();
    for i in 0..states.len() {
        let (start, end) = (states.start_ns[i], states.start_ns[i].saturating_add(states.duration_ns[i]));
        let row = seen.entry(states.thread[i]).or_insert((start, end));
        *row = (row.0.min(start), row.1.max(end));
    }
    for thread in computed.difference(&callers) {
        let Some((first, last)) = seen.get(thread) else { continue };
        if let Some(teams) = of_process.get_mut(&model.threads.get(*thread).pid) {
            teams.first.push(*first);
            teams.last.push(*last);
        }
    }
    for teams in of_process.values_mut() {
        teams.first.sort_unstable();
        teams.last.sort_unstable();
        teams.graphs.values_mut().for_each(|graphs| graphs.sort_unstable());
    }
    of_process
}

#[cfg(test)]
mod tests {
    use super::*;

    fn teams() -> Teams {
        let graphs = [(0, vec![(100, 200)]), (1, vec![(300, 400), (500, 600)])];
        Teams {
            first: vec![110, 310],
            last: vec![650, 700],
            graphs: graphs.map(|(caller, graphs)| (ThreadId(caller), graphs)).into(),
        }
    }

    #[test]
    fn a_team_counts_until_its_threads_end() {
        assert_eq!([50, 150, 400, 650, 800].map(|at| teams().threads(at)), [1, 2, 3, 2, 1]);
    }

    #[test]
    fn graphs_of_other_callers_at_the_same_time() {
        let others = |caller, time| teams().others_compute(ThreadId(caller), time);
        assert!(others(1, (150, 310)) && others(0, (550, 900)) && others(2, (0, 101)));
        assert!(!others(1, (200, 310)) && !others(0, (400, 500)) && !others(0, (100, 200)));
    }
}
