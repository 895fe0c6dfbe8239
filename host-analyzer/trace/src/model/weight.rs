//! Placement of weights.

/// Position in [`super::Model::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u32);

/// The kind of memory that holds a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// A file that the process maps.
    File,
    /// Anonymous memory of the process.
    Anonymous,
    /// Memory of a device.
    Device,
    /// The agent could not determine it.
    Unknown,
}

impl Memory {
    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Anonymous => "anonymous",
            Self::Device => "device",
            Self::Unknown => "unknown",
        }
    }
}

/// Buffers of the engine of one type in the same memory of one process; on a device, one buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Process.
    pub pid: u32,
    /// Its type as the engine names it; empty when unknown.
    pub kind: String,
    /// Its memory.
    pub memory: Memory,
    /// The mapped file; empty for other memory.
    pub path: String,
}
