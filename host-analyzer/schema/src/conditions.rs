//! `conditions`: settings of the system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::process::{ProcessFacts, ThreadFacts};

/// The conditions of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// The whole system.
    pub system: SystemFacts,
    /// CPUs, by number.
    pub cpus: Vec<CpuFacts>,
    /// Traced processes, by id.
    pub processes: Vec<ProcessFacts>,
    /// Threads that computed, by id; the first 64.
    pub threads: Vec<ThreadFacts>,
    /// What is absent, and why.
    pub absent: Vec<AbsentFact>,
}

/// A fact that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbsentFact {
    /// Process id, when it is a process's.
    pub pid: Option<u32>,
    /// Thread id, when it is a thread's.
    pub tid: Option<u32>,
    /// CPU, when it is a CPU's.
    pub cpu: Option<u16>,
    /// Name of the fact.
    pub name: String,
    /// The agent's reason.
    pub why: String,
}

/// The whole system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemFacts {
    /// Options of the kernel's command line that matter here, for example `numa=fake=8`.
    pub kernel_options: Option<Vec<String>>,
    /// Where the kernel lets a task be preempted: `none`, `voluntary`, `lazy`, `full` or `rt`.
    pub preemption: Option<String>,
    /// The kernel gives functions of BPF programs stacks per CPU, where they use more than 48
    /// bytes.
    pub private_stacks: Option<bool>,
    /// Size of a page, bytes.
    pub page_size_bytes: Option<u64>,
    /// NUMA nodes.
    pub numa_nodes: Option<u64>,
    /// Policy for transparent huge pages: `always`, `madvise` or `never`.
    pub hugepages_policy: Option<String>,
    /// Who virtualises this machine, as far as the kernel tells.
    pub hypervisor: Option<String>,
    /// Memory that the kernel has, bytes.
    pub memory_total_bytes: Option<u64>,
    /// Memory that programs could get without swapping, bytes.
    pub memory_available_bytes: Option<Seen>,
    /// Swap space, bytes.
    pub swap_total_bytes: Option<u64>,
    /// Free swap space, bytes.
    pub swap_free_bytes: Option<Seen>,
    /// Clock of the memory's controller, Hz.
    pub ddr_frequency_hz: Option<Seen>,
    /// Its highest clock as it is set, Hz.
    pub ddr_frequency_max_hz: Option<u64>,
    /// Who chooses it.
    pub ddr_governor: Option<String>,
    /// Instructions of the CPUs by which builds of GGML differ, as the kernel calls them.
    pub cpu_features: Option<Vec<String>>,
    /// How often the kernel did not run one of the agent's programs of the scheduler level, because
    /// another program or a map was in use on that CPU: what it would have told is not known.
    pub sched_missed: Option<u64>,
}

/// One CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuFacts {
    /// Its number.
    pub cpu: u16,
    /// Whether it was online at last.
    pub online: Option<bool>,
    /// Core type: the main ID register in hex on Arm (`0x414fd0b1`), the model's name elsewhere.
    pub core: Option<String>,
    /// How fast it is, 1024 for the fastest, as the scheduler reckons.
    pub capacity: Option<u64>,
    /// Who chooses its clock.
    pub governor: Option<String>,
    /// Highest clock of the hardware, Hz.
    pub frequency_max_hz: Option<u64>,
    /// Lowest clock that the governor may choose, Hz.
    pub frequency_min_hz: Option<u64>,
    /// Highest clock that the governor may choose, Hz. Thermal limits change it on some systems.
    pub frequency_limit_hz: Option<Seen>,
    /// Time for which a hypervisor ran something else while this CPU wanted to run, ns; in steps of
    /// 10 ms on most systems.
    pub steal_ns: Option<Rise>,
}

/// A value over the session, read about once a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// First value.
    pub first: u64,
    /// Last value.
    pub last: u64,
    /// Least value that was read.
    pub min: u64,
    /// Greatest value that was read.
    pub max: u64,
}

/// How much a counter of the kernel rose between the first and the last reading, which are about a
/// second apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rise {
    /// From the first reading to the last.
    pub whole: u64,
    /// Time between these, ns.
    pub whole_ns: u64,
    /// Between readings that decode calls lie between and nothing else; `null` when there were
    /// none.
    pub decode: Option<u64>,
    /// Time between these, ns.
    pub decode_ns: u64,
}
