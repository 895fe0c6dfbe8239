//! Samples of processes from their exec to their first call.

/// What had happened when a sample was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartMoment {
    /// Nothing in particular.
    Sample,
    /// The engine's code was found mapped.
    EngineLoaded,
    /// The engine began to load a model.
    ModelBegins,
    /// A model was loaded.
    ModelLoaded,
    /// The engine began to create a context.
    ContextBegins,
    /// A context was created.
    ContextCreated,
    /// The first call was about to begin.
    FirstCall,
}

/// One sample. The kernel's counts are since the process or thread began; absent where the kernel
/// does not have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartSample {
    /// Process.
    pub pid: u32,
    /// When it was read, ns.
    pub at_ns: u64,
    /// When the process called exec, ns.
    pub exec_ns: u64,
    /// What had happened.
    pub moment: StartMoment,
    /// Time of the main thread on a CPU, ns.
    pub run_ns: Option<u64>,
    /// Time in which the main thread was runnable and had no CPU, ns.
    pub wait_ns: Option<u64>,
    /// CPU time of the main thread outside of the kernel, in clock ticks, ns.
    pub user_ns: Option<u64>,
    /// The same in the kernel, ns.
    pub system_ns: Option<u64>,
    /// CPU time of all threads, in clock ticks, ns.
    pub process_ns: Option<u64>,
    /// Page faults without a read from storage.
    pub minor_faults: Option<u64>,
    /// Page faults with one.
    pub major_faults: Option<u64>,
    /// Bytes read from storage.
    pub read_bytes: Option<u64>,
    /// Resident memory, bytes.
    pub resident_bytes: Option<u64>,
    /// Part of it that is mapped from files or shared, bytes.
    pub file_bytes: Option<u64>,
    /// Time in which the agent held the process since its exec, ns.
    pub held_ns: u64,
}
