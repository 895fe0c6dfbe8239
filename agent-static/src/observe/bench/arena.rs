//! Memory to read and copy.

use crate::error::{Diagnostic, Result};
use crate::sys::bench::{BLOCK_BYTES, BLOCK_WORDS, Block};

/// Blocks that are written between two readings of the clock: 16 MB.
const STEP: usize = (16 << 20) / BLOCK_BYTES;

/// The memory of all threads. Freed when dropped.
#[derive(Debug)]
pub(super) struct Arena {
    blocks: Vec<Block>,
}

impl Arena {
    /// Maps and fills `bytes`, or less if `enough` returns true earlier: a slow board would need
    /// minutes.
    ///
    /// # Errors If there is not even memory for a test.
    pub(super) fn new(bytes: u64, enough: impl Fn() -> bool) -> Result<Self> {
        let all = usize::try_from(bytes / BLOCK_BYTES as u64).unwrap_or(usize::MAX).max(1);
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(all).map_err(|e| {
            let help = "free memory, or measure with fewer threads: --threads 1";
            Diagnostic::new(format!("allocating {} MB of memory to read", bytes >> 20), e, help)
        })?;
        while blocks.len() < all && (blocks.is_empty() || !enough()) {
            let from = blocks.len();
            // Written, because the kernel maps all pages that were only read to one page of zeros.
            blocks.extend((from..all.min(from + STEP)).map(|i| block(i as u64)));
        }
        Ok(Self { blocks })
    }

    #[must_use]
    pub(super) const fn bytes(&self) -> u64 {
        (self.blocks.len() * BLOCK_BYTES) as u64
    }

    /// One equal part per thread, of at least one block; together `bytes`, if the arena is that
    /// large.
    pub(super) fn parts(&mut self, threads: usize, bytes: u64) -> Vec<&mut [Block]> {
        let wanted = usize::try_from(bytes / BLOCK_BYTES as u64).unwrap_or(usize::MAX);
        let each = wanted.min(self.blocks.len()) / threads.max(1);
        self.blocks.chunks_exact_mut(each.max(1)).take(threads).collect()
    }
}

/// Contents without two equal words: multiples of an odd 64-bit number.
fn block(index: u64) -> Block {
    /// 2^64 divided by the golden ratio.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = index.wrapping_mul(BLOCK_WORDS as u64);
    Block(std::array::from_fn(|i| first.wrapping_add(i as u64).wrapping_mul(STEP)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn parts_are_equal_and_within_the_arena() {
        let mut arena = Arena::new(4 << 20, || false).unwrap();
        assert_eq!(arena.bytes(), 4 << 20);
        let mut sizes = |threads, bytes| -> Vec<usize> {
            arena.parts(threads, bytes).iter().map(|p| p.len() * BLOCK_BYTES).collect()
        };
        assert_eq!(sizes(1, 1 << 20), [1 << 20]);
        assert_eq!(sizes(4, 1 << 20), [256 << 10; 4]);
        assert_eq!(sizes(2, u64::MAX), [2 << 20; 2]);
        assert_eq!(sizes(3, 0), [BLOCK_BYTES; 3]);
    }

    #[test]
    fn filling_ends_when_the_time_is_over() {
        assert_eq!(Arena::new(1 << 30, || true).unwrap().bytes(), 16 << 20);
        assert_eq!(Arena::new(0, || true).unwrap().bytes(), BLOCK_BYTES as u64);
    }
}
