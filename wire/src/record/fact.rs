//! Facts: settings of the system and of the engine's processes, and the kernel's counts of them.

use serde::{Deserialize, Serialize};

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FactScope {
    /// The system.
    System,
    /// A process, by its id.
    Process(u32),
    /// A thread, by its id.
    Thread(u32),
    /// A CPU, by its number.
    Cpu(u16),
}

/// The value of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FactValue<'a> {
    /// A number in the unit of the fact.
    Number(u64),
    /// A text.
    Text(&'a str),
    /// It could not be read, or the system does not have it; the text is the reason.
    Absent(&'a str),
}

/// One fact, with a name of docs/facts.md. Sent again when its value has changed. Facts that were
/// read together have the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact<'a> {
    /// When it was read, ns.
    pub at_ns: u64,
    /// What it is about.
    pub scope: FactScope,
    /// Its name.
    pub name: &'a str,
    /// Its value.
    #[serde(borrow)]
    pub value: FactValue<'a>,
}
