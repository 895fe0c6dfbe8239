//! When CPUs were taken out of service in the middle of a session: by heat, or to save power.
//!
//! It is read once a second, so a CPU counts as offline from a second before the reading that found it so.

use super::fact_times::FactTimes;
use crate::results::fact::READING_NS;
use profinfer_trace::model::{FactScope, Model};

/// By CPU.
#[derive(Debug, Default)]
pub(super) struct Offline(FactTimes);

impl Offline {
    pub(super) fn new(model: &Model) -> Self {
        Self(FactTimes::new(model, "cpu.online", 0))
    }

    /// Whether the CPU was offline in some part of this time.
    pub(super) fn meets(&self, cpu: u16, (from, to): (u64, u64)) -> bool {
        let meets = |(read, until): &(u64, u64)| from < *until && read.saturating_sub(READING_NS) < to;
        self.0.of(FactScope::Cpu(cpu)).iter().any(meets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::{Fact, FactValue};

    const S: u64 = READING_NS;

    #[test]
    fn from_a_second_before_the_reading_until_it_is_back() {
        let mut model = Model::default();
        let name = model.texts.intern("cpu.online");
        for (at, online) in [(1, 1), (5, 0), (9, 1), (12, 0)] {
            let (scope, value) = (FactScope::Cpu(3), FactValue::Number(online));
            model.facts.rows.push(Fact { at_ns: at * S, scope, name, value });
        }
        let offline = Offline::new(&model);
        let meets = |from, to| offline.meets(3, (from, to));
        assert!(meets(4 * S, 4 * S + 1) && meets(8 * S, 8 * S + 1) && meets(10 * S, 20 * S));
        assert!(!meets(3 * S, 4 * S) && !meets(9 * S, 11 * S) && !offline.meets(2, (0, 20 * S)));
    }
}
