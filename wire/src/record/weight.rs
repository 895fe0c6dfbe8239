//! Where weights lie: the engine's buffers, and which weight is in which.

use serde::{Deserialize, Serialize};

use crate::placements::Placements;

/// Most bytes of [`PlacementBatch::bytes`].
pub const MAX_PLACEMENT_BYTES: usize = crate::frame::MAX_PAYLOAD - 16;

/// What the addresses of a weight's data are to the process, by /proc/PID/maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Memory {
    /// The maps could not be read, or the data begins in one mapping and ends in another.
    Unknown,
    /// A mapping of a file: the model's own bytes, shared with the page cache.
    File,
    /// Memory of the process's own: copied or repacked weights.
    Anonymous,
    /// No memory of the process, or a device's: another processor's memory.
    Device,
}

/// Buffers of the engine of one type in the same memory of one process; on a device, one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer<'a> {
    /// Its number in the session, from 1.
    pub id: u32,
    /// Process.
    pub pid: u32,
    /// Its type as the engine calls it, for example `CPU_Mapped` or `CPU_REPACK`; empty when it could not be read.
    pub kind: &'a str,
    /// In what memory it lies.
    pub memory: Memory,
    /// The mapped file as the process sees it; empty for other memory.
    pub path: &'a str,
}

/// Which weights of a topology lie in which buffer. Several batches may belong to one topology.
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
