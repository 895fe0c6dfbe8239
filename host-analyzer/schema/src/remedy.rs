//! `findings.found[].remedy`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do about a cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Remedy {
    /// Give the engine this number of threads.
    Threads {
        /// The number.
        threads: u64,
    },
    /// Stop these tasks, or keep them off the engine's CPUs.
    MoveTasks {
        /// Their threads' ids and names.
        tasks: Vec<(u32, String)>,
    },
    /// These are threads of the kernel, which cannot be stopped: find what makes them work.
    KernelThreads {
        /// Their ids and names.
        tasks: Vec<(u32, String)>,
    },
    /// Stop these tasks, which run on other CPUs, or run them while the engine is idle.
    MoveNeighbours {
        /// Their processes' ids and names.
        tasks: Vec<(u32, String)>,
    },
    /// Raise the quota of the engine's control group, or use fewer threads.
    Quota {
        /// CPUs that the threads need.
        cpus: u64,
        /// Threads that the quota allows.
        threads: u64,
    },
    /// Give the engine so many threads and keep them on these CPUs.
    Pin {
        /// The number.
        threads: u64,
        /// The CPUs.
        cpus: Vec<u16>,
    },
    /// Keep each thread on its CPU.
    PinThreads,
    /// Let threads spin at barriers.
    SpinAtBarriers,
    /// Let threads sleep while nothing is computed.
    SleepWhenIdle,
    /// Give the engine memory for its weights.
    MoreMemory {
        /// What its weights take.
        bytes: u64,
    },
    /// Keep one copy of the weights in memory.
    OneCopy {
        /// What that saves.
        bytes: u64,
    },
    /// Let the CPUs run at this clock.
    Clock {
        /// The clock.
        hertz: u64,
    },
    /// Let the memory run at this clock.
    MemoryClock {
        /// The clock.
        hertz: u64,
    },
    /// Cool the board.
    Cooling,
    /// Make sampling cheaper.
    Sampling,
    /// Keep fewer cells in the KV cache.
    ShorterContext {
        /// Half of those that are there now.
        cells: u64,
        /// Quantize the cache, too: its keys are in a type that is not quantized.
        #[serde(default)]
        quantize: bool,
    },
    /// Decode without the draft model, or with a better one.
    NoDraft,
    /// Keep the most used experts in memory.
    PinExperts,
    /// Use a type whose products cost less. Older recordings' summaries have it.
    CheaperArithmetic,
    /// Use another type for these weights.
    Requantize {
        /// Tensor group with the largest effect, as in `ladders[].floor.groups`.
        group: String,
        /// Type now.
        from: String,
        /// A type of this recording with a faster kernel.
        to: String,
    },
    /// Use a type that the engine repacks.
    RepackedType,
    /// Use weights of fewer bits.
    SmallerWeights,
    /// Use a build for this processor.
    BetterVariant,
    /// Let the kernel emulate NUMA nodes.
    FakeNuma,
    /// Use huge pages.
    HugePages,
    /// Compute all on one backend.
    OneBackend,
    /// Keep what was computed of a prompt.
    CachePrompt,
    /// Keep the complete context of a model with a window.
    KeepWindow,
    /// Keep checkpoints of a model's state.
    KeepState,
    /// Keep the table in memory of which rows are read from storage.
    TableInMemory,
    /// Copy the states of sequences less often, and keep fewer of them.
    FewerStateCopies,
    /// Give batches one shape.
    SteadyShapes,
    /// Do not stop the engine by signals.
    NoStops,
    /// Read a prompt at once.
    WholePrompts,
    /// Read prompts in batches of so many tokens.
    LargerBatches {
        /// The number.
        tokens: u64,
    },
    /// Let threads that compute nothing sleep, or do not start them.
    NoIdleTeam,
    /// Let the application's other threads do less while the engine computes.
    LessApplicationWork,
    /// Give the virtual machine its CPUs.
    ReservedCpus,
    /// Let other CPUs handle interrupts.
    MoveInterrupts,
    /// Find what threads wait for.
    FindSleep,
    /// Read the model before it is needed.
    WarmCache,
    /// Use another type for the KV cache.
    KvType {
        /// Types to try.
        #[serde(default)]
        types: Vec<String>,
    },
    /// Undo a change of the conditions.
    KeepConditions,
    /// A kind of a newer `analyze`.
    #[serde(other)]
    #[schemars(skip)]
    Newer,
}
