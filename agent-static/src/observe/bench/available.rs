//! Memory that a measurement may use: a share of what is available on the machine and in the
//! agent's control groups.

use std::fs;
use std::path::Path;

use crate::observe::fact;

/// Largest fraction of the available memory that is used: 1/N. The other half stays for running
/// programs, because the measurement must not make a board swap or kill an engine.
const SHARE: u64 = 2;
/// Most memory for all threads together, in bytes: four times the largest known last-level cache
/// (480 MB, on a Sapphire Rapids machine). Filling it takes a second or two.
const MOST_BYTES: u64 = 2 << 30;
/// Bytes used if the kernel does not report the available memory.
const UNKNOWN_BYTES: u64 = 64 << 20;

/// Usable bytes. `root` is `/`, `pid` the agent's.
#[must_use]
pub(super) fn bytes(root: &Path, pid: u32) -> u64 {
    let groups = fact::memory_left(root, pid);
    let least = available(root).into_iter().chain(groups).min();
    least.map_or(UNKNOWN_BYTES, |bytes| bytes / SHARE).min(MOST_BYTES)
}

/// `MemAvailable` of /proc/meminfo, bytes; `None` if the kernel does not report it.
fn available(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;
    use crate::observe::bench::curve;

    const PID: u32 = 42;
    const V1: &str = "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
    const V2: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

    /// A machine with this much memory available, and files of control groups.
    fn machine(available_mib: u64, groups: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let meminfo = format!("MemTotal: 9 kB\nMemAvailable:   {} kB\n", available_mib << 10);
        for (file, text) in [("proc/meminfo", meminfo.as_str())].iter().chain(groups) {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        root
    }

    #[test]
    fn half_of_what_is_available_and_never_more_than_two_gigabytes() {
        for (available_mib, mib) in [(2048, 1024), (100, 50), (64 << 10, 2048), (0, 0)] {
            let root = machine(available_mib, &[]);
            assert_eq!(bytes(root.path(), PID), mib << 20, "{available_mib} MiB");
        }
        let unknown = tempfile::tempdir().unwrap();
        assert_eq!(bytes(unknown.path(), PID), UNKNOWN_BYTES);
    }

    /// A container of 256 MB on a machine with 64 GB: 56 MB are used, 16 MB of them by files that
    /// the kernel can drop. The read curve for a cache of 480 MB ends at half of the rest.
    #[test]
    fn control_groups_bound_it() {
        let limit = 256 << 20;
        let (used, idle) = (56 << 20, 16 << 20);
        let half = (limit - (used - idle)) / 2;
        let (limit, used) = (format!("{limit}\n"), format!("{used}\n"));
        let two = [
            ("proc/self/mountinfo", V2),
            ("proc/42/cgroup", "0::/box/agent\n"),
            ("sys/fs/cgroup/box/memory.max", &limit),
            ("sys/fs/cgroup/box/memory.current", &used),
            ("sys/fs/cgroup/box/memory.stat", &format!("anon 5\ninactive_file {idle}\nactive_file 3\n")),
            ("sys/fs/cgroup/box/agent/memory.max", "max\n"),
            ("sys/fs/cgroup/box/agent/memory.current", "9\n"),
        ];
        let root = machine(64 << 10, &two);
        assert_eq!(bytes(root.path(), PID), half);
        let (top, _) = curve::top(Some(480 << 20), bytes(root.path(), PID));
        assert_eq!(top, half);
        // Above memory.high the kernel slows down processes that allocate more.
        let slowed = [&two[..], &[("sys/fs/cgroup/box/memory.high", "73400320\n")]].concat();
        let root = machine(64 << 10, &slowed);
        assert_eq!(bytes(root.path(), PID), ((70 << 20) - (40 << 20)) / 2);
        let one = [
            ("proc/self/mountinfo", V1),
            ("proc/42/cgroup", "4:memory:/box\n"),
            ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", &limit),
            ("sys/fs/cgroup/memory/box/memory.usage_in_bytes", &used),
            (
                "sys/fs/cgroup/memory/box/memory.stat",
                &format!("inactive_file 1\ntotal_inactive_file {idle}\n"),
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "999999999999\n"),
        ];
        assert_eq!(bytes(machine(64 << 10, &one).path(), PID), half);
        // The machine has less than the group's limit.
        assert_eq!(bytes(machine(100, &two).path(), PID), 50 << 20);
    }
}
