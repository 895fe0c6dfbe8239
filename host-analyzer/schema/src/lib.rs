//! Types of the files that `analyze` writes: the JSON files and the columns of the Parquet tables.
//!
//! Readers use this crate, or what is generated from it: the JSON Schema in `json/`, the TypeScript
//! types of the report page, and docs/output-keys.md. `profinfer-views` converts the results of the
//! analyses to these structs field by field, so that an internal change does not change a file.
//!
//! docs/compatibility.md has the rules: a published field never changes its meaning; fields and
//! values are only added. Texts with a fixed set of values are enums. A value that this version does
//! not know is read as `Newer` and written back unchanged.
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
mod heading;
mod health;
mod kv;
mod ladder;
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
pub use heading::*;
pub use health::*;
pub use kv::*;
pub use ladder::*;
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

/// True until this version is released. Fields of a draft may still change.
pub const DRAFT: bool = true;

/// Default for files without the field `draft`: all files before the first release are drafts.
const fn draft() -> bool {
    true
}
