//! `conditions.processes` and `conditions.threads`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::{Rise, Seen};

/// One traced process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFacts {
    /// Process id.
    pub pid: u32,
    /// Path of its program.
    pub program: Option<String>,
    /// Variables of OpenMP, GGML and llama.cpp in its environment, by name. Whether they were read
    /// says `variables`.
    pub environment: Vec<Variable>,
    /// How many such variables it has; more than 64 are not all in `environment`.
    pub variables: Option<u64>,
    /// CPUs on which its first thread may run.
    pub affinity: Option<Vec<u16>>,
    /// Its control group.
    pub cgroup: Cgroup,
    /// Resident memory of its own: heap, copied or repacked weights, KV cache, bytes.
    pub rss_anonymous_bytes: Option<Seen>,
    /// Resident memory that is mapped from files, for example weights, bytes.
    pub rss_file_bytes: Option<Seen>,
    /// Resident memory that is shared and of no file, bytes.
    pub rss_shared_bytes: Option<Seen>,
    /// Memory of its own in huge pages, bytes; read when the process was met, when it had begun to
    /// compute, and at the end.
    pub huge_anonymous_bytes: Option<Seen>,
    /// Mapped files in huge pages, bytes; read at the same times.
    pub huge_file_bytes: Option<Seen>,
    /// Page faults that waited for storage.
    pub major_faults: Option<Rise>,
    /// Other page faults.
    pub minor_faults: Option<Rise>,
    /// Bytes that it had read from storage.
    pub storage_read_bytes: Option<Rise>,
    /// Threads.
    pub threads: Option<Seen>,
    /// Nice value, -20 to 19.
    pub nice: Option<i64>,
    /// It ended before the session did.
    pub ended: bool,
}

/// A variable of the environment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Value; absent when it was too long or may be a secret.
    pub value: Option<String>,
}

/// The control group of a process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    /// Path of the group that the controller of CPU time has it in.
    pub path: Option<String>,
    /// 1 or 2.
    pub version: Option<u64>,
    /// The tightest quota of CPU time of this group and those around it.
    pub quota: Option<Limit<Quota>>,
    /// Periods in which the group with the quota ran.
    pub periods: Option<Rise>,
    /// Periods in which it was stopped, because the quota was used up.
    pub throttled_periods: Option<Rise>,
    /// For how long, ns, as the kernel counts it: summed over CPUs.
    pub throttled_ns: Option<Rise>,
    /// CPUs that it may use.
    pub cpuset: Option<Vec<u16>>,
    /// The tightest limit of memory of this group and those around it, bytes.
    pub memory_limit_bytes: Option<Limit<u64>>,
}

/// A quota of CPU time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// CPU time in each period, µs.
    pub quota_us: u64,
    /// Period, µs.
    pub period_us: u64,
    /// What it comes to, 1/1000 of a CPU.
    pub milli_cpus: u64,
    /// Which group has it: 0 the process's own, 1 the one around that.
    pub level: Option<u64>,
}

/// A thread that computed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFacts {
    /// Thread id of the kernel.
    pub tid: u32,
    /// CPUs on which it may run: its own list, or its process's where it has none.
    pub affinity: Option<Vec<u16>>,
    /// How it is scheduled where it differs from most threads (SCHED_OTHER), for example
    /// `SCHED_FIFO 50`.
    pub policy: Option<String>,
    /// Time that it had a CPU, ns.
    pub run_ns: Option<Rise>,
    /// Time that it wanted a CPU and had none, ns.
    pub run_delay_ns: Option<Rise>,
}

/// A limit of a control group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Limit<T> {
    /// No limit is set: the text `none`.
    Unset(Unset),
    /// This one.
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
