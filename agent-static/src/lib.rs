//! The agent on the board. See `ARCHITECTURE.md` for the way of one event.
//!
//! ```text
//! cli ─▶ session ─▶ tracer ─▶ attach ─▶ profinfer_engine (what to probe)     bpf (the kernel's side)
//!            │                             ring ─▶ lower ─▶ emit ─▶ link
//!            └── host (plan, stop)   target (processes)   sys (the only unsafe code)
//! ```

pub mod asked;
pub mod attach;
pub mod backend_function;
#[cfg(feature = "bench")]
pub mod bench;
pub mod boards;
pub mod bpf;
pub mod capture;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod confine;
pub mod controller;
pub mod cost;
pub mod counter;
pub mod direct;
pub mod doctor;
pub mod duty;
pub mod emit;
pub mod error;
pub mod fact;
pub mod gauge;
pub mod host;
pub mod inspect;
pub mod link;
pub mod lower;
pub mod operators;
pub mod outcome;
pub mod placement;
pub mod plan;
pub mod proc_file;
pub mod ring;
pub mod sched;
pub mod selfcheck;
pub mod session;
pub mod signals;
pub mod sys;
pub mod target;
pub mod tracer;
pub mod uprobes;
pub mod wishes;
