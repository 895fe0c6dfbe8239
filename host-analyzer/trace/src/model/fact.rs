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

/// How much a counter rose at each reading after its first: the time of the reading, and the rise. A counter that
/// fell was reset. One that was absent in between counts something else from then on.
pub fn rises<'f>(facts: impl IntoIterator<Item = &'f Fact>) -> impl Iterator<Item = (u64, u64)> {
    let mut before = None;
    let mut absent = false;
    facts.into_iter().filter_map(move |fact| match fact.value {
        FactValue::Number(number) => {
            let rise = before.map(|before| if absent { 0 } else { number.saturating_sub(before) });
            (before, absent) = (Some(number), false);
            rise.map(|rise| (fact.at_ns, rise))
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
        let all: Vec<(u64, u64)> = rises(&facts).collect();
        assert_eq!(all, [(2, 4), (3, 0), (4, 1), (6, 0), (7, 4)]);
    }
}
