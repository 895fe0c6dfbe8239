//! When operators were captured.

/// Why operator probes were put in or taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// The operators of a process began or ceased to be captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeSwitch {
    /// Process.
    pub pid: u32,
    /// Captured from here on.
    pub on: bool,
    /// Why.
    pub reason: SwitchReason,
    /// On: the first probe was about to be put in. Off: calls that began from here on were not captured. ns.
    pub began_ns: u64,
    /// On: calls that began from here on were captured. Off: the last probe was out. ns.
    pub done_ns: u64,
    /// Probes put in or taken out.
    pub probes: u16,
    /// Longest time for which the engine stood still for it, ns; `None` where it was not measured.
    pub pause_ns: Option<u64>,
}

/// What is known of the operators of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Traced {
    /// All were captured, as far as filters and losses let them pass.
    Whole,
    /// None was: the engine ran without operator probes from before its start to its end.
    Untraced,
    /// It began while probes were put in or taken out, or they were put in or still taken out while it ran: neither its
    /// operators nor its time say anything.
    Edge,
}

/// The switches of a session, by process, then `began_ns`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Duty {
    /// Rows. None of a process where operators were captured all the time.
    pub switches: Vec<ProbeSwitch>,
}

impl Duty {
    /// Operators were captured for some of the time only, in some process.
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

    /// What is known of a token call of process `pid`, or of a graph call outside of any; a graph call inside a token call is
    /// as that. `end_ns` is its end.
    #[must_use]
    pub fn traced(&self, pid: u32, start_ns: u64, end_ns: u64) -> Traced {
        let all = self.of(pid);
        let after = all.partition_point(|s| s.began_ns <= start_ns);
        // In force when it began; before the first switch, probes were being attached, or were never taken out.
        let Some(last) = after.checked_sub(1).map(|at| all[at]) else {
            return if all.is_empty() { Traced::Whole } else { Traced::Edge };
        };
        if last.on {
            return if start_ns >= last.done_ns { Traced::Whole } else { Traced::Edge };
        }
        // It has no spans; but its time is that of an engine without probes only if none was there while it ran.
        let disturbed = start_ns < last.done_ns || all.get(after).is_some_and(|next| next.began_ns < end_ns);
        if disturbed { Traced::Edge } else { Traced::Untraced }
    }
}
