//! `conditions`: configuration and state of the system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::process::{ProcessFacts, ThreadFacts};

/// Configuration and state of the system and of the traced processes. docs/facts.md has the sources
/// and limits of each fact. Everything is `null` or empty if the agent sent no facts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// System-wide facts.
    pub system: SystemFacts,
    /// CPUs, by number.
    pub cpus: Vec<CpuFacts>,
    /// Traced processes, by id.
    pub processes: Vec<ProcessFacts>,
    /// Threads that computed, by id; at most 64.
    pub threads: Vec<ThreadFacts>,
    /// Facts that could not be read, with the reason.
    pub absent: Vec<AbsentFact>,
}

/// A fact that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbsentFact {
    /// Process id, for a fact about a process.
    pub pid: Option<u32>,
    /// Thread id, for a fact about a thread.
    pub tid: Option<u32>,
    /// CPU number, for a fact about a CPU.
    pub cpu: Option<u16>,
    /// Name of the fact (docs/facts.md).
    pub name: String,
    /// Reason that the agent reported.
    pub why: String,
}

/// System-wide facts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemFacts {
    /// Relevant options of the kernel command line, for example `numa=fake=8`.
    pub kernel_options: Option<Vec<String>>,
    /// Preemption model of the kernel: `none`, `voluntary`, `lazy`, `full` or `rt`.
    pub preemption: Option<String>,
    /// The kernel gives BPF programs private per-CPU stacks if they use more than 48 bytes.
    pub private_stacks: Option<bool>,
    /// Page size, bytes.
    pub page_size_bytes: Option<u64>,
    /// Number of NUMA nodes.
    pub numa_nodes: Option<u64>,
    /// Policy for transparent huge pages: `always`, `madvise` or `never`.
    pub hugepages_policy: Option<String>,
    /// Hypervisor, as far as the kernel reports it.
    pub hypervisor: Option<String>,
    /// Load average of the minute before the session, thousandths.
    pub load_average_milli: Option<u64>,
    /// Usable memory (MemTotal), bytes.
    pub memory_total_bytes: Option<u64>,
    /// Memory that programs can get without swapping (MemAvailable), bytes.
    pub memory_available_bytes: Option<Seen>,
    /// Swap space, bytes.
    pub swap_total_bytes: Option<u64>,
    /// Free swap space, bytes.
    pub swap_free_bytes: Option<Seen>,
    /// Clock of the memory controller, Hz.
    pub ddr_frequency_hz: Option<Seen>,
    /// Configured maximum clock of the memory controller, Hz.
    pub ddr_frequency_max_hz: Option<u64>,
    /// Governor of the memory clock.
    pub ddr_governor: Option<String>,
    /// Instruction set extensions that distinguish GGML builds, by their kernel names.
    pub cpu_features: Option<Vec<String>>,
    /// How often the kernel skipped a scheduler-level BPF program, because another program or a map
    /// was in use on that CPU. The skipped events are lost.
    pub sched_missed: Option<u64>,
    /// Hits of the agent's probes on functions that fill a batch (`llama_batch_ext_*`), take an output
    /// (`llama_get_logits_ith`) or edit the memory (`llama_memory_seq_rm`).
    pub batch_hits: Option<u64>,
}

/// Facts about one CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuFacts {
    /// CPU number.
    pub cpu: u16,
    /// Online at the end of the session.
    pub online: Option<bool>,
    /// Core type: on Arm the main ID register in hex (`0x414fd0b1`), elsewhere the model name.
    pub core: Option<String>,
    /// Scheduler capacity; 1024 is the fastest CPU.
    pub capacity: Option<u64>,
    /// cpufreq governor.
    pub governor: Option<String>,
    /// Hardware maximum clock, Hz.
    pub frequency_max_hz: Option<u64>,
    /// Minimum clock that the governor may choose, Hz.
    pub frequency_min_hz: Option<u64>,
    /// Maximum clock that the governor may choose, Hz. Thermal limits change it on some systems.
    pub frequency_limit_hz: Option<Seen>,
    /// Steal time: the hypervisor ran something else while this CPU wanted to run, ns. The
    /// resolution is 10 ms on most systems.
    pub steal_ns: Option<Rise>,
}

/// A value that was read about once a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// First value.
    pub first: u64,
    /// Last value.
    pub last: u64,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
}

/// Increase of a kernel counter that was read about once a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rise {
    /// Increase from the first to the last reading.
    pub total: u64,
    /// Time between these readings, ns.
    pub total_ns: u64,
    /// Increase between readings that are within decode calls, including the pauses of at most 100
    /// ms between such calls. `null` without such readings.
    pub decode: Option<u64>,
    /// Time between the readings of `decode`, ns.
    pub decode_ns: u64,
}
