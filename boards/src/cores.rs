//! What every core of a type has, on any board.

use serde::Deserialize;
use toml::Spanned;

use crate::Provenance;

/// The event that every hardware set begins with, in slot 0: it has a dedicated counter.
pub(crate) const CYCLES: &str = "CPU_CYCLES";

/// A core type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Name, as boards use it; the file's name without `.toml`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Implementer and part number of its main ID register (`MIDR_EL1 & 0xff00fff0`); none on other
    /// architectures.
    #[serde(default)]
    pub midr: Option<u32>,
    /// Number of events that it counts at the same time, without the cycles; 0: no hardware
    /// counters.
    pub counters: usize,
    /// First-level instruction cache, bytes, if every such core has the same size.
    #[serde(default)]
    pub l1i_bytes: Option<u64>,
    /// As `l1i_bytes`, for data.
    #[serde(default)]
    pub l1d_bytes: Option<u64>,
    /// Second-level cache, bytes, if every such core has the same size.
    #[serde(default)]
    pub l2_bytes: Option<u64>,
    /// Where its facts come from.
    pub provenance: Provenance,
    /// Events that can be counted together; the first set is the default.
    #[serde(default)]
    pub sets: Vec<Set>,
    /// Events that can be counted.
    #[serde(default)]
    pub(crate) events: Vec<Spanned<Event>>,
}

/// Events that are counted together, in addition to the cycles.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    pub(crate) name: Spanned<String>,
    /// The question that it answers.
    pub description: String,
    pub(crate) events: Spanned<Vec<Spanned<String>>>,
}

/// An event that the core can count.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Name, as in Arm's manuals.
    pub name: String,
    /// Event number.
    pub number: u32,
    /// What one count is.
    pub unit: Unit,
    /// With [`Unit::Bytes`]: the bytes that one count stands for.
    #[serde(default)]
    pub bytes_per_count: Option<u32>,
    /// Its meaning, one sentence.
    pub meaning: String,
}

/// What one count is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A number of occurrences.
    Count,
    /// Clock cycles.
    Cycles,
    /// Bytes moved, [`Event::bytes_per_count`] for each count.
    Bytes,
}

impl Core {
    /// Its events, in the order of the file.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().map(Spanned::as_ref)
    }

    /// An event by name.
    #[must_use]
    pub fn event(&self, name: &str) -> Option<&Event> {
        self.events().find(|e| e.name == name)
    }

    /// A set by name.
    #[must_use]
    pub fn set(&self, name: &str) -> Option<&Set> {
        self.sets.iter().find(|s| s.name() == name)
    }
}

impl Set {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_ref()
    }

    /// Names of its events, without the cycles.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.events.as_ref().iter().map(|e| e.as_ref().as_str())
    }
}
