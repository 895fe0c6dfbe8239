//! Board profiles: what a board is, and what is captured on it. Data in TOML files beside this crate; host and
//! build time only, the agent never sees them.
//!
//! ```text
//! *.toml           boards: clusters, memory, ceilings, sensors; name cores and backends
//! cores/*.toml     what every core of a type can count, and in which sets
//! backends/*.toml  libraries and functions of an accelerator's backend
//! ```
//!
//! Nothing here touches a file: text in, profile out. `docs/board-profiles.md` is the schema for people.

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
pub use memory::{Measured, Memory};
pub use plan::PlannedCounter;
pub use provenance::{Provenance, Source};
pub use sensor::{Kind, Parse, Sensor, SensorUnit};
