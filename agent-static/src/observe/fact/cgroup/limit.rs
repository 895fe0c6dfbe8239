//! The effective limits of a control group and its parents: the tightest one applies.

use std::io::{self, ErrorKind};
use std::path::Path;

#[cfg(feature = "bench")]
use super::super::read::{field, number as parse_number};
use super::find::Group;

/// Version 1 uses the largest multiple of the page size for "no limit" of memory.
const NO_MEMORY_LIMIT: u64 = 1 << 60;

/// CPU time that a group may use in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) quota_us: u64,
    pub(super) period_us: u64,
    /// Index among the group's levels.
    pub(super) level: usize,
}

/// The tightest quota; `None` if no group has one.
pub(super) fn quota(group: &Group) -> Result<Option<Quota>, String> {
    let mut tightest: Option<Quota> = None;
    for (level, folder) in group.levels.iter().enumerate() {
        let Some((quota_us, period_us)) = own_quota(folder, group.version)? else { continue };
        let tighter = tightest.is_none_or(|t| {
            u128::from(quota_us) * u128::from(t.period_us) < u128::from(t.quota_us) * u128::from(period_us)
        });
        if tighter {
            tightest = Some(Quota { quota_us, period_us, level });
        }
    }
    Ok(tightest)
}

/// Files that limit the CPU time and the clock of a group.
pub(super) const fn cpu_files(version: u64) -> &'static [&'static str] {
    match version {
        1 => &["cpu.cfs_quota_us", "cpu.cfs_period_us", CLAMP],
        _ => &["cpu.max", CLAMP],
    }
}

/// The most of a CPU's capacity that the scheduler assumes a task to use, in percent with two decimals: Android
/// lowers it for applications in the background.
const CLAMP: &str = "cpu.uclamp.max";

/// The lowest `cpu.uclamp.max` of the group and its parents, in 1/100 %; `None` if no group has one.
pub(super) fn clamp(group: &Group) -> Result<Option<u64>, String> {
    let mut lowest: Option<u64> = None;
    for folder in &group.levels {
        let Some(limit) = text(folder, CLAMP)?.filter(|limit| limit != "max") else { continue };
        let of = hundredths(&limit)
            .ok_or_else(|| format!("{}/{CLAMP} is no percentage: {limit}", folder.display()))?;
        lowest = Some(lowest.map_or(of, |l| l.min(of)));
    }
    Ok(lowest)
}

/// 1/100 of a number with up to two decimals.
fn hundredths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part: u64 = match part.len() {
        0 => 0,
        1 => part.parse::<u64>().ok()? * 10,
        2 => part.parse().ok()?,
        _ => return None,
    };
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part)
}

/// Quota and period of one group.
fn own_quota(folder: &Path, version: u64) -> Result<Option<(u64, u64)>, String> {
    let (quota, period) = match version {
        1 => (text(folder, "cpu.cfs_quota_us")?, text(folder, "cpu.cfs_period_us")?),
        _ => match text(folder, "cpu.max")? {
            Some(max) => max.split_once(' ').map_or((Some(max.clone()), None), |(quota, period)| {
                (Some(quota.to_owned()), Some(period.to_owned()))
            }),
            None => (None, None),
        },
    };
    match (quota.as_deref(), period.as_deref().map(str::parse)) {
        (None | Some("max" | "-1"), _) => Ok(None),
        (Some(quota), Some(Ok(period))) if period > 0 => {
            let unreadable = |_| format!("the quota of {} is not a number: {quota}", folder.display());
            quota.parse().map(|quota| Some((quota, period))).map_err(unreadable)
        }
        _ => Err(format!("the quota of {} has no period", folder.display())),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) bytes: u64,
    /// Index among the group's levels.
    pub(super) level: usize,
}

/// Files that limit the memory of a group: the limit, and in version 2 `memory.high`.
pub(super) const fn memory_files(version: u64) -> &'static [&'static str] {
    match version {
        1 => &["memory.limit_in_bytes"],
        _ => &["memory.max", "memory.high"],
    }
}

/// The tightest memory limit; `None` if no group has one.
pub(super) fn memory(group: &Group) -> Result<Option<Memory>, String> {
    tightest(group, memory_files(group.version)[0])
}

/// The tightest limit above which a group is slowed down; `None` if no group has one, always so in
/// version 1.
pub(super) fn memory_high(group: &Group) -> Result<Option<Memory>, String> {
    if group.version == 1 { Ok(None) } else { tightest(group, "memory.high") }
}

fn tightest(group: &Group, name: &str) -> Result<Option<Memory>, String> {
    let mut tightest: Option<Memory> = None;
    for (level, folder) in group.levels.iter().enumerate() {
        let Some(limit) = text(folder, name)?.filter(|limit| limit != "max") else { continue };
        let limit: u64 =
            limit.parse().map_err(|_| format!("{}/{name} is not a number: {limit}", folder.display()))?;
        if limit < NO_MEMORY_LIMIT && tightest.is_none_or(|t| limit < t.bytes) {
            tightest = Some(Memory { bytes: limit, level });
        }
    }
    Ok(tightest)
}

/// Bytes that the group may still allocate before it or a parent reaches a limit; `None` if no
/// readable limit exists. Inactive file pages count as free, because the kernel drops them first.
#[cfg(feature = "bench")]
pub(super) fn memory_left(group: &Group) -> Option<u64> {
    let (limits, usage, idle): (&[&str], _, _) = match group.version {
        1 => (&["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_inactive_file "),
        _ => (&["memory.max", "memory.high"], "memory.current", "inactive_file "),
    };
    let left = |folder: &std::path::PathBuf| {
        let number = |name: &str| text(folder, name).ok()??.parse::<u64>().ok();
        let limit = limits.iter().filter_map(|name| number(name)).filter(|l| *l < NO_MEMORY_LIMIT).min()?;
        let stat = text(folder, "memory.stat").ok().flatten().unwrap_or_default();
        let idle = field(stat.as_bytes(), idle).and_then(parse_number).unwrap_or(0);
        Some(limit.saturating_sub(number(usage).unwrap_or(0).saturating_sub(idle)))
    };
    group.levels.iter().filter_map(left).min()
}

/// Files that list the CPUs of a group.
pub(super) const fn cpuset_files(version: u64) -> &'static [&'static str] {
    match version {
        1 => &["cpuset.effective_cpus", "cpuset.cpus"],
        _ => &["cpuset.cpus.effective"],
    }
}

/// The CPUs that the group may use: those of the nearest group that lists them.
pub(super) fn cpuset(group: &Group) -> Result<String, String> {
    for folder in &group.levels {
        for name in cpuset_files(group.version) {
            if let Some(list) = text(folder, name)?.filter(|list| !list.is_empty()) {
                return Ok(list);
            }
        }
    }
    Err("no control group of the process lists its CPUs".to_owned())
}

/// A group without this file sets no limit: the outermost ones have none.
fn text(folder: &Path, name: &str) -> Result<Option<String>, String> {
    match std::fs::read_to_string(folder.join(name)) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(why(folder, name, &e)),
    }
}

fn why(folder: &Path, name: &str, e: &io::Error) -> String {
    format!("reading {}/{name}: {e}", folder.display())
}
