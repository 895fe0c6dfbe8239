//! What every core of a type has, on whatever board.

use serde::Deserialize;
use toml::Spanned;

use crate::Provenance;

/// The event that every hardware set begins with, in slot 0: it has a counter of its own.
pub(crate) const CYCLES: &str = "CPU_CYCLES";

/// A type of core.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Name, as boards call it; the file's name without `.toml`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Implementer and part number of its main ID register (`MIDR_EL1 & 0xff00fff0`); none on other architectures.
    #[serde(default)]
    pub midr: Option<u32>,
    /// Events that it counts at once, besides the cycles.
    pub counters: usize,
    /// First-level caches, where the core leaves no choice to who builds the chip, bytes.
    #[serde(default)]
    pub l1i_bytes: Option<u64>,
    /// As `l1i_bytes`, for data.
    #[serde(default)]
    pub l1d_bytes: Option<u64>,
    /// Second-level cache, likewise, bytes.
    #[serde(default)]
    pub l2_bytes: Option<u64>,
    /// Where its facts come from.
    pub provenance: Provenance,
    /// What can be counted together; the first is the default.
    #[serde(default)]
    pub sets: Vec<Set>,
    /// What can be counted.
    #[serde(default)]
    pub(crate) events: Vec<Spanned<Event>>,
}

/// A few events that are counted together, cycles besides.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    pub(crate) name: Spanned<String>,
    /// What it answers.
    pub description: String,
    pub(crate) events: Spanned<Vec<Spanned<String>>>,
}

/// Something that the core can count.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Name, as Arm prints it.
    pub name: String,
    /// Event number.
    pub number: u32,
    /// What one count is.
    pub unit: Unit,
    /// With [`Unit::Bytes`]: what one count stands for.
    #[serde(default)]
    pub bytes_per_count: Option<u32>,
    /// In words.
    pub meaning: String,
}

/// What one count is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A number of things.
    Count,
    /// Clock cycles.
    Cycles,
    /// So many bytes moved, see [`Event::bytes_per_count`].
    Bytes,
}

impl Core {
    /// What can be counted, in order of numbers as in the file.
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
