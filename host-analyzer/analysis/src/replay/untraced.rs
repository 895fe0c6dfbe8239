//! Calls whose operators were not captured: their usual time is that of captured calls of the same
//! graph, and the scheduler level shows what delayed them.

use std::collections::HashMap;

use super::CallReplay;
use super::away;
use super::cause::{Amounts, Cause};
use super::lookup::Lookup;
use super::usual::Usual;
use profinfer_trace::model::{ThreadId, TopologyId};

/// Sums over the captured calls of one graph.
#[derive(Debug, Clone, Copy, Default)]
struct OfGraph {
    calls: u64,
    usual: Usual,
}

/// Usual times of graphs, by topology.
#[derive(Debug, Default)]
pub(super) struct Graphs {
    rows: HashMap<TopologyId, OfGraph>,
    /// The same by number of nodes and phase, for a topology that was never captured: it differs in
    /// the number of cells.
    alike: HashMap<(u32, usize), OfGraph>,
}

impl Graphs {
    pub(super) fn add(&mut self, topology: Option<TopologyId>, alike: (u32, usize), usual: &Usual) {
        let rows = topology.map(|t| self.rows.entry(t).or_default());
        for row in rows.into_iter().chain([self.alike.entry(alike).or_default()]) {
            row.calls += 1;
            row.usual.add(usual);
        }
    }

    /// Mean of the captured calls, without probes.
    pub(super) fn usual(&self, topology: Option<TopologyId>, alike: (u32, usize)) -> Option<Usual> {
        let row = topology.and_then(|t| self.rows.get(&t)).or_else(|| self.alike.get(&alike))?;
        let mean = |ns: u64| ns / row.calls.max(1);
        Some(Usual {
            work: mean(row.usual.work),
            imbalance: mean(row.usual.imbalance),
            dispatch: mean(row.usual.dispatch),
            probes: 0,
        })
    }
}

/// Adds a graph from `from` to `to` that the threads of `team` computed.
pub(super) fn add(
    call: &mut CallReplay,
    lookup: &mut Lookup<'_>,
    team: &[ThreadId],
    (from, to): (u64, u64),
    usual: Option<Usual>,
) {
    let time = to.saturating_sub(from);
    let claims = delays(lookup, team, (from, to));
    let Some(usual) = usual else {
        let taken = claims.total().min(time);
        claims.share(taken, &mut call.caused);
        claims.share(taken, &mut call.alone);
        call.not_recorded_ns = call.not_recorded_ns.saturating_add(time - taken);
        return;
    };
    let excess = time.saturating_sub(usual.total());
    call.usual.add(&shrunk(usual, time - excess));
    let claimed = excess.min(claims.total());
    let none = claims.share(claimed, &mut call.caused);
    claims.share(claimed, &mut call.alone);
    call.unexplained_ns = call.unexplained_ns.saturating_add(excess - claimed + none);
}

/// The usual time of a graph that took less than usual: all parts in proportion.
fn shrunk(usual: Usual, time: u64) -> Usual {
    let total = usual.total();
    if total <= time {
        return usual;
    }
    let part = |ns: u64| u64::try_from(u128::from(ns) * u128::from(time) / u128::from(total)).unwrap_or(0);
    let (imbalance, dispatch) = (part(usual.imbalance), part(usual.dispatch));
    Usual { work: time.saturating_sub(imbalance + dispatch), imbalance, dispatch, probes: 0 }
}

/// Time in which at least one thread was off the CPU, by the cause of the first of them: the others
/// wait for it at the next barrier.
fn delays(lookup: &mut Lookup<'_>, team: &[ThreadId], (from, to): (u64, u64)) -> Amounts {
    let mut rows: Vec<_> = team.iter().flat_map(|t| lookup.rows(*t, from, to)).copied().collect();
    // A sleeping thread waits for the others.
    rows.retain(|a| !matches!(a.cause, Cause::Asleep | Cause::WakeUp));
    away::union(&mut rows, (from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_that_took_less_is_shrunk_to_its_time() {
        let usual = Usual { work: 60, imbalance: 20, dispatch: 20, probes: 0 };
        assert_eq!(shrunk(usual, 100), usual);
        let half = shrunk(usual, 51);
        assert_eq!((half.work, half.imbalance, half.dispatch, half.total()), (31, 10, 10, 51));
    }
}
