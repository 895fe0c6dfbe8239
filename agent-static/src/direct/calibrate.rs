//! Measures the cost of a pair of direct probes: the same stubs, in the agent itself, around an
//! empty function.

use std::cell::Cell;
use std::rc::Rc;

use profinfer_engine::DirectRole;
use profinfer_wire::record::cost::ProbeCost;

use super::clock::{Clock, Look};
use super::memory::Memory;
use super::place::{LONGEST, Place};
use super::{Reader, arch, number, page, steady};
use crate::clock::monotonic_ns;
use crate::observe::cost::median;
use crate::sys::direct::layout as at;
use crate::sys::direct::own::{Code, LOOPED, Looped, Pages};
use crate::sys::direct::shared::Shared;
use crate::target::maps::FileId;

/// Pairs per batch, and number of batches. The median over batches ignores those that an interrupt
/// made longer.
const PAIRS: u32 = 1024;
const BATCHES: usize = 32;
/// Stands for a node's address.
const NODE: u64 = 8;

/// Measures the cost. `None` if the system does not allow the agent to generate code, or has no
/// suitable clock.
#[must_use]
pub fn probe_cost() -> Option<ProbeCost> {
    steady::check().ok()?;
    let Looped { code, start, end, moved, callee } = LOOPED;
    let mut pages = Pages::new().ok()?;
    let base = pages.address();
    // The loop is at the end of the page; the rest of the page is as in an engine.
    let at_loop = at::PAGE - code.len();
    let address = |offset: usize| base + (at_loop + offset) as u64;
    let place = |offset: usize, len: usize, role, callee| {
        let mut bytes = [0; LONGEST];
        bytes[..len].copy_from_slice(&code[offset..offset + len]);
        Place { address: address(offset), offset: 0, role, callee, len, bytes }
    };
    let callee = address(callee);
    let places = [
        place(start, arch::CHANGED, DirectRole::Start { fused: false, callee }, callee),
        place(end, moved, DirectRole::End, 0),
    ];
    let page = page::build(base, FileId::default(), &places, false)?;
    let shared = Rc::new(Shared::own().ok()?);
    let control = [shared.address(), own_number()?];
    let bytes = pages.bytes();
    let used = at_loop.min(page.bytes.len());
    bytes.get_mut(..used)?.copy_from_slice(&page.bytes[..used]);
    bytes.get_mut(at_loop..at::PAGE)?.copy_from_slice(code);
    for (n, word) in control.into_iter().enumerate() {
        let field = [at::CONTROL_DATA, at::CONTROL_TID][n];
        bytes.get_mut(at::PAGE + field..)?.first_chunk_mut().map(|w| *w = word.to_ne_bytes())?;
    }
    // First without probes.
    let range = at_loop..at::PAGE;
    let plain = Pages::new().ok().and_then(|mut p| {
        p.bytes().get_mut(range.clone())?.copy_from_slice(code);
        p.executable().ok()
    })?;
    let without = median((0..BATCHES).map(|_| time(&plain, &range)).collect())?;
    for (n, offset) in [start, end].into_iter().enumerate() {
        let to = bytes.get_mut(at_loop + offset..at_loop + offset + arch::CHANGED)?;
        to.copy_from_slice(&page.patches[n].becomes);
    }
    let probed = pages.executable().ok()?;
    shared.record(true);
    let mut reader = Reader::new(std::process::id(), Rc::clone(&shared), Rc::new(Cell::new(false)));
    let mut clock = Clock::default();
    clock.add(Look::now());
    let (mut batches, mut ticks) =
        (Vec::with_capacity(BATCHES), Vec::with_capacity(BATCHES * PAIRS as usize));
    for _ in 0..BATCHES {
        batches.push(time(&probed, &range));
        for n in 0..at::SLOTS {
            for _ in 0..reader.waiting(n) {
                ticks.push(reader.oldest(n).took);
                reader.next(n);
            }
            reader.give_back(n);
        }
    }
    let last = Look::now();
    clock.add(last);
    let pairs = u32::try_from(ticks.len()).ok()?;
    let inside = median(ticks)?;
    let inside_ns = clock.ns(last.ticks)?.saturating_sub(clock.ns(last.ticks.saturating_sub(inside))?);
    let pair_ns = median(batches)?.saturating_sub(without) / u64::from(PAIRS);
    Some(ProbeCost { pairs, pair_ns, inside_ns })
}

fn time(code: &Code, range: &std::ops::Range<usize>) -> u64 {
    let begun = monotonic_ns();
    code.pass(range, PAIRS, NODE);
    monotonic_ns() - begun
}

/// Offset of the thread id in this thread's control block.
fn own_number() -> Option<u64> {
    let tid = nix::unistd::gettid().as_raw();
    let memory = Memory::open(std::process::id()).ok()?;
    number::find(&[(tid, number::block(&memory, crate::sys::direct::own::thread_pointer()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stubs_record_every_pair_and_cost_little() {
        let Some(cost) = probe_cost() else { return };
        assert_eq!(cost.pairs, PAIRS * u32::try_from(BATCHES).unwrap_or(0));
        assert!(cost.inside_ns < cost.pair_ns + 50 && cost.pair_ns > 0 && cost.pair_ns < 20_000, "{cost:?}");
    }
}
