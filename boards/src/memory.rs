//! The board's memory, and how fast it can be.

use serde::Deserialize;

use crate::Provenance;

/// Memory of a board.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Kind and transfers a second, as vendors write it: `LPDDR4X-4267`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Channels, where it is known.
    #[serde(default)]
    pub channels: Option<u32>,
    /// Bits of one channel, where they are known.
    #[serde(default)]
    pub bits_per_channel: Option<u32>,
    /// What the interface could move if it did nothing else; no program reaches it.
    #[serde(default)]
    pub theoretical_bytes_per_second: Option<u64>,
    /// Where its facts come from.
    pub provenance: Provenance,
    /// What was reached.
    #[serde(default)]
    pub measured: Vec<Measured>,
}

/// What was reached, and how.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Bytes a second.
    pub bytes_per_second: u64,
    /// With what, on which board of the kind.
    pub how: String,
    /// Who says so.
    pub provenance: Provenance,
}
