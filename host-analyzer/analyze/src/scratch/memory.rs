//! Memory that this program may use: what is available, within the limits of its control groups.

use std::fs;
use std::path::{Path, PathBuf};

/// In bytes. `None` if the system does not report it.
pub(super) fn available() -> Option<u64> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let machine = of_machine(&text("/proc/meminfo"));
    let limits = groups(&text("/proc/self/mountinfo"), &text("/proc/self/cgroup"))
        .into_iter()
        .filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    limits.chain(machine).min()
}

/// Memory available without swapping, from /proc/meminfo.
fn of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// Files with the limits of all control groups that contain this program, of both versions. A group
/// without a limit has a word or a huge number.
fn groups(mounts: &str, groups: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in groups.lines() {
        // Fields: number, controllers, path. Version 2 has no controllers.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (kind, file) = match controllers {
            "" => ("cgroup2", "memory.max"),
            _ if controllers.split(',').any(|c| c == "memory") => ("cgroup", "memory.limit_in_bytes"),
            _ => continue,
        };
        let Some((point, root)) = mount(mounts, kind) else { continue };
        let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
        let group = Path::new(point).join(below);
        found.extend(group.ancestors().take_while(|a| a.starts_with(point)).map(|a| a.join(file)));
    }
    found
}

/// Mount points and subtree of the groups; for version 1 those of the memory controller.
fn mount<'a>(mounts: &'a str, kind: &str) -> Option<(&'a str, &'a str)> {
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        let is = right.next()? == kind
            && (kind == "cgroup2" || right.next_back()?.split(',').any(|option| option == "memory"));
        is.then_some((point, root))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_left_is_read() {
        let meminfo = "MemTotal:       24053384 kB\nMemFree:         100 kB\nMemAvailable:   23091200 kB\n";
        assert_eq!(of_machine(meminfo), Some(23_091_200 * 1024));
        assert_eq!(of_machine("MemTotal: 5 kB\n"), None);
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }

    fn found(mounts: &str, own: &str) -> Vec<String> {
        groups(mounts, own).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn groups_of_version_two_are_read_up_to_their_root() {
        let mounts = "24 18 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let files = found(mounts, "0::/user.slice/run-5.scope\n");
        let expected = ["user.slice/run-5.scope/memory.max", "user.slice/memory.max", "memory.max"];
        assert_eq!(files, expected.map(|file| format!("/sys/fs/cgroup/{file}")));
    }

    #[test]
    fn groups_of_version_one_are_those_of_the_memory_controller() {
        let mounts = "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      31 25 0:27 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let files = found(mounts, "5:cpu:/docker/ab\n4:memory:/docker/ab/inner\n0::/\n");
        let expected = ["inner/memory.limit_in_bytes", "memory.limit_in_bytes"];
        assert_eq!(files, expected.map(|file| format!("/sys/fs/cgroup/memory/{file}")));
    }
}
