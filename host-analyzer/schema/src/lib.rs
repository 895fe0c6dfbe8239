//! What `analyze` writes: typed structs of its JSON files and the columns of its Parquet tables.
//!
//! Everyone who reads these files reads them through this crate or through what is generated from it: the
//! JSON Schema in `json/`, the TypeScript types of the report page, the key tables of
//! docs/output-schema.md. The structs are not those of the analyses: `profinfer-views` converts, field by
//! field, so that a change inside changes no byte of a file.
//!
//! The rules are in docs/compatibility.md. In short: a published field never changes meaning, fields and
//! values are only added. Texts with a fixed set of values are enums; a value that this version does not
//! know is read as `Newer` and written back as it was.

#![warn(missing_docs)]

mod accelerator;
mod backends;
mod bound;
mod budget;
mod capture;
mod ceiling;
mod comparison;
mod conditions;
mod cost;
mod counter;
mod critical_path;
mod dag;
mod ending;
mod engine;
mod estimate;
mod evidence;
mod expert;
mod findings;
mod gauge;
mod graph;
mod health;
mod kv;
mod module;
mod nested;
mod op;
mod phase;
mod prediction;
mod process;
mod profile;
mod remedy;
mod request;
mod sched;
mod server;
mod session;
mod slowdown;
mod speculative;
mod summary;
mod tables;
mod thing;
mod thread;
mod tokens;
mod track;
mod tuning;
mod tuning_prediction;
mod weights;
mod work;

pub use accelerator::*;
pub use backends::*;
pub use bound::*;
pub use budget::*;
pub use capture::*;
pub use ceiling::*;
pub use comparison::*;
pub use conditions::*;
pub use cost::*;
pub use counter::*;
pub use critical_path::*;
pub use dag::*;
pub use ending::*;
pub use engine::*;
pub use estimate::*;
pub use evidence::*;
pub use expert::*;
pub use findings::*;
pub use gauge::*;
pub use graph::*;
pub use health::*;
pub use kv::*;
pub use module::*;
pub use nested::*;
pub use op::*;
pub use phase::*;
pub use prediction::*;
pub use process::*;
pub use profile::*;
pub use remedy::*;
pub use request::*;
pub use sched::*;
pub use server::*;
pub use session::*;
pub use slowdown::*;
pub use speculative::*;
pub use summary::*;
pub use tables::*;
pub use thing::*;
pub use thread::*;
pub use tokens::*;
pub use track::*;
pub use tuning::*;
pub use tuning_prediction::*;
pub use weights::*;
pub use work::*;

/// Version of the JSON files.
pub const SCHEMA: u32 = 2;

/// Whether this version is not released yet: until then its fields may change.
pub const DRAFT: bool = true;

/// What a file without the mark is: all files before the first release are drafts.
const fn draft() -> bool {
    true
}
