//! The instruction that is moved so that operators end there.

use super::entered;
use super::places::NoDirect;
use crate::code::instruction::{Flow, Instruction};
use crate::code::movable::{JUMP, movable_arm64, movable_x86};
use crate::file::elf::{Image, Machine};
use crate::probes::dispatch::{self, Dispatcher};
use crate::probes::evidence::Evidence;
use crate::symbols::calls::Calls;
use crate::symbols::paths::Paths;

/// The first movable instruction after the place where the operators of the loop meet. Nothing
/// leads into it, and no start reaches another start without passing it. It is therefore as good an
/// end as the probed one.
pub(super) fn end<'d>(
    calls: &Calls<'_, '_>,
    dispatcher: &'d Dispatcher,
) -> Result<&'d Instruction, NoDirect> {
    let body = &dispatcher.body;
    let probed = dispatcher.end.as_ref().ok().map(|end| &end.evidence);
    let Some(&Evidence::Join { address, jumps }) = probed else {
        return Err(NoDirect::NothingToMove(body.start));
    };
    let starts = dispatcher.starts.iter().chain(&dispatcher.fused);
    let starts: Vec<usize> = starts.filter_map(|start| body.index(start.address)).collect();
    let paths = Paths::new(body, calls);
    let mut reason = NoDirect::NothingToMove(address);
    for n in dispatch::line(body, address, jumps) {
        let instruction = &body.code[n];
        if !movable(calls.image, instruction) || dispatch::closed(body, &paths, &starts, n).is_err() {
            continue;
        }
        match entered::led_into(calls, body, instruction) {
            Ok(()) => return Ok(instruction),
            Err(led) => reason = led,
        }
    }
    Err(reason)
}

/// Whether the instruction does the same elsewhere, and has space for a jump.
fn movable(image: &Image<'_>, instruction: &Instruction) -> bool {
    let Some(bytes) = image.bytes(instruction.address, instruction.length.into()) else { return false };
    instruction.flow == Flow::Next
        && match image.machine {
            Machine::X86_64 => instruction.length >= JUMP && movable_x86(bytes),
            Machine::Arm64 => bytes.try_into().is_ok_and(|word| movable_arm64(u32::from_le_bytes(word))),
        }
}
