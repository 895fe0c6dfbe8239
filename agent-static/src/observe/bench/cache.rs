//! Sizes of the CPUs' last-level caches, from sysfs: a measurement of memory must exceed them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Total size of the last-level caches of these CPUs in bytes; a shared cache counts once. `None`
/// if the kernel reports none. `sysfs` is `/sys`.
#[must_use]
pub(super) fn last_bytes(sysfs: &Path, cpus: &[u32]) -> Option<u64> {
    let of = |cpu: &u32| of_cpu(*cpu, &sysfs.join(format!("devices/system/cpu/cpu{cpu}/cache")));
    let caches: BTreeMap<(u32, String), u64> = cpus.iter().filter_map(of).collect();
    // A core whose cache the kernel does not report has none that is larger than those of the
    // reported cores.
    (!caches.is_empty()).then(|| caches.values().fold(0u64, |sum, bytes| sum.saturating_add(*bytes)))
}

/// The largest cache of the highest level: its level with the CPUs that share it, and its bytes.
fn of_cpu(cpu: u32, dir: &Path) -> Option<((u32, String), u64)> {
    let caches = fs::read_dir(dir).ok()?.flatten().filter_map(|entry| {
        let text = |file: &str| fs::read_to_string(entry.path().join(file)).ok();
        let level: u32 = text("level")?.trim().parse().ok()?;
        let shared = text("shared_cpu_list").map_or_else(|| cpu.to_string(), |list| list.trim().to_owned());
        (text("type")?.trim() != "Instruction").then_some((level, bytes(text("size")?.trim())?, shared))
    });
    caches.max().map(|(level, bytes, shared)| ((level, shared), bytes))
}

/// `32768K`, `3M` or `65536`.
fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|b| *b > 0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(bytes("32768K"), Some(32 << 20));
        assert_eq!(bytes("3M"), Some(3 << 20));
        assert_eq!(bytes("65536"), Some(65536));
        for wrong in ["", "K", "0K", "-1K", "18446744073709551615K", "12 K", "3G"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_last_cache_of_a_tree() {
        let root = tempfile::tempdir().unwrap();
        let cache = |cpu: u32, index: u32, level: u32, kind: &str, size: &str| {
            let dir = root.path().join(format!("devices/system/cpu/cpu{cpu}/cache/index{index}"));
            fs::create_dir_all(&dir).unwrap();
            for (file, text) in [("level", level.to_string()), ("type", kind.into()), ("size", size.into())] {
                fs::write(dir.join(file), text + "\n").unwrap();
            }
        };
        cache(0, 0, 1, "Data", "32K");
        cache(0, 1, 1, "Instruction", "32K");
        cache(0, 2, 2, "Unified", "128K");
        cache(0, 3, 3, "Unified", "3072K");
        cache(1, 0, 1, "Data", "64K");
        cache(1, 2, 2, "Unified", "512K");
        cache(1, 3, 3, "Instruction", "9M");
        cache(2, 0, 1, "Data", "much");
        assert_eq!(last_bytes(root.path(), &[0]), Some(3 << 20));
        assert_eq!(last_bytes(root.path(), &[1]), Some(512 << 10));
        assert_eq!(last_bytes(root.path(), &[1, 0, 2]), Some((3 << 20) + (512 << 10)));
        assert_eq!(last_bytes(root.path(), &[2, 3]), None);
        // Both share the third level of CPU 0, which counts once.
        cache(1, 4, 3, "Unified", "3072K");
        for index in ["cpu0/cache/index3", "cpu1/cache/index4"] {
            let file = root.path().join("devices/system/cpu").join(index).join("shared_cpu_list");
            fs::write(file, "0-1\n").unwrap();
        }
        assert_eq!(last_bytes(root.path(), &[0, 1]), Some(3 << 20));
    }
}
