//! Whether the engine numbers its graphs, and the offset of the number.
//!
//! Since mid-2026 `ggml_cgraph` has a field `uid`: two graphs with the same non-zero number have
//! the same nodes. The scheduler sets it, in `ggml_backend_sched_split_graph`, from a function that
//! counts up. Promises: an offset only where that store is in the engine's code.

use crate::code::decode::{decode, effect, mnemonic};
use crate::code::function::Function;
use crate::code::instruction::{Effect, Flow, Instruction};
use crate::file::elf::{Image, Machine};
use crate::symbols::calls::Calls;
use crate::symbols::names::plain;

/// The exported function that numbers the graph.
const SETS: &str = "ggml_backend_sched_split_graph";
/// The function that counts; stripped builds hide its name.
const COUNTS: &str = "ggml_graph_next_uid";

/// Offset in bytes of `ggml_cgraph::uid`.
pub(crate) fn offset(calls: &Calls<'_, '_>) -> Option<u32> {
    let function = calls.names.get(SETS)?;
    let body = Function::around(calls.image, function.address)?;
    let counts = |i: &Instruction| match i.flow {
        Flow::Call(to) => calls.callee(to).map(plain) == Some(COUNTS) || is_counter(calls.image, to),
        flow => calls.called_by(flow).map(plain) == Some(COUNTS),
    };
    // The first one is for the graph that is split, later ones are for its splits.
    let call = body.code.iter().position(counts)?;
    let convention = calls.image.machine.convention();
    for instruction in body.code.iter().skip(call + 1).take(6) {
        if instruction.flow != Flow::Next {
            return None;
        }
        let done = effect(calls.image, instruction);
        match done {
            Effect::Store { base, offset, from }
                if from == Some(convention.result) && base != convention.stack =>
            {
                return u32::try_from(offset).ok();
            }
            _ if done.may_write(convention.result) => return None,
            _ => {}
        }
    }
    None
}

/// Whether the function only adds 1 to a variable of the file, atomically.
fn is_counter(image: &Image<'_>, address: u64) -> bool {
    let Some(end) = address.checked_add(48) else { return false };
    let code = decode(image, address, end);
    let Some(last) = code.iter().position(|i| i.flow != Flow::Next) else { return false };
    let result = image.machine.convention().result;
    let one = |i: &Instruction| effect(image, i) == Effect::Constant { to: result, value: 1 };
    if !code[..last].iter().any(one) {
        return false;
    }
    match image.machine {
        // lock xadd %rax, counter(%rip)
        Machine::X86_64 => {
            let adds = |i: &Instruction| {
                image.bytes(i.address, 5).is_some_and(|b| b == [0xf0, 0x48, 0x0f, 0xc1, 0x05])
            };
            code[last].flow == Flow::Return && code[..last].iter().any(adds)
        }
        // ldadd, or a call of the compiler's helper with (1, address of the counter).
        Machine::Arm64 => {
            let adds = |i: &Instruction| mnemonic(image, i).starts_with("ldadd");
            let counter = |i: &Instruction| match effect(image, i) {
                Effect::Constant { to, .. } | Effect::Add { to, .. } => to == 1,
                _ => false,
            };
            match code[last].flow {
                Flow::Return => code[..last].iter().any(adds),
                Flow::Call(_) | Flow::Jump(_) => code[..last].iter().any(counter),
                _ => false,
            }
        }
    }
}
