//! Waits of woken threads that are their control group's.
//!
//! Before Linux 6.18, a thread that wakes up in a throttled group is in the queue of an idle CPU, and does not run
//! before the group has time again. To the scheduler's events that is a wake-up that takes long. Newer kernels run it
//! until it would leave the kernel; from then on it waits like a thread that was preempted.

use std::collections::BTreeMap;

use super::rise::{Rises, rises};
use profinfer_trace::model::{FactScope, Model};

/// An idle CPU runs a woken thread within this time, ns, unless its whole cluster was switched off. A throttled group
/// has to wait for the next period, of 100 ms by default.
const LONGEST_WAKE_UP_NS: u64 = 1_000_000;

/// By process.
#[derive(Debug, Default)]
pub(crate) struct ThrottledTimes(BTreeMap<u32, Rises>);

impl ThrottledTimes {
    pub(crate) fn new(model: &Model) -> Self {
        let process = |scope| match scope {
            FactScope::Process(pid) => Some(pid),
            _ => None,
        };
        Self(rises(model, "cgroup.throttled_ns", process))
    }

    /// Whether a thread of the process that was woken on an idle CPU could not run because its group was throttled.
    pub(crate) fn has(&self, pid: u32, (from, to): (u64, u64)) -> bool {
        let long = to.saturating_sub(from) >= LONGEST_WAKE_UP_NS;
        long && self.0.get(&pid).is_some_and(|rises| rises.within((from, to)) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::{Fact, FactValue};

    #[test]
    fn a_long_wait_while_the_group_was_throttled() {
        const MS: u64 = 1_000_000;
        let mut model = Model::default();
        let name = model.texts.intern("cgroup.throttled_ns");
        for (at, total) in [(0, 5), (1_000, 5), (2_000, 400)] {
            let (at_ns, value) = (at * MS, FactValue::Number(total * MS));
            model.facts.rows.push(Fact { at_ns, scope: FactScope::Process(7), name, value });
            model.facts.rows.push(Fact { at_ns, scope: FactScope::System, name, value });
        }
        let times = ThrottledTimes::new(&model);
        let has = |pid, from: u64, to: u64| times.has(pid, (from * MS, to * MS));
        assert!(has(7, 1_200, 1_201));
        assert!(!times.has(7, (1_200 * MS, 1_201 * MS - 1)));
        assert!(!has(7, 100, 900));
        assert!(!has(8, 1_200, 1_300));
    }
}
