//! The caches of the CPUs, from sysfs: how much memory is certainly larger than they are.

use std::fs;
use std::path::Path;

/// Size of the last cache if the kernel tells none, as some kernels for boards do. Larger than those of the boards that have profiles.
pub(super) const ASSUMED_BYTES: u64 = 8 << 20;

/// Bytes of the last cache of these CPUs, of the largest one if they have several; `None` where the kernel tells none.
/// `sysfs` is `/sys`.
#[must_use]
pub(super) fn last_bytes(sysfs: &Path, cpus: &[u32]) -> Option<u64> {
    let of = |cpu: &u32| of_cpu(&sysfs.join(format!("devices/system/cpu/cpu{cpu}/cache")));
    cpus.iter().filter_map(of).max()
}

/// The largest of the highest level.
fn of_cpu(dir: &Path) -> Option<u64> {
    let caches = fs::read_dir(dir).ok()?.flatten().filter_map(|entry| {
        let text = |file: &str| fs::read_to_string(entry.path().join(file)).ok();
        let level: u32 = text("level")?.trim().parse().ok()?;
        (text("type")?.trim() != "Instruction").then_some((level, bytes(text("size")?.trim())?))
    });
    caches.max().map(|(_, bytes)| bytes)
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
        assert_eq!(last_bytes(root.path(), &[1, 0, 2]), Some(3 << 20));
        assert_eq!(last_bytes(root.path(), &[2, 3]), None);
    }
}
