//! When operators were captured.

/// Why operator probes were inserted or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// Capture of a process's operators began or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeSwitch {
    /// Process.
    pub pid: u32,
    /// Captured from here on.
    pub on: bool,
    /// Why.
    pub reason: SwitchReason,
    /// On: time before the first probe was inserted. Off: calls that began from here on were not
    /// captured. ns.
    pub began_ns: u64,
    /// On: calls that began from here on were captured. Off: the last probe was removed. ns.
    pub done_ns: u64,
    /// Probes inserted or removed.
    pub probes: u16,
    /// Longest time for which the engine was stopped for it, ns; `None` where it was not measured.
    pub pause_ns: Option<u64>,
}

/// Whether the operators of a call were captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Traced {
    /// All were captured, except what filters and losses left out.
    Whole,
    /// None: the engine ran without operator probes from before the call's start to its end.
    Untraced,
    /// Partially traced: probes were inserted or removed at its start or while it ran. Neither its
    /// operators nor its time prove anything.
    Edge,
}

/// The switches of a session, by process, then `began_ns`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Duty {
    /// Rows. None for a process whose operators were captured all the time.
    pub switches: Vec<ProbeSwitch>,
}

impl Duty {
    /// In some process, operators were captured only for a part of the time.
    #[must_use]
    pub fn switched(&self) -> bool {
        self.switches.iter().any(|s| !s.on && s.reason != SwitchReason::End)
    }

    /// The switches of a process.
    #[must_use]
    pub fn of(&self, pid: u32) -> &[ProbeSwitch] {
        let from = self.switches.partition_point(|s| s.pid < pid);
        let to = self.switches.partition_point(|s| s.pid <= pid);
        &self.switches[from..to]
    }

    /// Whether a decode call of process `pid` was captured, or a graph call outside of any. A graph
    /// call inside a decode call has the decode call's state. `end_ns` is the call's end.
    #[must_use]
    pub fn traced(&self, pid: u32, start_ns: u64, end_ns: u64) -> Traced {
        let all = self.of(pid);
        let after = all.partition_point(|s| s.began_ns <= start_ns);
        // The switch in force when the call began. Before the first switch, probes were being
        // attached, or were never removed.
        let Some(last) = after.checked_sub(1).map(|at| all[at]) else {
            return if all.is_empty() { Traced::Whole } else { Traced::Edge };
        };
        if last.on {
            return if start_ns >= last.done_ns { Traced::Whole } else { Traced::Edge };
        }
        // It has no spans. But its time is that of an engine without probes only if there were none
        // while it ran.
        let disturbed = start_ns < last.done_ns || all.get(after).is_some_and(|next| next.began_ns < end_ns);
        if disturbed { Traced::Edge } else { Traced::Untraced }
    }
}
