//! When the kernel had frozen the control group of a process.
//!
//! The scheduler calls a frozen thread sleeping (version 2) or blocked (version 1). Whether the group is frozen is
//! read once a second, so a shorter freeze may be missed.

use super::fact_times::FactTimes;
use crate::results::fact::READING_NS;
use profinfer_trace::model::{FactScope, Model};

/// By process.
#[derive(Debug, Default)]
pub(super) struct Frozen(FactTimes);

impl Frozen {
    pub(super) fn new(model: &Model) -> Self {
        Self(FactTimes::new(model, "cgroup.frozen", 1))
    }

    /// The part of a time off the CPU in which a thread of the process was frozen. It may have slept before and after:
    /// the kernel freezes some sleeping threads where they are.
    pub(super) fn part(&self, pid: u32, (from, to): (u64, u64)) -> Option<(u64, u64)> {
        let long = to.saturating_sub(from) >= READING_NS;
        let of =
            |(read, until): &(u64, u64)| from <= *read && *read < to || long && from < *until && *read < to;
        let (read, until) = self.0.of(FactScope::Process(pid)).iter().find(|time| of(time))?;
        Some((from.max(read.saturating_sub(READING_NS)), to.min(*until)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::{Fact, FactValue};

    const S: u64 = READING_NS;

    #[test]
    fn what_a_reading_meets_and_what_is_long() {
        let mut model = Model::default();
        let name = model.texts.intern("cgroup.frozen");
        for (at, frozen) in [(1, 0), (5, 1), (9, 0), (12, 1)] {
            let (scope, value) = (FactScope::Process(7), FactValue::Number(frozen));
            model.facts.rows.push(Fact { at_ns: at * S, scope, name, value });
        }
        let frozen = Frozen::new(&model);
        let part = |from, to| frozen.part(7, (from, to));
        for whole in [(4 * S + 1, 5 * S + 1), (6 * S, 7 * S), (30 * S, 32 * S)] {
            assert_eq!(part(whole.0, whole.1), Some(whole));
        }
        // It slept for longer than the group was frozen.
        assert_eq!(part(2 * S, 10 * S), Some((4 * S, 9 * S)));
        // Too short to be sure; it is frozen from the end on; between both times; another process.
        assert_eq!([part(6 * S, 6 * S + 1), part(4 * S, 5 * S), part(9 * S, 11 * S)], [None; 3]);
        assert_eq!(frozen.part(8, (4 * S, 6 * S)), None);
    }
}
