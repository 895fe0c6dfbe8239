//! The probes of the traced processes: put in, told of, checked, taken out.
//!
//! [`tracer`] is the session's side: it meets processes, and has an [`attach::Attached`] for each.

pub mod attach;
pub mod operators;
pub mod outcome;
pub mod selfcheck;
pub mod tracer;
pub mod uprobes;
