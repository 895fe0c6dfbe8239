//! Facts of the system and of the engine's processes that findings need: quotas, masks, limits,
//! environment.

use super::text::Text;

/// The subject of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactScope {
    /// The system.
    System,
    /// A process.
    Process(u32),
    /// A thread, by the kernel's id.
    Thread(u32),
    /// A CPU.
    Cpu(u16),
}

/// The value of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactValue {
    /// A number in the unit that the fact's name has in docs/facts.md.
    Number(u64),
    /// A text.
    Text(Text),
    /// It could not be read; the text is the reason.
    Absent(Text),
}

/// One reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    /// When it was read, ns.
    pub at_ns: u64,
    /// Its subject.
    pub scope: FactScope,
    /// Name, see docs/facts.md.
    pub name: Text,
    /// Value.
    pub value: FactValue,
}

/// All readings, in order of time. The agent sends a fact again when its value has changed.
#[derive(Debug, Default, Clone)]
pub struct Facts {
    /// By time.
    pub rows: Vec<Fact>,
}

/// Time in which a counter rose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rise {
    /// Time of the reading before, ns.
    pub from_ns: u64,
    /// Time of the reading, ns.
    pub to_ns: u64,
    /// In the counter's unit.
    pub by: u64,
}

/// How much a counter rose at each reading after its first. A counter that fell was reset. One that was absent in
/// between counts something else from then on.
pub fn rises<'f>(facts: impl IntoIterator<Item = &'f Fact>) -> impl Iterator<Item = Rise> {
    let mut before: Option<(u64, u64)> = None;
    let mut absent = false;
    facts.into_iter().filter_map(move |fact| match fact.value {
        FactValue::Number(number) => {
            let rise = before.map(|(from_ns, before)| {
                let by = if absent { 0 } else { number.saturating_sub(before) };
                Rise { from_ns, to_ns: fact.at_ns, by }
            });
            (before, absent) = (Some((fact.at_ns, number)), false);
            rise
        }
        FactValue::Absent(_) => {
            absent = true;
            None
        }
        FactValue::Text(_) => None,
    })
}

impl Facts {
    /// The readings of one fact, in order of time.
    pub fn of(&self, scope: FactScope, name: Text) -> impl DoubleEndedIterator<Item = &Fact> + '_ {
        self.rows.iter().filter(move |fact| fact.scope == scope && fact.name == name)
    }

    /// The latest value of one fact.
    #[must_use]
    pub fn latest(&self, scope: FactScope, name: Text) -> Option<FactValue> {
        self.of(scope, name).next_back().map(|fact| fact.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_begins_anew_after_a_reset_and_after_a_time_without_it() {
        let (none, number) = (FactValue::Absent(Text::default()), FactValue::Number);
        let values = [none, number(5), number(9), number(2), number(3), none, number(1000), number(1004)];
        let name = Text::default();
        let facts: Vec<Fact> = (0..)
            .zip(values)
            .map(|(at_ns, value)| Fact { at_ns, scope: FactScope::System, name, value })
            .collect();
        let all: Vec<(u64, u64, u64)> = rises(&facts).map(|r| (r.from_ns, r.to_ns, r.by)).collect();
        assert_eq!(all, [(1, 2, 4), (2, 3, 0), (3, 4, 1), (4, 6, 0), (6, 7, 4)]);
    }
}
