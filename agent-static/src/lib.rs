//! The agent on the board. `ARCHITECTURE.md` describes the path of an event.
//!
//! ```text
//! cli ─▶ commands ─▶ session ─▶ schedule ─▶ probes ─▶ direct ─▶ profinfer_engine (what to probe)
//!                       │          bpf (kernel side) ─▶ lower ─▶ link
//!                       └── request (plan)   target (processes)   observe (board)
//!                           sys (the only unsafe code)
//! ```
//! A folder uses only the folders before it in `tests/borders.rs`.

pub mod bpf;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod confine;
#[cfg(feature = "direct")]
pub mod direct;
#[cfg(not(feature = "direct"))]
#[path = "direct/absent.rs"]
pub mod direct;
pub mod doctor;
pub mod error;
pub mod kernel_options;
pub mod link;
pub mod lower;
pub mod observe;
pub mod probes;
pub mod proc_file;
pub mod request;
pub mod schedule;
pub mod session;
pub mod signals;
pub mod sys;
pub mod target;
