//! When operators were captured: the agent inserted and removed their probes during the session.

use serde::{Deserialize, Serialize};

/// Why operator probes were inserted or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SwitchReason {
    /// The session, or the tracing of a process, began.
    Begin,
    /// The duty cycle.
    Duty,
    /// The controller.
    Controller,
    /// A filter on decode calls or requests.
    Filter,
    /// The session ended.
    End,
}

/// Capture of a process's operators begins or ends. Absent where that never changes: operators are
/// then captured from the time at which the probes were attached.
///
/// The rules apply to a decode call, or to a graph call outside of any. It is captured completely
/// if it began at or after `done_ns` of a switch on and before `began_ns` of the next switch off:
/// the probes stay until it has ended. It has no spans if it began at or after `began_ns` of a
/// switch off and before `began_ns` of the next switch on. Calls that began in between are
/// partially traced: they may have spans, and their time proves nothing. So are calls that had not
/// ended at the end of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeSwitch {
    /// Process.
    pub pid: u32,
    /// Operators are captured from here on.
    pub on: bool,
    /// Why.
    pub reason: SwitchReason,
    /// On: time before the first probe was inserted. Off: calls that begin from here on are not
    /// captured. ns.
    pub began_ns: u64,
    /// On: calls that begin from here on are captured. Off: the last probe is removed. ns.
    pub done_ns: u64,
    /// Probes inserted or removed; 0 where they stay and only their effect has changed.
    pub probes: u16,
    /// Longest time for which the engine was stopped for it, ns; `None`: not measured.
    pub pause_ns: Option<u64>,
}
