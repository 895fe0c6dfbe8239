//! The probes of the traced processes: attached, reported, checked, removed.
//!
//! [`tracer`] is the session's side. It finds processes and keeps an [`attach::Attached`] for each.

pub mod attach;
pub mod operators;
pub mod outcome;
pub mod selfcheck;
pub mod tracer;
pub mod uprobes;
