//! Functions of backends other than the CPU, by the symbols that the backend profiles name.
//!
//! Stage: before attaching. From: one file's [`Calls`]; which library it is does not matter, for static builds have them in
//! the executable. To: [`Site`]s. Promises: the probed function returns by itself. One that only jumps to another shares its
//! stack pointer, and Linux on arm64 loses its way among return probes of one stack pointer (see [`entry`]) and kills the
//! process: there the other one is probed.

use std::borrow::Cow;

use super::body::Body;
use super::calls::Calls;
use super::code::{self, Effect, Flow};
use super::elf::Image;
use super::entry::Stack;
use super::names::PREFIXES;
use super::operators::describe_entry;
use super::{Mark, Missing, Site, entry, frames};
use crate::backend_function::FUNCTIONS;

/// Most jumps from one function to the next that are followed.
const MOST_JUMPS: usize = 4;
/// Longest piece of code before such a jump, in instructions.
const LONGEST_STUB: usize = 16;

/// The profiles' symbol for a name in a file, with or without a vendor's prefix.
pub(super) fn known(name: &str) -> Option<&'static str> {
    let plain = unprefixed(name);
    FUNCTIONS.iter().map(|f| f.symbol).find(|symbol| *symbol == plain)
}

/// A name without the prefixes that some programs give GGML's names; in a mangled one, every name is preceded by its length.
fn unprefixed(name: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(super::names::plain(name));
    for prefix in PREFIXES {
        let ours = format!("{prefix}ggml_");
        while let Some(at) = plain.find(&ours).filter(|_| plain.starts_with("_Z")) {
            let digits = plain[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
            let Ok(length) = plain[at - digits..at].parse::<usize>() else { break };
            let rest = &plain[at + prefix.len()..];
            let shorter = length.saturating_sub(prefix.len());
            plain = Cow::Owned(format!("{}{shorter}{rest}", &plain[..at - digits]));
        }
    }
    plain
}

/// Whether the file has any of them.
pub(super) fn in_file(calls: &Calls<'_, '_>) -> bool {
    FUNCTIONS.iter().any(|f| calls.function(f.symbol).is_some())
}

/// Their sites in the file with this index, and what cannot be probed.
pub(super) fn find(calls: &Calls<'_, '_>, file: usize) -> (Vec<Site>, Vec<Missing>) {
    let (mut sites, mut missing): (Vec<Site>, _) = (Vec::new(), Vec::new());
    for (slot, function) in (0..).zip(FUNCTIONS) {
        let Some(symbol) = calls.names.get(function.symbol) else { continue };
        let mark = if function.whole { Mark::BackendOp(slot) } else { Mark::NestedCall(slot) };
        let found = returning(calls.image, symbol.address, symbol.size).and_then(|(address, size)| {
            let entry = entry::entry(calls.image, address, size, Stack::AsAtEntry)
                .ok_or("its code cannot be read")?;
            let offset = calls.image.file_offset(entry.address).ok_or("it is not in the file")?;
            let jumps = if address == symbol.address {
                String::new()
            } else {
                format!("; it only jumps to {address:#x}, which is probed")
            };
            let shown = super::elf::Symbol { address, size, ..symbol };
            let note = format!("{}{jumps}; {}", function.backend(), describe_entry(&entry, &shown));
            Ok(Site { mark, file, offset, symbol: symbol.name.to_owned(), note })
        });
        match found {
            // Two names of one function would be two probes in one place, and count everything twice.
            Ok(site) if sites.iter().any(|s| s.offset == site.offset) => {}
            Ok(site) => sites.push(site),
            Err(reason) => {
                missing.push(Missing { mark, symbol: symbol.name.to_owned(), reason: reason.to_owned() });
            }
        }
    }
    (sites, missing)
}

/// Address and size (0: unknown) of the function itself, where the one at `address` does nothing but jump to it.
fn returning(image: &Image<'_>, mut address: u64, mut size: u64) -> Result<(u64, u64), &'static str> {
    const ONLY_JUMPS: &str = "it only jumps to another function that the file does not name, and a return probe on such a \
                              function may kill the process on arm64: use a build that calls the backend directly";
    for _ in 0..=MOST_JUMPS {
        let end = match frames::function_around(image, address) {
            Some((start, end)) if start == address => end,
            _ => address.checked_add(if size > 0 { size } else { 64 }).ok_or("its address is wrong")?,
        };
        let body = Body::new(image, address, end);
        let stub = body.code.iter().take(LONGEST_STUB);
        let mut straight = stub.take_while(|i| i.flow == Flow::Next);
        let only_pads = straight.by_ref().all(|i| code::effect(image, i) == Effect::None);
        let jump = body.code.iter().take(LONGEST_STUB).find(|i| i.flow != Flow::Next).map(|i| i.flow);
        match jump {
            Some(Flow::Jump(to)) if body.index(to).is_none() => {
                if !only_pads || !image.is_code(to) {
                    return Err(ONLY_JUMPS);
                }
                (address, size) = (to, 0);
            }
            Some(Flow::JumpSlot(_) | Flow::JumpAny) => return Err(ONLY_JUMPS),
            _ => return Ok((address, size)),
        }
    }
    Err(ONLY_JUMPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_prefixes_are_left_out() {
        let opencl = "_Z23ggml_cl_compute_forwardP12ggml_backendP11ggml_tensor";
        assert_eq!(known(opencl), Some(opencl));
        assert_eq!(known("_Z26lm_ggml_cl_compute_forwardP15lm_ggml_backendP14lm_ggml_tensor"), Some(opencl));
        assert_eq!(known("lm_ggml_cl_mul_mat"), Some("ggml_cl_mul_mat"));
        assert_eq!(known("rknn_matmul_run"), Some("rknn_matmul_run"));
        assert_eq!(known("ggml_cl_mul_mat_f32"), None);
        assert_eq!(known("_Zlm_ggml_"), None);
    }
}
