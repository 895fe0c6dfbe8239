//! Speed of a number of threads on certain CPUs, from the ceilings of the board.
//!
//! Stage: analysis. From: [`Ceilings`]. To: [`Speeds`] of one setting. Promises: a ceiling with
//! another number of threads is never used. For cores of several types there are two speeds: of all
//! together, and with equal shares.

use super::makeup::Lacking;
use crate::results::ceiling::{Ceilings, Fit};
use profinfer_trace::model::CeilingKind;

/// Speed of a setting for one kind of work, bytes or operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Speed {
    /// All threads together, each as fast as it can: work that is handed out on demand.
    pub(super) together: f64,
    /// All threads together with equal shares, so that the slowest core delays the others.
    pub(super) even: f64,
    /// One thread on the fastest of the CPUs.
    pub(super) fastest: f64,
    /// One thread on the slowest.
    pub(super) slowest: f64,
}

/// The kinds that limit operators.
const KINDS: [CeilingKind; 4] = [CeilingKind::Read, CeilingKind::Int8, CeilingKind::F32, CeilingKind::F16];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Speeds {
    pub(super) threads: u32,
    of: [Option<Speed>; KINDS.len()],
    /// A barrier of this many threads, ns; 0 for a single one.
    pub(super) barrier_ns: f64,
}

impl Speeds {
    /// The speeds of this many threads on these CPUs, if a token reads `reads` bytes.
    ///
    /// # Errors
    ///
    /// The missing ceiling.
    pub(super) fn new(
        ceilings: &Ceilings,
        threads: u32,
        cpus: &[u16],
        reads: Option<u64>,
    ) -> Result<Self, Lacking> {
        let lacking = |kind| Lacking::Ceiling { kind, threads, why: ceilings.lack(kind, threads as usize) };
        let of = KINDS.map(|kind| speed(ceilings, kind, threads, cpus, reads));
        for (kind, speed) in KINDS.iter().zip(&of).take(3) {
            if speed.is_none() {
                return Err(lacking(*kind));
            }
        }
        let barrier = match threads {
            0 | 1 => 0,
            n => {
                let on = ceilings.on(CeilingKind::Barrier, n as usize, cpus, None);
                on.ok_or_else(|| lacking(CeilingKind::Barrier))?.value
            }
        };
        Ok(Self { threads, of, barrier_ns: barrier as f64 })
    }

    /// The speed of a kind; where 16-bit floats are not computed, that of 32-bit floats.
    pub(super) fn speed(&self, kind: CeilingKind) -> Speed {
        let at = KINDS.iter().position(|k| *k == kind).unwrap_or(2);
        let none = Speed { together: 1.0, even: 1.0, fastest: 1.0, slowest: 1.0 };
        self.of[at].or(self.of[2]).unwrap_or(none)
    }
}

fn speed(
    ceilings: &Ceilings,
    kind: CeilingKind,
    threads: u32,
    cpus: &[u16],
    reads: Option<u64>,
) -> Option<Speed> {
    let together = ceilings.on(kind, threads as usize, cpus, reads)?.value as f64;
    let one = |cpu: &u16| ceilings.on(kind, 1, &[*cpu], reads).filter(|f| f.fit != Fit::AsMany);
    // If a single thread was not measured on such a core, assume an equal share.
    let equal = together / f64::from(threads);
    let alone: Vec<f64> = cpus.iter().map(|cpu| one(cpu).map_or(equal, |f| f.value as f64)).collect();
    let slowest = alone.iter().copied().min_by(f64::total_cmp).unwrap_or(equal);
    let fastest = alone.iter().copied().max_by(f64::total_cmp).unwrap_or(equal);
    // For cores of one type both are equal: what they lose together, they lose evenly.
    let even = if slowest < fastest { together.min(slowest * f64::from(threads)) } else { together };
    Some(Speed { together, even, fastest, slowest })
}
