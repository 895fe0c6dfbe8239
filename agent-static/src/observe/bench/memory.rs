//! Read and copy: how fast memory comes to the cores, and how fast it is copied.

use super::arena::Arena;
use super::crew::{self, Pace};
use crate::error::Result;
use crate::sys::bench::{BLOCK_BYTES, Block, Copier, Reader, copiers};

/// Blocks between two looks at the clock: 256 KiB, some 10 µs.
const CHUNK: usize = (256 << 10) / BLOCK_BYTES;

/// Goes through memory again and again, a chunk at a time.
#[derive(Debug)]
struct Walk {
    at: usize,
    len: usize,
}

impl Walk {
    fn next(&mut self) -> std::ops::Range<usize> {
        let from = if self.at >= self.len { 0 } else { self.at };
        self.at = (from + CHUNK).min(self.len);
        from..self.at
    }
}

/// Bytes read per second by all threads, which go through `bytes` together again and again, for each repetition.
///
/// # Errors
/// See [`crew::run`].
pub(super) fn read(
    reader: Reader,
    arena: &mut Arena,
    bytes: u64,
    cpus: &[u32],
    pace: Pace,
) -> Result<Vec<u64>> {
    let parts = arena.parts(cpus.len(), bytes);
    let states = parts.into_iter().map(|part| (Walk { at: 0, len: part.len() }, &*part, true)).collect();
    crew::rates(cpus, states, pace, |(walk, part, first): &mut (Walk, &[Block], bool)| {
        // The warm-up goes through all of it once: what a cache can hold of it is there afterwards.
        let least = if std::mem::take(first) { part.len() } else { CHUNK };
        let mut blocks = 0;
        // A small part is read several times between two looks at the clock, which would else be a part of the time.
        while blocks < least {
            let chunk = &part[walk.next()];
            std::hint::black_box(reader.read(chunk));
            blocks += chunk.len();
        }
        (blocks * BLOCK_BYTES) as u64
    })
}

/// Bytes copied per second, half of `bytes` into the other half, for each repetition, and the loop that was the fastest. A byte that is read and written counts
/// once.
///
/// # Errors
/// See [`crew::run`].
pub(super) fn copy(
    arena: &mut Arena,
    bytes: u64,
    cpus: &[u32],
    pace: Pace,
) -> Result<(&'static Copier, Vec<u64>)> {
    let ways = copiers();
    let mut best: Option<(&Copier, Vec<u64>)> = None;
    // All ways share the time.
    let pace = Pace { window: pace.window / u32::try_from(ways.len()).unwrap_or(1).max(1), ..pace };
    for copier in ways {
        let rates = copy_by(copier, arena, bytes, cpus, pace)?;
        let most = |rates: &[u64]| rates.iter().sum::<u64>();
        if best.as_ref().is_none_or(|(_, before)| most(&rates) > most(before)) {
            best = Some((copier, rates));
        }
    }
    Ok(best.unwrap_or((&ways[0], Vec::new())))
}

fn copy_by(copier: &Copier, arena: &mut Arena, bytes: u64, cpus: &[u32], pace: Pace) -> Result<Vec<u64>> {
    let states = arena.parts(cpus.len(), bytes).into_iter().map(|part| {
        let (to, from) = part.split_at_mut(part.len() / 2);
        (Walk { at: 0, len: to.len() }, to, &*from)
    });
    crew::rates(cpus, states.collect(), pace, |(walk, to, from): &mut (Walk, &mut [Block], &[Block])| {
        let range = walk.next();
        copier.copy(&mut to[range.clone()], &from[range.clone()]);
        (range.len() * BLOCK_BYTES) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_covers_all_and_begins_again() {
        let mut walk = Walk { at: 0, len: CHUNK + 3 };
        assert_eq!([walk.next(), walk.next(), walk.next()], [0..CHUNK, CHUNK..CHUNK + 3, 0..CHUNK]);
        assert_eq!(Walk { at: 0, len: 0 }.next(), 0..0);
    }
}
