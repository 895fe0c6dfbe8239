//! The control group of a process: its limits, and how often it was throttled.

mod find;
mod frozen;
mod limit;
mod memory;
mod watched;

use std::path::{Path, PathBuf};

use profinfer_wire::record::fact::FactScope;

use super::read::{Open, field, number};
use super::send::{Changing, Sender};
use find::{Group, Groups};
use frozen::Frozen;
use watched::Watched;

/// Value of a limit that no group sets.
const NO_LIMIT: &str = "none";
/// ns in the unit of version 2's throttled time.
const MICROSECOND_NS: u64 = 1000;
/// Why a counter has no value between those of two groups.
const CHANGED: &str = "the process came to another control group, or a limit of its group changed";
/// The most of a CPU's capacity for which the scheduler chooses a clock and a core, in 1/100 %.
const CLAMP: &str = "cgroup.uclamp_max";
/// Facts of `cpu.stat`.
const COUNTS: [&str; 3] = ["cgroup.periods", "cgroup.throttled_periods", "cgroup.throttled_ns"];

/// The counts of the group with the tightest quota, or of the process's own group if there is no
/// quota.
#[derive(Debug)]
struct Throttling {
    stat: Open,
    counts: [Changing; 3],
}

/// The sampled values of a process's control group.
#[derive(Debug)]
pub(super) struct Cgroup {
    root: PathBuf,
    pid: u32,
    /// The list of its groups, and their limits.
    watched: Watched,
    throttling: Option<Throttling>,
    memory: memory::Memory,
    frozen: Frozen,
}

impl Cgroup {
    /// Sends the settings of the process's group.
    pub(super) fn begin(root: &Path, pid: u32, buffer: &mut [u8], out: &mut Sender<'_>) -> Self {
        let scope = FactScope::Process(pid);
        let groups = Groups::new(root, pid);
        let group =
            |controller| groups.as_ref().map_err(Clone::clone).and_then(|g| g.of_controller(controller));
        let mut watched = Watched::default();
        watched.add(root, &format!("/proc/{pid}/cgroup"), buffer);
        let cpuset = group("cpuset");
        if let Ok(group) = &cpuset {
            watched.add_levels(group, limit::cpuset_files(group.version), buffer);
        }
        out.text_or(scope, "cgroup.cpuset", cpuset.and_then(|g| limit::cpuset(&g)));
        let of_memory = group("memory");
        if let Ok(group) = &of_memory {
            watched.add_levels(group, limit::memory_files(group.version), buffer);
        }
        let memory = memory::Memory::begin(of_memory, scope, buffer, out);
        let throttling = match group("cpu") {
            Ok(group) => {
                watched.add_levels(&group, limit::cpu_files(group.version), buffer);
                send_limit(scope, CLAMP, limit::clamp(&group).as_ref().copied(), out);
                Throttling::new(&group, scope, buffer, out)
            }
            Err(why) => {
                let names = ["cgroup.path", "cgroup.version", "cgroup.quota_us", "cgroup.period_us", CLAMP];
                names.iter().chain(&COUNTS).for_each(|name| out.absent(scope, name, &why));
                None
            }
        };
        let frozen = Frozen::begin(groups.as_ref().map_err(Clone::clone), scope, buffer, out);
        Self { root: root.to_owned(), pid, watched, throttling, memory, frozen }
    }

    pub(super) fn sample(&mut self, scope: FactScope, buffer: &mut [u8], out: &mut Sender<'_>) {
        if let Some(throttling) = &mut self.throttling {
            throttling.sample(scope, buffer, out);
        }
        self.memory.sample(scope, buffer, out);
        self.frozen.sample(scope, buffer, out);
    }

    /// Whether the process came to another group, or a limit changed.
    pub(super) fn has_changed(&mut self, buffer: &mut [u8]) -> bool {
        self.watched.changed(buffer)
    }

    /// Sends all settings again. Counters of another group do not continue those of this one.
    pub(super) fn begin_again(&mut self, scope: FactScope, buffer: &mut [u8], out: &mut Sender<'_>) {
        COUNTS.iter().chain(&memory::NAMES).for_each(|name| out.absent(scope, name, CHANGED));
        *self = Self::begin(&self.root, self.pid, buffer, out);
    }
}

impl Throttling {
    fn new(group: &Group, scope: FactScope, buffer: &mut [u8], out: &mut Sender<'_>) -> Option<Self> {
        out.text(scope, "cgroup.path", &group.path);
        out.number(scope, "cgroup.version", group.version);
        let quota = limit::quota(group);
        match &quota {
            Ok(Some(quota)) => {
                out.number(scope, "cgroup.quota_us", quota.quota_us);
                out.number(scope, "cgroup.period_us", quota.period_us);
                out.number(scope, "cgroup.quota.level", quota.level as u64);
            }
            Ok(None) => out.text(scope, "cgroup.quota_us", NO_LIMIT),
            Err(why) => out.absent(scope, "cgroup.quota_us", why),
        }
        let level = quota.ok().flatten().map_or(0, |quota| quota.level);
        let stat = group.levels.get(level).ok_or_else(|| "the control group has no folder".to_owned());
        let opened = stat.and_then(|folder| Open::new(folder, "/cpu.stat"));
        let values = opened.as_ref().map_err(Clone::clone).and_then(|file| counts(file, buffer));
        let mut counts: [Changing; 3] = Default::default();
        for (i, (changing, name)) in counts.iter_mut().zip(COUNTS).enumerate() {
            let value = values
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|v| v[i].ok_or_else(|| NOT_COUNTED.to_owned()));
            changing.begin(out, scope, name, value);
        }
        opened.ok().map(|stat| Self { stat, counts })
    }

    fn sample(&mut self, scope: FactScope, buffer: &mut [u8], out: &mut Sender<'_>) {
        let Ok(values) = self.stat.read(buffer).map(of_text) else { return };
        for ((changing, name), value) in self.counts.iter_mut().zip(COUNTS).zip(values) {
            changing.send(out, scope, name, value);
        }
    }
}

/// Bytes that a process may still allocate within the limits of its control groups; `None` without
/// limits.
#[cfg(feature = "bench")]
pub(super) fn memory_left(root: &Path, pid: u32) -> Option<u64> {
    limit::memory_left(&Groups::new(root, pid).ok()?.of_controller("memory").ok()?)
}

/// Sends a limit, `none` where no group sets one, or why it is unknown.
fn send_limit(scope: FactScope, name: &str, limit: Result<Option<u64>, &String>, out: &mut Sender<'_>) {
    match limit {
        Ok(Some(limit)) => out.number(scope, name, limit),
        Ok(None) => out.text(scope, name, NO_LIMIT),
        Err(why) => out.absent(scope, name, why),
    }
}

const NOT_COUNTED: &str = "the control group does not count it: its controller cpu is off";

fn counts(file: &Open, buffer: &mut [u8]) -> Result<[Option<u64>; 3], String> {
    file.read(buffer).map(of_text).map_err(|e| format!("reading cpu.stat: {e}"))
}

/// Periods, throttled periods, and throttled time in ns.
fn of_text(text: &[u8]) -> [Option<u64>; 3] {
    let of = |key: &str| field(text, key).and_then(number);
    let ns = of("throttled_time ");
    let us = || of("throttled_usec ").and_then(|us| us.checked_mul(MICROSECOND_NS));
    [of("nr_periods "), of("nr_throttled "), ns.or_else(us)]
}
