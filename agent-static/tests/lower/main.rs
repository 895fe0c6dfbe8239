//! From synthetic events to what a host reads out of the stream: no engine, no kernel, no root.
//!
//! What is expected is what the events said, and it is read by the host's own decoder.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod addresses;
mod capture;
mod counters;
mod engine;
mod engines;
mod experts;
mod losses;
mod nested;
mod order;
mod parts;
mod run;
mod sched;
mod topologies;
