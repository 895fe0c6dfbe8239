//! Board profiles: the known facts about a board, and what is captured on it. The data is in TOML
//! files next to this crate. The host reads them, and the agent's build compiles the shipped ones
//! in. The agent never reads them.
//!
//! ```text
//! *.toml           boards: clusters, memory, sensors; name cores and backends
//! cores/*.toml     events that every core of a type can count, and its sets
//! backends/*.toml  libraries and functions of an accelerator's backend
//! ```
//!
//! Nothing here opens a file: the input is text, the output is a profile. `docs/board-profiles.md`
//! describes the schema.

mod backend;
mod board;
mod catalog;
mod cores;
mod cpus;
mod error;
mod gauge;
mod guess;
mod link;
mod memory;
mod names;
mod parse;
mod plan;
mod provenance;
mod sensor;
mod shipped;

pub use backend::{Backend, Guid, Level, Probe};
pub use board::{Board, Caches, Cluster, Note};
pub use catalog::{Catalog, Replaced};
pub use cores::{Core, Event, Set, Unit};
pub use cpus::Cpus;
pub use error::BoardError;
pub use guess::{Contradiction, Seen};
pub use memory::{Measured, Memory};
pub use plan::PlannedCounter;
pub use provenance::{Provenance, Source};
pub use sensor::{Kind, Parse, Sensor, SensorUnit};
