//! The kernel's PMUs, from sysfs.
//!
//! PMU names are not used, because one PMU can have several (`armv8_pmuv3`, `armv8_pmuv3_0`,
//! `armv8_cortex_a76`). A PMU is found by the CPUs that it lists, and these by their MIDR.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pmu {
    /// Name in sysfs.
    pub name: String,
    /// Type number, for perf_event_open.
    pub pmu_type: u32,
    /// CPUs that it counts on.
    pub cpus: Vec<u32>,
    /// Events that it lists: name in lower case, number.
    pub events: BTreeMap<String, u64>,
}

/// The bits of MIDR_EL1 that identify a core type: implementer and part, without variant, architecture and revision.
pub const MIDR_MASK: u32 = 0xff00_fff0;

/// Every PMU under `sysfs` (`/sys`) that lists its CPUs.
#[must_use]
pub fn all(sysfs: &Path) -> Vec<Pmu> {
    let dir = sysfs.join("bus/event_source/devices");
    let mut pmus: Vec<Pmu> =
        fs::read_dir(dir).into_iter().flatten().flatten().filter_map(|e| read(&e.path())).collect();
    pmus.sort_by(|a, b| a.name.cmp(&b.name));
    pmus
}

/// `None` for a PMU that does not list its CPUs: a software or uncore PMU.
fn read(dir: &Path) -> Option<Pmu> {
    let text = |file: &str| fs::read_to_string(dir.join(file)).ok();
    let cpus = cpu_list(text("cpus")?.trim());
    let pmu_type = text("type")?.trim().parse().ok()?;
    let name = dir.file_name()?.to_str()?.to_owned();
    let events = fs::read_dir(dir.join("events")).into_iter().flatten().flatten().filter_map(|e| {
        let name = e.file_name().to_str()?.to_ascii_lowercase();
        Some((name, number(&fs::read_to_string(e.path()).ok()?)?))
    });
    Some(Pmu { name, pmu_type, cpus, events: events.collect() })
}

/// `event=0x2a`, the only form that Arm core PMUs use.
fn number(text: &str) -> Option<u64> {
    let value = text.trim().strip_prefix("event=")?;
    match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => value.parse().ok(),
    }
}

/// The MIDR of an online CPU, masked by [`MIDR_MASK`]; `None` on other machines.
#[must_use]
pub fn midr(sysfs: &Path, cpu: u32) -> Option<u32> {
    let file = format!("devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
    let text = fs::read_to_string(sysfs.join(file)).ok()?;
    let value = u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()?;
    Some(u32::try_from(value & 0xffff_ffff).ok()? & MIDR_MASK)
}

/// Online CPUs.
///
/// # Errors The file that cannot be read, and why.
pub fn online(sysfs: &Path) -> Result<Vec<u32>, String> {
    let file = sysfs.join("devices/system/cpu/online");
    let text = fs::read_to_string(&file).map_err(|e| format!("reading {}: {e}", file.display()))?;
    Ok(cpu_list(text.trim()))
}

/// More CPUs than any Linux supports.
const MOST_CPUS: usize = 8192;

/// Parses `0-3,6`; numbers that no CPU can have are ignored.
#[must_use]
pub fn cpu_list(text: &str) -> Vec<u32> {
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|p| !p.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<u16>(), to.parse::<u16>()) {
            // A malformed file must not fill the memory.
            let room = MOST_CPUS.saturating_sub(cpus.len());
            cpus.extend((u32::from(from)..=u32::from(to)).take(room));
        }
    }
    cpus
}

/// Formats `0-3,6`.
#[must_use]
pub fn list_of(cpus: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = cpus;
    while let Some(first) = rest.first() {
        let run = rest.iter().zip(*first..).take_while(|(a, b)| **a == *b).count();
        let last = first + u32::try_from(run - 1).unwrap_or(0);
        parts.push(if run == 1 { first.to_string() } else { format!("{first}-{last}") });
        rest = &rest[run..];
    }
    parts.join(",")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        for (text, cpus) in
            [("", vec![]), ("0", vec![0]), ("0-3,6", vec![0, 1, 2, 3, 6]), ("1,3", vec![1, 3])]
        {
            assert_eq!(cpu_list(text), cpus);
            assert_eq!(list_of(&cpus), text);
        }
        assert_eq!(cpu_list("0-65535,0-9").len(), MOST_CPUS);
        assert_eq!(cpu_list("0-4294967295"), Vec::<u32>::new());
        assert_eq!(cpu_list("x,-,3-1"), Vec::<u32>::new());
    }

    #[test]
    fn reads_a_tree_of_two_core_types() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let pmu = "bus/event_source/devices/armv8_cortex_a76";
        write(&format!("{pmu}/cpus"), "4-7\n");
        write(&format!("{pmu}/type"), "9\n");
        write(&format!("{pmu}/events/l3d_cache_refill"), "event=0x002a\n");
        write(&format!("{pmu}/events/odd"), "config=1,umask=2\n");
        write("bus/event_source/devices/software/type", "1\n");
        write("devices/system/cpu/cpu4/regs/identification/midr_el1", "0x00000000414fd0b1\n");
        write("devices/system/cpu/online", "0-7\n");
        let pmus = all(root.path());
        let [a76] = &*pmus else { panic!("{pmus:?}") };
        assert_eq!((a76.pmu_type, &*a76.cpus), (9, &[4, 5, 6, 7][..]));
        assert_eq!(a76.events.iter().collect::<Vec<_>>(), [(&"l3d_cache_refill".to_owned(), &0x2a)]);
        assert_eq!(midr(root.path(), 4), Some(0x4100_d0b0));
        assert_eq!(midr(root.path(), 0), None);
        assert_eq!(online(root.path()).unwrap().len(), 8);
        assert!(online(&root.path().join("bus")).unwrap_err().contains("online"));
    }
}
