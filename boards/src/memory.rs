//! The board's memory, and how fast it can be.

use serde::Deserialize;

use crate::Provenance;

/// Memory of a board.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Type and million transfers per second, as vendors write it: `LPDDR4X-4267`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Number of channels, if known.
    #[serde(default)]
    pub channels: Option<u32>,
    /// Width of one channel in bits, if known.
    #[serde(default)]
    pub bits_per_channel: Option<u32>,
    /// Bytes per second that the interface can transfer in theory. No program reaches it.
    #[serde(default)]
    pub theoretical_bytes_per_second: Option<u64>,
    /// Where its facts come from.
    pub provenance: Provenance,
    /// Measured bandwidths.
    #[serde(default)]
    pub measured: Vec<Measured>,
}

/// A measured bandwidth, and how it was measured.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Bytes per second.
    pub bytes_per_second: u64,
    /// The program, and the tested board.
    pub how: String,
    /// Where it comes from.
    pub provenance: Provenance,
}
