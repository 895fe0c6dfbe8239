//! The agent on the board. See `ARCHITECTURE.md` for the way of one event.
//!
//! ```text
//! cli ─▶ session ─▶ tracer ─▶ attach ─▶ engine (what to probe)     bpf (the kernel's side)
//!            │                             ring ─▶ lower ─▶ emit ─▶ link
//!            └── host (plan, stop)   target (processes)   sys (the only unsafe code)
//! ```

pub mod attach;
pub mod backend_function;
pub mod boards;
pub mod bpf;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod cost;
pub mod counter;
pub mod doctor;
pub mod emit;
// Without its decoder for x86-64 some of what decoders tell is never said.
#[cfg_attr(all(feature = "static", target_arch = "aarch64"), allow(dead_code, reason = "used by x86"))]
pub mod engine;
pub mod error;
pub mod gauge;
pub mod host;
pub mod inspect;
pub mod link;
pub mod lower;
pub mod placement;
pub mod plan;
pub mod ring;
pub mod selfcheck;
pub mod session;
pub mod signals;
pub mod sys;
pub mod target;
pub mod tracer;
