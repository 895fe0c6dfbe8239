//! Read and copy bandwidth of memory.

use super::arena::Arena;
use super::workers::{self, Pace};
use crate::error::Result;
use crate::sys::bench::{BLOCK_BYTES, Block, Copier, Reader, copiers};

/// Blocks between two readings of the clock: 256 KiB, about 10 µs.
const CHUNK: usize = (256 << 10) / BLOCK_BYTES;

/// Walks through memory repeatedly, one chunk at a time.
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

/// Read bandwidth in bytes per second of all threads, which repeatedly read `bytes` together, for
/// each repetition.
///
/// # Errors See [`workers::run`].
pub(super) fn read(
    reader: Reader,
    arena: &mut Arena,
    bytes: u64,
    cpus: &[u32],
    pace: Pace,
) -> Result<Vec<u64>> {
    let parts = arena.parts(cpus.len(), bytes);
    let states = parts.into_iter().map(|part| (Walk { at: 0, len: part.len() }, &*part, true)).collect();
    workers::rates(cpus, states, pace, |(walk, part, first): &mut (Walk, &[Block], bool)| {
        // The warm-up reads everything once, so that afterwards the caches hold as much of it as
        // they can.
        let least = if std::mem::take(first) { part.len() } else { CHUNK };
        let mut blocks = 0;
        // A small part is read several times between two readings of the clock, which would distort
        // the time otherwise.
        while blocks < least {
            let chunk = &part[walk.next()];
            std::hint::black_box(reader.read(chunk));
            blocks += chunk.len();
        }
        (blocks * BLOCK_BYTES) as u64
    })
}

/// Copy bandwidth in bytes per second, from one half of `bytes` to the other, for each repetition,
/// and the fastest loop. A byte that is read and written counts once.
///
/// # Errors See [`workers::run`].
pub(super) fn copy(
    arena: &mut Arena,
    bytes: u64,
    cpus: &[u32],
    pace: Pace,
) -> Result<(&'static Copier, Vec<u64>)> {
    let ways = copiers();
    let mut best: Option<(&Copier, Vec<u64>)> = None;
    // All loops share the time.
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
    workers::rates(cpus, states.collect(), pace, |(walk, to, from): &mut (Walk, &mut [Block], &[Block])| {
        let range = walk.next();
        copier.copy(&mut to[range.clone()], &from[range.clone()]);
        (range.len() * BLOCK_BYTES) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_covers_everything_and_restarts() {
        let mut walk = Walk { at: 0, len: CHUNK + 3 };
        assert_eq!([walk.next(), walk.next(), walk.next()], [0..CHUNK, CHUNK..CHUNK + 3, 0..CHUNK]);
        assert_eq!(Walk { at: 0, len: 0 }.next(), 0..0);
    }
}
