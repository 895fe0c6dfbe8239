//! A traced process and its threads.

use super::reading::{Course, FileRead, Limit, Reading, Rise};
use super::table::Table;
use profinfer_trace::model::{FactScope, FactValue, Model};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// Path of its program.
    pub program: Reading<String>,
    /// Variables of OpenMP, GGML and llama.cpp in its environment, by name. `variables` shows
    /// whether they were read.
    pub environment: Vec<Variable>,
    /// Number of such variables. `environment` has at most 64 of them.
    pub variables: Reading<u64>,
    /// CPUs on which its first thread may run.
    pub affinity: Reading<Vec<u16>>,
    /// All CPUs that were in `affinity` at some time of the session.
    pub affinity_ever: Vec<u16>,
    pub cgroup: Cgroup,
    /// Anonymous resident memory, bytes: heap, copied or repacked weights, KV cache.
    pub rss_anonymous_bytes: Reading<Course>,
    /// Resident memory mapped from files, bytes, for example weights.
    pub rss_file_bytes: Reading<Course>,
    /// Shared resident memory without a file, bytes.
    pub rss_shared_bytes: Reading<Course>,
    /// Anonymous memory in huge pages, bytes. Read when the agent first saw the process, when it
    /// had begun to compute, and at the end.
    pub huge_anonymous_bytes: Reading<Course>,
    /// Mapped files in huge pages, bytes; read at the same times.
    pub huge_file_bytes: Reading<Course>,
    /// Page faults that waited for storage.
    pub major_faults: Reading<Rise>,
    /// Other page faults.
    pub minor_faults: Reading<Rise>,
    /// Bytes read from storage.
    pub storage_read_bytes: Reading<Rise>,
    /// Bytes read from files into the page cache, by file name, most first; empty if it was not recorded.
    pub file_reads: Vec<FileRead>,
    /// Anonymous memory that is in swap, bytes.
    pub swapped_bytes: Reading<Course>,
    pub threads: Reading<Course>,
    /// -20 to 19.
    pub nice: Reading<i64>,
    /// It ended before the session did.
    pub ended: bool,
}

/// An environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// Absent when it was too long or may be a secret.
    pub value: Reading<String>,
}

/// The control group of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cgroup {
    /// Path of its group in the CPU controller.
    pub path: Reading<String>,
    /// 1 or 2.
    pub version: Reading<u64>,
    /// The tightest CPU quota of this group and its ancestors.
    pub quota: Reading<Limit<Quota>>,
    /// The lowest `cpu.uclamp.max` of this group and its ancestors, 1/100 %: the most of a CPU's capacity for
    /// which the scheduler chooses a clock and a core.
    pub uclamp_max: Reading<Limit<u64>>,
    /// Periods in which the group with the quota ran.
    pub periods: Reading<Rise>,
    /// Periods in which the group was throttled, because it had used up the quota.
    pub throttled_periods: Reading<Rise>,
    /// Throttled time, ns; the kernel sums it over CPUs.
    pub throttled_ns: Reading<Rise>,
    /// CPUs that it may use.
    pub cpuset: Reading<Vec<u16>>,
    /// The tightest memory limit of this group and its ancestors, bytes.
    pub memory_limit_bytes: Reading<Limit<u64>>,
    /// The tightest `memory.high` of this group and its ancestors, bytes: above it, the kernel takes memory
    /// from the group and slows its tasks down.
    pub memory_high_bytes: Reading<Limit<u64>>,
    /// How often the group exceeded `memory.high`.
    pub memory_high_events: Reading<Rise>,
    /// Time in which all tasks of the group waited for memory, ns.
    pub memory_stalled_ns: Reading<Rise>,
}

/// A CPU quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// CPU time per period, µs.
    pub quota_us: u64,
    /// Period, µs.
    pub period_us: u64,
    /// Quota divided by period, 1/1000 of a CPU.
    pub milli_cpus: u64,
    /// Group that has the quota: 0 is the process's own, 1 its parent.
    pub level: Option<u64>,
}

impl Process {
    pub(super) fn new(table: &Table<'_>, pid: u32) -> Self {
        let scope = FactScope::Process(pid);
        Self {
            pid,
            program: table.text(scope, "program"),
            environment: environment(table, scope),
            variables: table.number(scope, "environment.read"),
            affinity: table.cpus(scope, "affinity"),
            affinity_ever: table.cpus_ever(scope, "affinity"),
            cgroup: Cgroup::new(table, scope),
            rss_anonymous_bytes: table.course(scope, "rss.anonymous"),
            rss_file_bytes: table.course(scope, "rss.file"),
            rss_shared_bytes: table.course(scope, "rss.shared"),
            huge_anonymous_bytes: table.course(scope, "huge.anonymous"),
            huge_file_bytes: table.course(scope, "huge.file"),
            major_faults: table.rise(scope, "faults.major"),
            minor_faults: table.rise(scope, "faults.minor"),
            storage_read_bytes: table.rise(scope, "io.read_bytes"),
            file_reads: table.file_reads(scope),
            swapped_bytes: table.course(scope, "swapped"),
            threads: table.course(scope, "threads"),
            nice: nice(table.text(scope, "nice")),
            ended: table.last(scope, "ended").is_some(),
        }
    }

    /// The value of a variable, if it was read and the process has it.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        let variable = self.environment.iter().find(|v| v.name == name)?;
        variable.value.value().map(String::as_str)
    }

    /// Its variables ask for threads that sleep at barriers.
    #[must_use]
    pub fn asks_for_sleep(&self) -> bool {
        let is = |name, wanted| self.variable(name).is_some_and(|v| v.trim().eq_ignore_ascii_case(wanted));
        is("OMP_WAIT_POLICY", "passive") || is("GOMP_SPINCOUNT", "0")
    }

    /// The CPUs to which libgomp binds the threads of the process by a variable, sorted: `0 2-4`, `0-6:2`.
    #[must_use]
    pub fn bound_by_variable(&self) -> Option<Vec<u16>> {
        const BINDS: &str = "GOMP_CPU_AFFINITY";
        let mut cpus = Vec::new();
        for part in self.variable(BINDS)?.split([' ', ',']).filter(|part| !part.is_empty()) {
            let (range, step) = part.split_once(':').unwrap_or((part, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
            cpus.extend((first..=last).step_by(step.parse().ok().filter(|step| *step > 0)?));
        }
        cpus.sort_unstable();
        cpus.dedup();
        Some(cpus)
    }

    /// CPUs that its threads may use together, 1/1000: the least of affinity, the group's CPUs and
    /// its quota.
    #[must_use]
    pub fn milli_cpus(&self) -> Option<u64> {
        let list = |cpus: &Reading<Vec<u16>>| cpus.value().map(|cpus| cpus.len() as u64 * 1000);
        let quota = self.cgroup.quota.value().and_then(Limit::get).map(|q| q.milli_cpus);
        [list(&self.affinity), list(&self.cgroup.cpuset), quota].into_iter().flatten().min()
    }
}

/// After exec, a process has another environment: use the variables read with the latest count.
fn environment(table: &Table<'_>, scope: FactScope) -> Vec<Variable> {
    let Some(last) = table.last(scope, "environment.read") else { return Vec::new() };
    let of_it = table.beginning(scope, "env.").filter(|(_, fact)| fact.at_ns == last.at_ns);
    of_it.map(|(name, fact)| Variable { name: name.to_owned(), value: table.as_text(fact) }).collect()
}

fn nice(text: Reading<String>) -> Reading<i64> {
    text.and_then(|text| match text.parse() {
        Ok(nice) => Reading::Value(nice),
        Err(_) => Reading::Absent("it is not a number".to_owned()),
    })
}

impl Cgroup {
    fn new(table: &Table<'_>, scope: FactScope) -> Self {
        Self {
            path: table.text(scope, "cgroup.path"),
            version: table.number(scope, "cgroup.version"),
            quota: limit(table, scope, "cgroup.quota_us").and_then(|quota_us| quota(table, scope, quota_us)),
            uclamp_max: limit(table, scope, "cgroup.uclamp_max"),
            periods: table.rise(scope, "cgroup.periods"),
            throttled_periods: table.rise(scope, "cgroup.throttled_periods"),
            throttled_ns: table.rise(scope, "cgroup.throttled_ns"),
            cpuset: table.cpus(scope, "cgroup.cpuset"),
            memory_limit_bytes: limit(table, scope, "cgroup.memory.limit"),
            memory_high_bytes: limit(table, scope, "cgroup.memory.high"),
            memory_high_events: table.rise(scope, "cgroup.memory.high_events"),
            memory_stalled_ns: table.rise(scope, "cgroup.memory.stalled_ns"),
        }
    }
}

/// A number; any text means that no limit is set.
fn limit<'m>(table: &Table<'m>, scope: FactScope, name: &'m str) -> Reading<Limit<u64>> {
    match table.last(scope, name).map(|fact| fact.value) {
        Some(FactValue::Text(_)) => Reading::Value(Limit::None),
        _ => table.number(scope, name).map(Limit::At),
    }
}

fn quota(table: &Table<'_>, scope: FactScope, quota_us: Limit<u64>) -> Reading<Limit<Quota>> {
    let Limit::At(quota_us) = quota_us else { return Reading::Value(Limit::None) };
    table.number(scope, "cgroup.period_us").and_then(|period_us| {
        let milli_cpus = quota_us.saturating_mul(1000).checked_div(period_us);
        let level = table.number(scope, "cgroup.quota.level").value().copied();
        match milli_cpus {
            Some(milli_cpus) => Reading::Value(Limit::At(Quota { quota_us, period_us, milli_cpus, level })),
            None => Reading::Absent("its period is 0".to_owned()),
        }
    })
}

/// A thread that computed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// Thread id of the kernel.
    pub tid: u32,
    /// CPUs on which it may run: its own list, or its process's where it has none.
    pub affinity: Reading<Vec<u16>>,
    /// Scheduling policy where it is not SCHED_OTHER, for example `SCHED_FIFO 50`.
    pub policy: Option<String>,
    /// Time on a CPU, ns.
    pub run_ns: Reading<Rise>,
    /// Time runnable without a CPU, ns.
    pub run_delay_ns: Reading<Rise>,
}

impl Thread {
    pub(super) fn compute(table: &Table<'_>, model: &Model, tid: u32) -> Self {
        let scope = FactScope::Thread(tid);
        let process = || model.threads.iter().find(|(_, t)| t.tid == tid).map(|(_, t)| t.pid);
        let affinity = match table.cpus(scope, "affinity") {
            Reading::Unrecorded => {
                process().map_or(Reading::Unrecorded, |pid| table.cpus(FactScope::Process(pid), "affinity"))
            }
            own => own,
        };
        Self {
            tid,
            affinity,
            policy: table.text(scope, "sched.policy").value().cloned(),
            run_ns: table.rise(scope, "run_ns"),
            run_delay_ns: table.rise(scope, "run_delay_ns"),
        }
    }
}
