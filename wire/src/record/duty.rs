//! When operators were captured: their probes put in and taken out while the session runs.

use serde::{Deserialize, Serialize};

/// Why operator probes were put in or taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SwitchReason {
    /// The session, or the tracing of a process, began.
    Begin,
    /// The duty cycle.
    Duty,
    /// The controller.
    Controller,
    /// A filter on token calls or requests.
    Filter,
    /// The session ended.
    End,
}

/// The operators of a process begin or cease to be captured. Absent where that never changes: then they are captured from
/// the attaching of the probes on.
///
/// A token call (where there is none around it, a graph call) is captured whole if it began at or after `done_ns` of a switch
/// on and before `began_ns` of the next switch off: the probes stay until it has ended. If it began at or after `began_ns` of a
/// switch off and before `began_ns` of the next switch on, it has no spans. Calls that began in between are at an edge: they may
/// have spans, and nothing may be concluded from their time. At the end of the session, calls that had not ended are at an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeSwitch {
    /// Process.
    pub pid: u32,
    /// Operators are captured from here on.
    pub on: bool,
    /// Why.
    pub reason: SwitchReason,
    /// On: the first probe was about to be put in. Off: calls that begin from here on are not captured. ns.
    pub began_ns: u64,
    /// On: calls that begin from here on are captured. Off: the last probe is out. ns.
    pub done_ns: u64,
    /// Probes put in or taken out; 0 where they stay and only what they do has changed.
    pub probes: u16,
    /// Longest time for which the engine stood still for it, ns; `None`: not measured.
    pub pause_ns: Option<u64>,
}
