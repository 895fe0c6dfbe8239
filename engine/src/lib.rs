//! Examines an engine's files: where to probe, the layout of its structs, the names of its
//! operators and types. Facts come from the target, not from tables in this code.
//!
//! Stage: before attaching. From: the ELF files that a process maps. To: [`EnginePlan`], which the
//! agent turns into probes. Promises: never panics on any bytes and never guesses. What could not
//! be found is in [`EnginePlan::missing`] with the reason.
//!
//! ```text
//! file      one ELF file: segments, symbols, relocations, functions by their unwind tables
//! code      its instructions, the same for both instruction sets
//! symbols   what functions are called, who calls and refers to whom
//! facts     names of operators and types, struct offsets, versions
//! probes    where operators, graphs and tokens begin and end
//! direct    where operators can be recorded without a trap
//! plan      all files of a process put together, and the plan in words
//! ```
//!
//! A folder uses only those above it; `tests/borders.rs` checks that.

#![forbid(unsafe_code)]
// Without one of the decoders, some variants are never constructed.
#![cfg_attr(
    not(all(feature = "arm64", feature = "x86")),
    allow(dead_code, reason = "used by the other decoder")
)]

mod code;
mod direct;
mod facts;
mod file;
mod plan;
mod probes;
mod symbols;

pub use code::returned::returned;
pub use direct::places::{DirectPlace, DirectPlaces, DirectRole, NoDirect, Proof};
pub use facts::layout::{FoundLayout, Layout, NoLayout, Offset, Origin, Unfitting};
pub use facts::tables::{DataType, Tables};
pub use file::elf::{Image, Machine};
pub use file::error::ElfError;
pub use plan::describe;
pub use plan::examine::{examine, is_engine_part, library_event_site, stripped_functions};
pub use plan::strategy::{NoWay, Strategy, Way, strategies};
pub use plan::types::{EnginePlan, FileFindings, Role};
pub use probes::evidence::{Evidence, Site};
pub use probes::kind::{Level, ProbeKind};
pub use probes::missing::{Missing, MissingReason, NoEnd, NoFunction, NoStart, Unprobable};
pub use symbols::names::{BackendFunction, By, Clue};
