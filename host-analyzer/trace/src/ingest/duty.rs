//! Switches of operator probes, by process and time.

use profinfer_wire::record::duty as wire;

use crate::model::{Duty, ProbeSwitch, SwitchReason};

pub(super) fn switch(duty: &mut Duty, r: &wire::ProbeSwitch) {
    let reason = match r.reason {
        wire::SwitchReason::Begin => SwitchReason::Begin,
        wire::SwitchReason::Duty => SwitchReason::Duty,
        wire::SwitchReason::Controller => SwitchReason::Controller,
        wire::SwitchReason::Filter => SwitchReason::Filter,
        wire::SwitchReason::End => SwitchReason::End,
    };
    let wire::ProbeSwitch { pid, on, began_ns, done_ns, probes, pause_ns, .. } = *r;
    duty.switches.push(ProbeSwitch { pid, on, reason, began_ns, done_ns, probes, pause_ns });
}

/// Puts what came in any order into the table's. A switch is not done before it began, whatever the stream says.
pub(super) fn finish(duty: &mut Duty) {
    duty.switches.sort_by_key(|s| (s.pid, s.began_ns));
    for switch in &mut duty.switches {
        switch.done_ns = switch.done_ns.max(switch.began_ns);
    }
}
