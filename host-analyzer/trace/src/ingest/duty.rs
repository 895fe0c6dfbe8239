//! Switches of operator probes, by process and time.

use profinfer_wire::record::duty as wire;

use crate::model::{Duty, ProbeSwitch};

pub(super) fn switch(duty: &mut Duty, r: &wire::ProbeSwitch) {
    let wire::ProbeSwitch { pid, on, reason, began_ns, done_ns, probes, pause_ns } = *r;
    let reason = reason.into();
    duty.switches.push(ProbeSwitch { pid, on, reason, began_ns, done_ns, probes, pause_ns });
}

/// Sorts the rows. A switch cannot end before it began, even if the stream says so.
pub(super) fn finish(duty: &mut Duty) {
    duty.switches.sort_by_key(|s| (s.pid, s.began_ns));
    for switch in &mut duty.switches {
        switch.done_ns = switch.done_ns.max(switch.began_ns);
    }
}
