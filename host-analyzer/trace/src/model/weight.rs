//! Where weights lie.

/// Position in [`super::Model::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u32);

/// What memory holds a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// A file that the process maps.
    File,
    /// Memory of the process's own.
    Anonymous,
    /// Memory of a device.
    Device,
    /// The agent could not tell.
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
    /// Its type as the engine calls it; empty when it is not known.
    pub kind: String,
    /// Its memory.
    pub memory: Memory,
    /// The mapped file; empty for other memory.
    pub path: String,
}
