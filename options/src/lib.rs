//! What to capture, as people say it on a command line: the agent's `record` and the host's `analyze` take the same options, which
//! mean the same requests. The wire says how their values are written ([`profinfer_wire::options`]).
#![forbid(unsafe_code)]

mod capture;
mod probes;

pub use capture::CaptureArgs;
pub use probes::ProbesArgs;
