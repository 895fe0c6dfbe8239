//! Placement of weights: the engine's buffers, and which buffer holds which weight.

use serde::{Deserialize, Serialize};

use crate::placements::Placements;

/// Most bytes of [`PlacementBatch::bytes`].
pub const MAX_PLACEMENT_BYTES: usize = crate::frame::MAX_PAYLOAD - 16;

/// The memory that holds a weight's data, from /proc/PID/maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Memory {
    /// The maps could not be read, or the data begins in one mapping and ends in another.
    Unknown,
    /// A mapping of a file: the model's own bytes, shared with the page cache.
    File,
    /// Anonymous memory of the process: copied or repacked weights.
    Anonymous,
    /// Not memory of the process, or a device's: memory of another processor.
    Device,
}

/// Buffers of the engine with one type in the same memory of one process; on a device, one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer<'a> {
    /// Its number in the session, from 1.
    pub id: u32,
    /// Process.
    pub pid: u32,
    /// Its type as the engine names it, for example `CPU_Mapped` or `CPU_REPACK`; empty when it
    /// could not be read.
    pub kind: &'a str,
    /// Kind of memory.
    pub memory: Memory,
    /// The mapped file as the process sees it; empty for other memory.
    pub path: &'a str,
}

/// Which buffer holds which weight of a topology. Several batches may belong to one topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacementBatch<'a> {
    /// Number of the topology.
    pub topology: u32,
    /// Number of weights.
    pub count: u16,
    /// The placements, see [`crate::placements`].
    pub bytes: &'a [u8],
}

impl<'a> PlacementBatch<'a> {
    /// Decodes the placements.
    #[must_use]
    pub const fn placements(&self) -> Placements<'a> {
        Placements::new(self.count, self.bytes)
    }
}
