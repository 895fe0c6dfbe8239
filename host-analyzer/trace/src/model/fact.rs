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
