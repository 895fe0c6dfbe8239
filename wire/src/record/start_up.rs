//! The start of an engine: counts of the kernel from its exec to its first call.

use serde::{Deserialize, Serialize};

/// Values of [`StartUp::moment`]. A host treats one that it does not know as `SAMPLE`.
pub mod moment {
    /// A sample between the others.
    pub const SAMPLE: u8 = 0;
    /// The agent found the engine's code mapped.
    pub const ENGINE_LOADED: u8 = 1;
    /// The first call was about to begin. No more samples follow.
    pub const FIRST_CALL: u8 = 2;
    /// The engine began to load a model.
    pub const MODEL_BEGINS: u8 = 3;
    /// A model was loaded, or loading failed.
    pub const MODEL_LOADED: u8 = 4;
    /// The engine began to create a context.
    pub const CONTEXT_BEGINS: u8 = 5;
    /// A context was created, or creating one failed.
    pub const CONTEXT_CREATED: u8 = 6;
}

/// One sample. All counts except `held_ns` are the kernel's, since the process or thread began. A
/// count is absent where the kernel does not have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartUp {
    /// Process.
    pub pid: u32,
    /// When it was read, ns.
    pub at_ns: u64,
    /// When the process called exec, or when the agent stopped it there, ns.
    pub exec_ns: u64,
    /// What had happened, see [`moment`].
    pub moment: u8,
    /// Time of the main thread on a CPU, ns.
    pub run_ns: Option<u64>,
    /// Time in which the main thread was runnable and had no CPU, ns.
    pub wait_ns: Option<u64>,
    /// CPU time of the main thread outside of the kernel, in steps of a clock tick, ns.
    pub user_ns: Option<u64>,
    /// The same in the kernel.
    pub system_ns: Option<u64>,
    /// CPU time of all threads, in steps of a clock tick, ns.
    pub process_ns: Option<u64>,
    /// Page faults of the process without a read from storage.
    pub minor_faults: Option<u64>,
    /// Page faults of the process with one.
    pub major_faults: Option<u64>,
    /// Bytes that the process caused to be read from storage.
    pub read_bytes: Option<u64>,
    /// Resident memory, bytes.
    pub resident_bytes: Option<u64>,
    /// Part of it that is mapped from files or shared, bytes.
    pub file_bytes: Option<u64>,
    /// Time in which the agent held the process at stops since its exec, ns.
    pub held_ns: u64,
}
