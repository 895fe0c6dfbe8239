//! Memory that the BPF programs and the agent share: the global variables of the programs, which
//! libbpf maps.

use std::sync::atomic::AtomicU64;

/// The variables as 64-bit words. Reading them needs no system call: see `TOTALS_CPUS` in
/// `bpf/include/maps.h`.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'m>(&'m [AtomicU64]);

impl<'m> Shared<'m> {
    /// Views the mapped variables, which are all 64-bit words.
    pub fn of<T>(variables: &'m mut T) -> Self {
        const { assert!(align_of::<T>() >= align_of::<AtomicU64>() && size_of::<T>().is_multiple_of(8)) };
        let first = std::ptr::from_mut(variables).cast_const().cast::<AtomicU64>();
        // SAFETY: The memory is one `T`, aligned for the words. It is borrowed exclusively for as
        // long as the words are. Every value is a valid AtomicU64. The programs write to it, but
        // only by atomic additions and complete words.
        Self(unsafe { std::slice::from_raw_parts(first, size_of::<T>() / 8) })
    }

    /// N words from byte `offset` on. Empty if there are fewer.
    #[must_use]
    pub fn words(&self, offset: usize, words: usize) -> &'m [AtomicU64] {
        self.0.get(offset / 8..).and_then(|rest| rest.get(..words)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn words_are_found_by_their_offset() {
        let mut variables = [[1_u64, 2], [3, 4]];
        let shared = Shared::of(&mut variables);
        let values = |offset, n| shared.words(offset, n).iter().map(|w| w.load(Relaxed)).collect::<Vec<_>>();
        assert_eq!((values(8, 2), values(24, 1)), (vec![2, 3], vec![4]));
        assert!(values(24, 2).is_empty() && values(64, 1).is_empty());
        shared.words(0, 1)[0].store(9, Relaxed);
        assert_eq!(variables[0][0], 9);
    }
}
