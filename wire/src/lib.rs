//! The contract between the agent on the board and the analyser on the host.
//!
//! ```text
//!  agent:  records ─▶ postcard ─▶ frame (kind, seq, len, CRC-32C) ─▶ COBS ─▶ 0x00 ─▶ link
//!  host:   link ─▶ accumulator (cut at 0x00) ─▶ frame or named damage ─▶ postcard ─▶ records
//! ```
//!
//! A stream is one [`hello::Hello`] (64 fixed bytes) and then frames. A recording is the bytes of
//! the stream and nothing else. The crate is `no_std`, does not allocate, does no I/O and has no
//! `unsafe`. Decoding foreign bytes never panics: it yields records or [`accumulator::Damage`].
//! `docs/wire-format.md` specifies the bytes; its examples are this crate's test vectors.
#![no_std]
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod accumulator;
pub mod batch;
pub mod bits;
pub mod counts;
pub mod cpu_use;
pub mod experts;
pub mod frame;
pub mod gauges;
pub mod hello;
pub mod interrupt;
pub mod options;
pub mod parts;
pub mod placements;
pub mod predicted;
pub mod record;
pub mod sched;
pub mod span;
pub mod tensor;
pub mod tensors;
pub mod usual;
pub mod varint;

/// Version of the wire format that this build writes.
pub const WIRE_VERSION: u16 = 1;

/// Every version that this build reads. A version stays here until `docs/wire-format.md` says that
/// it is withdrawn.
pub const SUPPORTED_VERSIONS: &[u16] = &[1];
