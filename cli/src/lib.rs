//! What the command lines of the agent and the host share.
//!
//! `profinfer-agent record` and `analyze` have the same capture options, and one option means the
//! same request in both. [`profinfer_wire::options`] parses their values. All programs print errors
//! of one type, [`Diagnostic`].
#![forbid(unsafe_code)]

#[cfg(feature = "capture")]
mod capture;
mod diagnostic;
#[cfg(feature = "capture")]
mod probes;

#[cfg(feature = "capture")]
pub use capture::CaptureArgs;
pub use diagnostic::{Diagnostic, Result};
#[cfg(feature = "capture")]
pub use probes::ProbesArgs;
