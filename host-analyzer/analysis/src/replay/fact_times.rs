//! Times in which a fact had some value.

use std::collections::HashMap;

use profinfer_trace::model::{FactScope, FactValue, Model};

/// By what the fact is about: from the reading that found the value to the next one with another, ns.
#[derive(Debug, Default)]
pub(super) struct FactTimes(HashMap<FactScope, Vec<(u64, u64)>>);

impl FactTimes {
    pub(super) fn new(model: &Model, name: &str, number: u64) -> Self {
        let mut times: HashMap<FactScope, Vec<(u64, u64)>> = HashMap::new();
        let Some(name) = model.texts.find(name) else { return Self::default() };
        for fact in model.facts.rows.iter().filter(|fact| fact.name == name) {
            let of_scope = times.entry(fact.scope).or_default();
            let is = fact.value == FactValue::Number(number);
            match of_scope.last_mut().filter(|(_, until)| *until == u64::MAX) {
                // A damaged recording may have them in another order.
                Some((read, until)) if !is => *until = fact.at_ns.max(*read),
                None if is => of_scope.push((fact.at_ns, u64::MAX)),
                _ => {}
            }
        }
        Self(times)
    }

    pub(super) fn of(&self, scope: FactScope) -> &[(u64, u64)] {
        self.0.get(&scope).map_or(&[], Vec::as_slice)
    }
}
