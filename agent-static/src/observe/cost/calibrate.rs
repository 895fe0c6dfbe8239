//! What an operator's two probes cost on this machine.
//!
//! The very programs that will trace the engine are attached to a function of the agent's own, which passes
//! both places with nothing between them. Two figures come of it: what a pair of probes takes from a thread, and
//! how much of that lies between the two readings of the clock, so that every operator seems longer by as much.

use std::cell::RefCell;
use std::path::Path;

use libbpf_rs::RingBufferBuilder;
use profinfer_engine::ProbeKind;
use profinfer_wire::record::cost::ProbeCost;

use super::median;
use crate::bpf::ring::Event;
use crate::bpf::{AttachPoint, Bpf};
use crate::clock;
use crate::sys::probed;
use crate::target::maps;

/// Pairs in a batch; batches. The median over batches leaves out the ones that an interrupt made longer.
const PAIRS: u32 = 64;
const BATCHES: usize = 32;
/// Longest time that a start of the agent may take for this, ns; where a probe costs more (an emulator), fewer batches
/// will do.
const ENOUGH_NS: u64 = 50_000_000;
/// Stands for a node's address.
const NODE: u64 = 1;

/// Measures; `None` where the probes cannot be attached to the agent itself. Leaves no trace in `bpf`.
#[must_use]
pub fn probe_cost(bpf: &Bpf<'_>) -> Option<ProbeCost> {
    let plain = median((0..BATCHES).map(|_| time_batch()).collect())?;
    let own = std::process::id();
    bpf.set_own(own).ok()?;
    let measured = traced(bpf, own);
    bpf.remove_engine(own);
    bpf.reset_totals();
    let (batches, inside) = measured?;
    let pairs = u32::try_from(inside.len()).ok()?;
    let pair_ns = median(batches)?.saturating_sub(plain) / u64::from(PAIRS);
    Some(ProbeCost { pairs, pair_ns, inside_ns: median(inside)? })
}

/// Whether a probe can be attached to the agent itself, and the programs' figures be read; the probe is not hit.
#[must_use]
pub fn can_attach(bpf: &Bpf<'_>) -> bool {
    let own = std::process::id();
    let offset = maps::file_offset(own, probed::sites()[0]);
    let attach = |at| bpf.attach(AttachPoint::LibraryEvent, own, Path::new("/proc/self/exe"), &[at]);
    offset.is_some_and(|at| attach(at).is_ok())
        && bpf.set_own(own).is_ok_and(|()| {
            bpf.remove_engine(own);
            true
        })
}

/// Times of batches, and the durations that the programs told.
fn traced(bpf: &Bpf<'_>, own: u32) -> Option<(Vec<u64>, Vec<u64>)> {
    let exe = Path::new("/proc/self/exe");
    let [start, end] = probed::sites();
    let attach = |kind, address| {
        let offset = maps::file_offset(own, address)?;
        bpf.attach(AttachPoint::Engine(kind), own, exe, &[offset]).ok()
    };
    let _links = (attach(ProbeKind::OpEnd, end)?, attach(ProbeKind::OpStart, start)?);
    let inside = RefCell::new(Vec::with_capacity(BATCHES * PAIRS as usize));
    let mut ring = RingBufferBuilder::new();
    ring.add(bpf.events(), |bytes| {
        if let Some(Event::Op(op, _)) = Event::parse(bytes) {
            inside.borrow_mut().push(op.end_ns.saturating_sub(op.start_ns));
        }
        0
    })
    .ok()?;
    let ring = ring.build().ok()?;
    let begun = clock::monotonic_ns();
    let mut batches = Vec::with_capacity(BATCHES);
    while batches.len() < BATCHES && clock::monotonic_ns() - begun < ENOUGH_NS {
        batches.push(time_batch());
    }
    ring.consume().ok()?;
    drop(ring);
    Some((batches, inside.into_inner()))
}

fn time_batch() -> u64 {
    let begun = clock::monotonic_ns();
    probed::pass(PAIRS, NODE);
    clock::monotonic_ns() - begun
}
