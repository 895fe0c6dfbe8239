//! Facts of the system and of the process that decodes.

use super::Case;
use crate::model::{Fact, FactScope, FactValue};

impl<'a> Case<'a> {
    /// The latest value of a fact that is a number.
    pub(in crate::findings) fn number(&self, scope: FactScope, name: &str) -> Option<u64> {
        match self.model.facts.latest(scope, self.model.texts.find(name)?)? {
            FactValue::Number(n) => Some(n),
            _ => None,
        }
    }

    /// The latest value of a fact that is a text.
    pub(in crate::findings) fn text(&self, scope: FactScope, name: &str) -> Option<&'a str> {
        match self.model.facts.latest(scope, self.model.texts.find(name)?)? {
            FactValue::Text(text) => Some(self.model.texts.get(text)),
            _ => None,
        }
    }

    /// How much a fact that counts has grown in the session.
    pub(in crate::findings) fn growth(&self, scope: FactScope, name: &str) -> Option<u64> {
        let name = self.model.texts.find(name)?;
        let mut numbers = self.model.facts.of(scope, name).filter_map(|fact| match fact.value {
            FactValue::Number(n) => Some(n),
            _ => None,
        });
        let first = numbers.next()?;
        Some(numbers.next_back().unwrap_or(first).saturating_sub(first))
    }

    /// The CPUs on which the engine may run, as far as it is known.
    pub(in crate::findings) fn cpus(&self) -> Option<Vec<u16>> {
        let cpus = cpu_list(self.text(FactScope::Process(self.pid), "affinity")?)?;
        Some(
            cpus.into_iter()
                .filter(|cpu| *cpu < self.model.session.cpus || self.model.session.cpus == 0)
                .collect(),
        )
    }

    /// A fact of the process that decodes.
    pub(in crate::findings) fn of_process(&self, name: &str) -> Option<u64> {
        self.number(FactScope::Process(self.pid), name)
    }

    /// How much a fact that counts has grown while tokens were decoded; readings are a second apart.
    pub(in crate::findings) fn growth_in_decode(&self, scope: FactScope, name: &str) -> Option<u64> {
        let (from, to) = self.decode_time();
        let name = self.model.texts.find(name)?;
        let readings: Vec<(u64, u64)> =
            self.model.facts.of(scope, name).filter_map(|f| Some((f.at_ns, number(f)?))).collect();
        // What it was before the first token, and what it was behind the last: a value holds until the next one.
        let before = readings.iter().rev().find(|(at, _)| *at <= from).or(readings.first())?;
        let after = readings.iter().find(|(at, _)| *at >= to).or(readings.last())?;
        Some(after.1.saturating_sub(before.1))
    }

    /// The least value of a fact.
    pub(in crate::findings) fn least(&self, scope: FactScope, name: &str) -> Option<u64> {
        self.model.facts.of(scope, self.model.texts.find(name)?).filter_map(number).min()
    }
}

const fn number(fact: &Fact) -> Option<u64> {
    match fact.value {
        FactValue::Number(n) => Some(n),
        _ => None,
    }
}

/// CPUs as the kernel lists them: `0-3,6`.
fn cpu_list(text: &str) -> Option<Vec<u16>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
        cpus.extend(first..=last);
    }
    Some(cpus)
}
