//! Where operators can be recorded without a trap, in words.

use crate::direct::places::{DirectPlace, DirectPlaces, DirectRole, NoDirect, Proof};
use crate::file::elf::Machine;

/// The places of a file and, after a line end, the basis of the proof; or why there are none.
#[must_use]
pub fn direct(found: &Result<DirectPlaces, NoDirect>) -> String {
    match found {
        Ok(found) => format!("{}\n{}", places(found), proof(found)),
        Err(reason) => format!("none: {}", no_direct(*reason)),
    }
}

/// Why there are no places.
#[must_use]
pub fn no_direct(reason: NoDirect) -> String {
    match reason {
        NoDirect::NotACall(at) => {
            format!("the operator start at {at:#x} is not a plain call of an address")
        }
        NoDirect::NoBounds(at) => {
            format!("the unwind tables do not have the function around {at:#x}")
        }
        NoDirect::Undecoded(at) => format!("the code at {at:#x} cannot be decoded"),
        NoDirect::LandingPads(at) => {
            format!("the function at {at:#x} has landing pads for exceptions, which are not checked")
        }
        NoDirect::NothingToMove(at) => {
            format!(
                "no instruction after {at:#x}, where operators meet, is movable and long enough for a jump"
            )
        }
        NoDirect::UnknownTable(at) => format!("the targets of the jump at {at:#x} are unknown"),
        NoDirect::LedInto { place, by } => {
            format!("the code or pointer at {by:#x} leads into the instruction at {place:#x}")
        }
        NoDirect::Referred { function, by } => {
            format!(
                "the code or pointer at {by:#x} refers to the operator function at {function:#x} without calling it"
            )
        }
        NoDirect::NotCalled(at) => format!("nothing else calls the operator function at {at:#x}"),
        NoDirect::Misplaced(at) => {
            format!("the place at {at:#x} overlaps another one or is not in the file")
        }
    }
}

fn places(found: &DirectPlaces) -> String {
    let of = |wanted: fn(DirectRole) -> bool| -> Vec<&DirectPlace> {
        found.places.iter().filter(|place| wanted(place.role)).collect()
    };
    let offsets = |what: &str, places: Vec<&DirectPlace>| {
        let all: Vec<_> = places.iter().map(|place| format!("{:#x}", place.offset)).collect();
        (!all.is_empty()).then(|| format!("{what} {}", all.join(", ")))
    };
    let ends = of(|role| role == DirectRole::End);
    let moved: usize = ends.iter().map(|place| place.bytes.len()).sum();
    let parts = [
        offsets("start", of(|role| matches!(role, DirectRole::Start { fused: false, .. }))),
        offsets("fused start", of(|role| matches!(role, DirectRole::Start { fused: true, .. }))),
        offsets("end", ends).map(|ends| format!("{ends} ({moved} bytes moved)")),
        offsets("whole calls", of(|role| matches!(role, DirectRole::Whole { .. }))),
        found.has_phase.then(|| "in phases".to_owned()),
    ];
    format!("offsets: {}", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

fn proof(found: &DirectPlaces) -> String {
    let Proof { branches, tables, references, .. } = found.proof;
    let led = match found.machine {
        Machine::X86_64 => format!(
            "{branches} branches and {tables} jump tables followed, none leads into these instructions"
        ),
        Machine::Arm64 => "every instruction is one word, so nothing leads into one".to_owned(),
    };
    match references {
        0 => led,
        all => format!("{led}; all {all} references to the operator function are calls"),
    }
}
