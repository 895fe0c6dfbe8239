//! A graph call whose threads are in step, in a recording without the scheduler level: nearly every
//! call of most recordings.
//!
//! Times never go back here, so each thread's classes are sums of differences. The result equals
//! that of the general code in [`super::token`], at a fraction of its time.

use super::Costs;
use super::arrival::{Arrival, Barrier};
use super::class::{Class, Parts};
use super::habit::HabitsOf;
use super::lateness::{Causes, Late, Shares};
use super::wall::Wall;
use super::worked::OfGraph;

/// Data of one operator that all threads of a call need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operator {
    /// Time at which its barrier opens, ns.
    release: u64,
    /// Why the last arriver was late.
    shares: Shares<2>,
}

/// Reads the operators of a call into `operators`, and returns the call's own time by class.
pub(super) fn read<const SCHED: bool>(
    causes: &Causes<'_, SCHED>,
    habits: HabitsOf<'_>,
    barriers: impl Iterator<Item = Barrier>,
    mut wall: Wall<'_, SCHED>,
    operators: &mut Vec<Operator>,
    worked: &mut OfGraph<'_>,
) -> Parts {
    operators.clear();
    for m in barriers {
        let late = Late::new(causes, habits, &m);
        worked.node(m.node, wall.up_to(&m, &late));
        operators.push(Operator { release: m.release, shares: late.two() });
    }
    wall.finish(causes.between)
}

/// The time of one thread in a call from `start` to `stop`, with its spans there.
pub(super) fn thread(
    costs: Costs,
    between: Class,
    two: bool,
    (start, stop): (u64, u64),
    own: impl Iterator<Item = Arrival>,
    operators: &[Operator],
) -> Parts {
    let mut parts = Parts::default();
    let (mut at, mut gaps, mut work, mut inside, mut outside) = (start, 0, 0, 0, 0);
    for (arrival, operator) in own.zip(operators) {
        let (begin, end) = (arrival.start, arrival.end());
        let gap = begin - at;
        gaps += gap;
        outside += gap.min(costs.outside);
        work += end - begin;
        inside += (end - begin).min(costs.inside);
        let wait = operator.release - end;
        match two {
            true => operator.shares.give_all_or_nothing(&mut parts, wait),
            false => operator.shares.give(parts.stretch(wait)),
        }
        at = operator.release;
    }
    gaps += stop - at;
    outside += (stop - at).min(costs.outside);
    parts.add(Class::Probes, inside + outside);
    parts.add(Class::Work, work - inside);
    parts.add(between, gaps - outside);
    parts
}
