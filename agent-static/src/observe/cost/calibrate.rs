//! Measures the cost of an operator's two probes on this machine.
//!
//! The programs that will trace the engine are attached to a function of the agent, which passes
//! both places with nothing in between. This gives two numbers: how much time a pair of probes
//! costs a thread, and how much of it is between the two clock readings, by which every operator
//! appears longer.
//!
//! Between two pairs the agent reads as much memory as an operator does. In a loop without that, the
//! kernel's code and data for the traps stay in the first cache, and a pair seems to cost 1.6 us where
//! it costs 2.2 us in an engine.

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

/// Pairs per batch, and number of batches. The median over batches ignores those that an interrupt
/// made longer.
const PAIRS: u32 = 32;
const BATCHES: usize = 24;
/// What is read between two pairs, in words of eight bytes: 256 KiB, of 2 MiB in turn. A token of SmolLM2
/// reads 190 KB per operator, one of a model with 1B parameters 1 MB.
const READ: usize = 1 << 15;
const MEMORY: usize = 1 << 18;
/// Longest time for this during the agent's start, ns. If a probe costs more (on an emulator),
/// fewer batches are enough.
const ENOUGH_NS: u64 = 50_000_000;
/// Stands for a node's address.
const NODE: u64 = 1;

/// Measures the cost. `None` if the probes cannot be attached to the agent itself. Leaves no state
/// in `bpf`.
#[must_use]
pub fn probe_cost(bpf: &Bpf<'_>) -> Option<ProbeCost> {
    let memory = vec![1_u64; MEMORY];
    let plain = median(time_batches(&memory))?;
    let own = std::process::id();
    bpf.set_own(own).ok()?;
    let measured = traced(bpf, own, &memory);
    bpf.remove_engine(own);
    bpf.reset_totals();
    let (batches, inside) = measured?;
    let pairs = u32::try_from(inside.len()).ok()?;
    let pair_ns = median(batches)?.saturating_sub(plain) / u64::from(PAIRS);
    Some(ProbeCost { pairs, pair_ns, inside_ns: median(inside)? })
}

/// Whether a probe can be attached to the agent itself, and the programs' counters be read. The
/// probe is not hit.
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

/// Times of batches, and the durations that the programs reported.
fn traced(bpf: &Bpf<'_>, own: u32, memory: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
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
    let batches = time_batches(memory);
    ring.consume().ok()?;
    drop(ring);
    Some((batches, inside.into_inner()))
}

fn time_batches(memory: &[u64]) -> Vec<u64> {
    let begun = clock::monotonic_ns();
    let in_time = |_: &usize| clock::monotonic_ns() - begun < ENOUGH_NS;
    (0..BATCHES).take_while(in_time).map(|_| time_batch(memory)).collect()
}

/// Time of all pairs of a batch, ns, without that of reading the memory.
fn time_batch(memory: &[u64]) -> u64 {
    let parts = memory.chunks(READ).cycle().take(PAIRS as usize);
    let pair = |part: &[u64]| {
        std::hint::black_box(part.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word)));
        let begun = clock::monotonic_ns();
        probed::pass(1, NODE);
        clock::monotonic_ns() - begun
    };
    parts.map(pair).sum()
}
