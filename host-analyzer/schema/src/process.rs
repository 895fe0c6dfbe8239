//! `conditions.processes` and `conditions.threads`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::{Rise, Seen};

/// Facts about one traced process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFacts {
    /// Process id.
    pub pid: u32,
    /// Path of the program.
    pub program: Option<String>,
    /// Environment variables of OpenMP, GGML and llama.cpp, by name. Empty without meaning if
    /// `variables` is `null`.
    pub environment: Vec<Variable>,
    /// Number of such variables; at most 64 are in `environment`. `null` if they were not read.
    pub variables: Option<u64>,
    /// CPU affinity of the main thread.
    pub affinity: Option<Vec<u16>>,
    /// Control group.
    pub cgroup: Cgroup,
    /// Resident anonymous memory, bytes: heap, copied or repacked weights, KV cache.
    pub rss_anonymous_bytes: Option<Seen>,
    /// Resident file mappings, bytes; for example mapped weights.
    pub rss_file_bytes: Option<Seen>,
    /// Resident shared memory without a file, bytes.
    pub rss_shared_bytes: Option<Seen>,
    /// Anonymous memory in huge pages, bytes. Read when the agent finds the process, after it began
    /// to compute, and at the end.
    pub huge_anonymous_bytes: Option<Seen>,
    /// File mappings in huge pages, bytes. Read at the same times as `huge_anonymous_bytes`.
    pub huge_file_bytes: Option<Seen>,
    /// Major page faults: they waited for storage.
    pub major_faults: Option<Rise>,
    /// Minor page faults.
    pub minor_faults: Option<Rise>,
    /// Bytes read from storage for this process.
    pub storage_read_bytes: Option<Rise>,
    /// Bytes that it read from files into the page cache, the most first. Empty if that was not recorded.
    pub file_reads: Vec<FileRead>,
    /// Anonymous memory in swap, bytes.
    pub swapped_bytes: Option<Seen>,
    /// Number of threads.
    pub threads: Option<Seen>,
    /// Nice value, -20 to 19.
    pub nice: Option<i64>,
    /// The process ended before the session did.
    pub ended: bool,
}

/// What a process read from a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileRead {
    /// Name without its folders; `inode N` if it is not known.
    pub file: String,
    /// Bytes, in pages of 4 KiB.
    pub bytes: Rise,
}

/// An environment variable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Value; `null` if it was too long or may be a secret.
    pub value: Option<String>,
}

/// Control group of a process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    /// Path in the hierarchy of the CPU controller.
    pub path: Option<String>,
    /// cgroup version, 1 or 2.
    pub version: Option<u64>,
    /// Tightest CPU quota of the group and its ancestors; the text `none` if no quota is set,
    /// `null` if unknown.
    pub quota: Option<Limit<Quota>>,
    /// Lowest `cpu.uclamp.max` of the group and its ancestors, 1/100 %: the most of a CPU's capacity for which
    /// the scheduler chooses a clock and a core; the text `none` if none is set, `null` if unknown.
    pub uclamp_max: Option<Limit<u64>>,
    /// Quota periods in which the group with the quota ran.
    pub periods: Option<Rise>,
    /// Quota periods in which the group was throttled.
    pub throttled_periods: Option<Rise>,
    /// Throttled time, ns; the kernel sums it over CPUs.
    pub throttled_ns: Option<Rise>,
    /// CPUs of the cpuset.
    pub cpuset: Option<Vec<u16>>,
    /// Tightest memory limit of the group and its ancestors, bytes; the text `none` if no limit is
    /// set, `null` if unknown.
    pub memory_limit_bytes: Option<Limit<u64>>,
    /// Tightest `memory.high` of the group and its ancestors, bytes: above it, the kernel takes memory from
    /// the group and slows its tasks down; the text `none` if none is set, `null` if unknown.
    pub memory_high_bytes: Option<Limit<u64>>,
    /// How often the group exceeded `memory.high`.
    pub memory_high_events: Option<Rise>,
    /// Time in which all tasks of the group waited for memory, ns.
    pub memory_stalled_ns: Option<Rise>,
}

/// A CPU quota.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// CPU time per period, µs.
    pub quota_us: u64,
    /// Period, µs.
    pub period_us: u64,
    /// The quota in 1/1000 of a CPU.
    pub milli_cpus: u64,
    /// Group with this quota: 0 is the process's group, 1 its parent, and so on.
    pub level: Option<u64>,
}

/// Facts about a thread that computed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFacts {
    /// Kernel thread id.
    pub tid: u32,
    /// CPU affinity; that of the process if the thread has none.
    pub affinity: Option<Vec<u16>>,
    /// Scheduling policy if it is not SCHED_OTHER, for example `SCHED_FIFO 50`.
    pub policy: Option<String>,
    /// Time on a CPU, ns.
    pub run_ns: Option<Rise>,
    /// Time on the run queue, runnable but not running, ns.
    pub run_delay_ns: Option<Rise>,
}

/// A limit of a control group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Limit<T> {
    /// No limit: the text `none`.
    Unset(Unset),
    /// The limit.
    At(T),
}

/// The text `none`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum Unset {
    /// No limit is set.
    #[serde(rename = "none")]
    None,
}
