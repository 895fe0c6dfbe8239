//! From synthetic events to the model that a host reads from the stream: no engine, no kernel, no
//! root.
//!
//! The expected values are those of the events; the host's decoder reads the actual ones.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod addresses;
mod capture;
mod counters;
mod cpu_use;
mod engine;
mod engines;
mod experts;
mod losses;
mod nested;
mod order;
mod parts;
mod parts_of_topologies;
mod run;
mod sched;
mod topologies;
