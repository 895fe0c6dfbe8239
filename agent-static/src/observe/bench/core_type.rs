//! Core types, as the kernel distinguishes them: by MIDR on Arm, elsewhere by the processor's name
//! and capacity.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::observe::counter::pmu;

/// CPUs of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CoreType {
    /// Name for people; empty if the kernel does not report one.
    pub(super) name: String,
    pub(super) cpus: Vec<u32>,
    /// Relative speed, 1024 for the machine's fastest core; 0 if not reported.
    pub(super) capacity: u32,
}

/// Arm's cores by the part number of their MIDR_EL1 (from the manual of each core).
const ARM: [(u32, &str); 25] = [
    (0xd03, "Cortex-A53"),
    (0xd04, "Cortex-A35"),
    (0xd05, "Cortex-A55"),
    (0xd07, "Cortex-A57"),
    (0xd08, "Cortex-A72"),
    (0xd09, "Cortex-A73"),
    (0xd0a, "Cortex-A75"),
    (0xd0b, "Cortex-A76"),
    (0xd0c, "Neoverse-N1"),
    (0xd0d, "Cortex-A77"),
    (0xd0e, "Cortex-A76AE"),
    (0xd40, "Neoverse-V1"),
    (0xd41, "Cortex-A78"),
    (0xd42, "Cortex-A78AE"),
    (0xd44, "Cortex-X1"),
    (0xd46, "Cortex-A510"),
    (0xd47, "Cortex-A710"),
    (0xd48, "Cortex-X2"),
    (0xd49, "Neoverse-N2"),
    (0xd4b, "Cortex-A78C"),
    (0xd4d, "Cortex-A715"),
    (0xd4e, "Cortex-X3"),
    (0xd4f, "Neoverse-V2"),
    (0xd80, "Cortex-A520"),
    (0xd81, "Cortex-A720"),
];

/// The types of these CPUs, the fastest first. `root` is `/`.
#[must_use]
pub(super) fn types(root: &Path, cpus: &[u32]) -> Vec<CoreType> {
    // Used for names only: without it, other properties distinguish the types.
    let named =
        fs::read_to_string(root.join("proc/cpuinfo")).map_or_else(|_| BTreeMap::new(), |text| names(&text));
    let sysfs = root.join("sys");
    let hybrid = ["cpu_core", "cpu_atom"].map(|pmu| {
        let cpus = fs::read_to_string(sysfs.join("devices").join(pmu).join("cpus"));
        (pmu, cpus.map_or_else(|_| Vec::new(), |list| pmu::cpu_list(list.trim())))
    });
    let mut types: BTreeMap<(u32, String), CoreType> = BTreeMap::new();
    for cpu in cpus {
        let capacity = fs::read_to_string(sysfs.join(format!("devices/system/cpu/cpu{cpu}/cpu_capacity")));
        let capacity = capacity.ok().and_then(|c| c.trim().parse().ok()).unwrap_or(0);
        let midr = pmu::midr(&sysfs, *cpu);
        let mut name = midr.map_or_else(|| named.get(cpu).cloned().unwrap_or_default(), arm);
        if let Some((pmu, _)) = hybrid.iter().find(|(_, cpus)| cpus.contains(cpu)) {
            name = format!("{name} ({pmu})");
        }
        // Without a MIDR, the capacity distinguishes cores. With a MIDR, the capacity may differ
        // within a type, because of the clock.
        let apart = if midr.is_some() { 0 } else { capacity };
        let empty = || CoreType { name: name.clone(), cpus: Vec::new(), capacity };
        let core = types.entry((apart, name.clone())).or_insert_with(empty);
        core.cpus.push(*cpu);
        core.capacity = core.capacity.max(capacity);
    }
    let mut types: Vec<CoreType> = types.into_values().collect();
    types.sort_by_key(|t| (std::cmp::Reverse(t.capacity), t.cpus[0]));
    for i in 0..types.len() {
        if types.iter().any(|t| t.name == types[i].name && t.capacity > types[i].capacity) {
            types[i].name =
                format!("{} of capacity {}", types[i].name, types[i].capacity).trim_start().to_owned();
        }
    }
    types
}

/// Name of a MIDR without variant and revision.
fn arm(midr: u32) -> String {
    let part = midr >> 4 & 0xfff;
    let known = ARM.iter().find(|(p, _)| *p == part && midr >> 24 == 0x41);
    known.map_or_else(|| format!("MIDR {midr:#010x}"), |(_, name)| (*name).to_owned())
}

/// Name of each CPU in /proc/cpuinfo.
fn names(cpuinfo: &str) -> BTreeMap<u32, String> {
    let mut names = BTreeMap::new();
    let (mut cpu, mut implementer) = (None, 0);
    let hex = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let name = match key.trim() {
            "processor" => {
                cpu = value.parse::<u32>().ok();
                continue;
            }
            "CPU implementer" => {
                implementer = hex(value).unwrap_or(0) & 0xff;
                continue;
            }
            "CPU part" => hex(value).map(|part| arm(implementer << 24 | (part & 0xfff) << 4)),
            "model name" => Some(value.to_owned()),
            _ => continue,
        };
        if let (Some(cpu), Some(name)) = (cpu, name) {
            names.insert(cpu, name);
        }
    }
    names
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn names_and_cpus(root: &tempfile::TempDir, cpus: &[u32]) -> Vec<(String, Vec<u32>)> {
        types(root.path(), cpus).into_iter().map(|t| (t.name, t.cpus)).collect()
    }

    #[test]
    fn by_midr_whatever_the_capacity() {
        let midr = |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
        let capacity = |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity");
        let files = [
            (midr(0), "0x00000000412fd050"),
            (midr(4), "0x00000000414fd0b0"),
            (midr(6), "0x00000000414fd0b0"),
            (midr(7), "0x0000000051af8020"),
            (capacity(0), "530"),
            (capacity(4), "1000"),
            (capacity(6), "1024"),
        ];
        let root = tree(&files.each_ref().map(|(path, text)| (path.as_str(), *text)));
        let expected = [("Cortex-A76", vec![4, 6]), ("Cortex-A55", vec![0]), ("MIDR 0x51008020", vec![7])];
        assert_eq!(
            names_and_cpus(&root, &[0, 4, 6, 7]),
            expected.map(|(name, cpus)| (name.to_owned(), cpus))
        );
        assert_eq!(names_and_cpus(&root, &[4]), [("Cortex-A76".to_owned(), vec![4])]);
    }

    #[test]
    fn by_cpuinfo() {
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n";
        let root = tree(&[("proc/cpuinfo", arm)]);
        assert_eq!(
            names_and_cpus(&root, &[0, 1]),
            [("Cortex-A53".to_owned(), vec![0]), ("Cortex-A72".to_owned(), vec![1])]
        );
        let pc = "processor : 0\nmodel name : Some CPU @ 2 GHz\n\nprocessor : 1\nmodel name : Some CPU @ 2 GHz\nprocessor : x\nmodel name\n";
        let root = tree(&[("proc/cpuinfo", pc), ("sys/devices/cpu_atom/cpus", "1\n")]);
        let expected = [("Some CPU @ 2 GHz", 0), ("Some CPU @ 2 GHz (cpu_atom)", 1)];
        assert_eq!(names_and_cpus(&root, &[0, 1]), expected.map(|(name, cpu)| (name.to_owned(), vec![cpu])));
    }

    #[test]
    fn by_capacity_if_nothing_else_is_reported() {
        let capacity = "sys/devices/system/cpu/cpu";
        let root = tree(&[
            (&format!("{capacity}0/cpu_capacity"), "400\n"),
            (&format!("{capacity}1/cpu_capacity"), "1024\n"),
        ]);
        assert_eq!(
            names_and_cpus(&root, &[0, 1]),
            [(String::new(), vec![1]), ("of capacity 400".to_owned(), vec![0])]
        );
        assert_eq!(names_and_cpus(&tree(&[]), &[0, 1]), [(String::new(), vec![0, 1])]);
    }
}
