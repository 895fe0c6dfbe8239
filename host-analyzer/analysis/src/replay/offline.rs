//! When CPUs were taken out of service in the middle of a session: by heat, or to save power.
//!
//! It is read once a second, so a CPU counts as offline from a second before the reading that found it so.

use std::collections::HashMap;

use crate::results::fact::READING_NS;
use profinfer_trace::model::{FactScope, FactValue, Model};

/// By CPU: times in which it was offline, ns.
#[derive(Debug, Default)]
pub(super) struct Offline(HashMap<u16, Vec<(u64, u64)>>);

impl Offline {
    pub(super) fn new(model: &Model) -> Self {
        let mut times: HashMap<u16, Vec<(u64, u64)>> = HashMap::new();
        let Some(name) = model.texts.find("cpu.online") else { return Self::default() };
        for fact in model.facts.rows.iter().filter(|fact| fact.name == name) {
            let FactScope::Cpu(cpu) = fact.scope else { continue };
            let of_cpu = times.entry(cpu).or_default();
            match (of_cpu.last_mut().filter(|(_, until)| *until == u64::MAX), fact.value) {
                (Some((_, until)), FactValue::Number(1)) => *until = fact.at_ns,
                (None, FactValue::Number(0)) => {
                    of_cpu.push((fact.at_ns.saturating_sub(READING_NS), u64::MAX));
                }
                _ => {}
            }
        }
        times.retain(|_, of_cpu| !of_cpu.is_empty());
        Self(times)
    }

    /// Whether the CPU was offline in some part of this time.
    pub(super) fn meets(&self, cpu: u16, (from, to): (u64, u64)) -> bool {
        self.0.get(&cpu).is_some_and(|times| times.iter().any(|(start, end)| from < *end && *start < to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::Fact;

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
