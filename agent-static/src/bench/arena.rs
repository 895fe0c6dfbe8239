//! Memory to read and copy: for each thread four times the last cache, as far as the machine has it.

use std::fs;
use std::path::Path;

use crate::error::{Diagnostic, Result};
use crate::sys::bench::{BLOCK_BYTES, BLOCK_WORDS, Block};

/// How many times the last cache a thread's memory is: what is read again has left the cache.
const TIMES: u64 = 4;
/// Most memory for all threads together, bytes. Enough for eight threads with a last cache of 32 MB.
const MOST_BYTES: u64 = 1 << 30;
/// Least that is tried, bytes.
const LEAST_BYTES: u64 = 1 << 20;

/// The memory of all threads. Freed when dropped.
#[derive(Debug)]
pub(super) struct Arena {
    blocks: Vec<Block>,
    /// Blocks that a thread needs.
    each: usize,
    /// What makes measurements doubtful; empty when nothing does.
    note: String,
}

impl Arena {
    /// Memory for up to `threads` threads with a last cache of `cache` bytes, of which `available` bytes are free (half of
    /// them at most are taken).
    ///
    /// # Errors
    /// When there is not even memory for a test.
    pub(super) fn new(threads: usize, cache: u64, available: Option<u64>) -> Result<Self> {
        let each = cache.saturating_mul(TIMES).max(LEAST_BYTES);
        let free = available.map_or(MOST_BYTES, |a| a / 2);
        let total = each.saturating_mul(threads as u64).min(MOST_BYTES).min(free).max(LEAST_BYTES);
        let blocks = |bytes: u64| usize::try_from(bytes / BLOCK_BYTES as u64).unwrap_or(usize::MAX);
        let mut memory = Vec::new();
        memory.try_reserve_exact(blocks(total)).map_err(|e| {
            let help = "free memory, or measure with fewer threads: --threads 1";
            Diagnostic::new(format!("taking {} MB of memory to read", total >> 20), e, help)
        })?;
        // Written, so that each page has memory of its own: pages that were only read would all be the same zeros.
        memory.extend((0..blocks(total) as u64).map(block));
        let note = if total < each {
            format!(
                "only {} MB of memory to read, less than {TIMES} times the last cache: the cache may have helped",
                total >> 20
            )
        } else {
            String::new()
        };
        Ok(Self { blocks: memory, each: blocks(each), note })
    }

    /// What makes measurements in this memory doubtful; empty when nothing does.
    #[must_use]
    pub(super) fn note(&self) -> &str {
        &self.note
    }

    /// Equal parts for so many threads.
    pub(super) fn parts(&mut self, threads: usize) -> Vec<&mut [Block]> {
        let each = (self.blocks.len() / threads.max(1)).clamp(1, self.each.max(1));
        self.blocks.chunks_exact_mut(each).take(threads).collect()
    }
}

/// Contents without two equal words, from 64-bit words that are multiples of an odd number.
fn block(index: u64) -> Block {
    /// 2^64 divided by the golden ratio.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = index.wrapping_mul(BLOCK_WORDS as u64);
    Block(std::array::from_fn(|i| first.wrapping_add(i as u64).wrapping_mul(STEP)))
}

/// `MemAvailable` of /proc/meminfo, bytes; `None` where the kernel does not tell. `root` is `/`.
#[must_use]
pub(super) fn available(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn as_much_as_the_cache_asks_for_and_the_machine_has() {
        let sizes = |threads, cache, available| {
            let mut arena = Arena::new(threads, cache, available).unwrap();
            let parts: Vec<usize> = arena.parts(threads).iter().map(|p| p.len() * BLOCK_BYTES).collect();
            assert_eq!(parts.len(), threads);
            (parts[0] as u64, arena.note().to_owned())
        };
        assert_eq!(sizes(2, 1 << 20, None), (4 << 20, String::new()));
        // Together still four times the cache.
        assert_eq!(sizes(4, 1 << 20, Some(16 << 20)), (2 << 20, String::new()));
        let (each, note) = sizes(2, 4 << 20, Some(8 << 20));
        assert!(each == 2 << 20 && note.contains("only 4 MB"), "{each} {note}");
        assert_eq!(sizes(1, 0, Some(0)).0, LEAST_BYTES);
        assert_eq!(sizes(1, u64::MAX, Some(4 << 20)).0, 2 << 20);
        let mut one = Arena::new(4, 1 << 20, None).unwrap();
        assert_eq!(one.parts(1)[0].len() * BLOCK_BYTES, 4 << 20, "a thread alone needs no more");
    }

    #[test]
    fn available_memory() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        assert_eq!(available(root.path()), None);
        std::fs::write(root.path().join("proc/meminfo"), "MemTotal: 9 kB\nMemAvailable:   2048 kB\n")
            .unwrap();
        assert_eq!(available(root.path()), Some(2 << 20));
    }
}
