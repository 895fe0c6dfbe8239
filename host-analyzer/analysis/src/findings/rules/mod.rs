//! The catalogue: one file per rule.

mod allocation;
mod asleep;
mod bandwidth;
mod clock_limit;
mod cold_start;
mod context_growth;
mod cpu_variant;
mod double_copy;
mod draft;
mod experts;
mod fake_numa;
mod few_threads;
mod heat;
mod huge_pages;
mod idle_team;
mod interrupts;
mod kept_states;
mod kernels;
mod kv_type;
mod long_context;
mod memory_clock;
mod memory_reclaim;
mod migrations;
mod mixed_cores;
mod paging;
mod passive_wait;
mod polling;
mod preempted;
mod prefix;
mod prompt_parts;
mod quota;
mod regimes;
mod repacking;
mod sampling;
mod shared_cpu;
mod shared_memory;
mod small_batches;
mod speculation;
mod splits;
mod state_copies;
mod steal;
mod stopped;
mod text_batches;
mod too_many_threads;

use super::Rule;
use crate::ladder::{Question, StepKind};
use crate::replay::{Cause, Culprit};

/// Questions of rules that judge whatever a session does.
const ANY: &[Question] = &[Question::Decode, Question::Prompt, Question::Encode];

/// Questions of rules on what only an engine that generates text does.
const GENERATING: &[Question] = &[Question::Decode];

/// The steps that clocks change: all work of the operators, also that at a lower speed than before.
const fn of_clocks(_: Question, kind: StepKind) -> bool {
    matches!(kind, StepKind::Floor | StepKind::AboveFloor | StepKind::Caused(Cause::LowerSpeed))
}

/// The remedy that `stop` makes of the programs of these culprits. Threads of the kernel cannot be stopped:
/// they are named only where there is no program.
fn without<'a>(
    culprits: impl Iterator<Item = &'a Culprit>,
    stop: impl FnOnce(Vec<(u32, String)>) -> Remedy,
) -> Remedy {
    let (kernel, programs): (Vec<_>, Vec<_>) = culprits.partition(|c| c.is_of_kernel());
    let named = |culprits: Vec<&Culprit>| {
        culprits
            .into_iter()
            .map(|c| (if c.pid == 0 { c.tid } else { c.pid }, c.program().to_owned()))
            .collect()
    };
    if programs.is_empty() && !kernel.is_empty() {
        Remedy::KernelThreads { tasks: named(kernel) }
    } else {
        stop(named(programs))
    }
}

/// All rules, in the order of docs/findings.md.
pub const RULES: &[&Rule] = &[
    &preempted::RULE,
    &shared_cpu::RULE,
    &stopped::RULE,
    &idle_team::RULE,
    &too_many_threads::RULE,
    &few_threads::RULE,
    &quota::RULE,
    &regimes::RULE,
    &steal::RULE,
    &interrupts::RULE,
    &asleep::RULE,
    &shared_memory::RULE,
    &mixed_cores::RULE,
    &migrations::RULE,
    &passive_wait::RULE,
    &polling::RULE,
    &bandwidth::RULE,
    &kernels::RULE,
    &cpu_variant::RULE,
    &repacking::RULE,
    &clock_limit::RULE,
    &heat::RULE,
    &memory_clock::RULE,
    &memory_reclaim::RULE,
    &paging::RULE,
    &cold_start::RULE,
    &double_copy::RULE,
    &huge_pages::RULE,
    &fake_numa::RULE,
    &experts::RULE,
    &context_growth::RULE,
    &long_context::RULE,
    &kv_type::RULE,
    &sampling::RULE,
    &state_copies::RULE,
    &kept_states::RULE,
    &prefix::RULE,
    &small_batches::RULE,
    &prompt_parts::RULE,
    &text_batches::RULE,
    &draft::RULE,
    &speculation::RULE,
    &splits::RULE,
    &allocation::RULE,
];

/// What to do about a cause.
#[derive(Debug, Clone, PartialEq)]
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
    /// Keep the table in memory of which rows are read from storage.
    TableInMemory,
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
        quantize: bool,
    },
    /// Decode without the draft model, or with a better one.
    NoDraft,
    /// Keep the most used experts in memory.
    PinExperts,
    /// Use another type for these weights.
    Requantize {
        /// Tensor group with the largest effect.
        group: &'static str,
        from: String,
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
    /// Copy the states of sequences less often, and keep fewer of them.
    FewerStateCopies,
    /// Give batches one shape.
    SteadyShapes,
    /// Do not stop the engine by signals.
    NoStops,
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
        types: &'static [&'static str],
    },
    /// Undo a change of the conditions.
    KeepConditions,
    /// Read a prompt at once.
    WholePrompts,
    /// Read prompts in batches of so many tokens.
    LargerBatches {
        /// The number.
        tokens: u64,
    },
}
