//! Direct probes: the agent's reports about them.

use profinfer_wire::record::direct::{DirectLoss, Probes, ProbesUsed, why};

use crate::model::{DirectTotals, Health, NotDirect, OperatorProbes, Why};

/// The last record of a process is valid.
pub(super) fn used(health: &mut Health, r: &ProbesUsed<'_>) {
    let direct = r.used == Probes::Direct && r.why == 0;
    let refused = (!direct).then(|| NotDirect { why: reason(r.why), detail: r.detail.to_owned() });
    let (pid, places, repaired, stopped_ns) = (r.pid, r.places, r.repaired, r.stopped_ns);
    health.operator_probes.retain(|p| p.pid != pid);
    health.operator_probes.push(OperatorProbes { pid, refused, places, repaired, stopped_ns });
}

pub(super) const fn totals(r: &DirectLoss) -> DirectTotals {
    DirectTotals {
        records: r.records,
        ring_full: r.ring_full,
        no_slot: r.no_slot,
        clamped: r.clamped,
        clock_error_ns: r.clock_error_ns,
    }
}

const fn reason(number: u16) -> Why {
    match number {
        why::COUNTERS => Why::Counters,
        why::EXPERTS => Why::Experts,
        why::CAPTURE => Why::Capture,
        why::ARCHITECTURE => Why::Architecture,
        why::NO_PLACES => Why::NoPlaces,
        why::CODE => Why::Code,
        why::TRACER => Why::Tracer,
        why::NOT_ALLOWED => Why::NotAllowed,
        why::DOES_NOT_STOP => Why::DoesNotStop,
        why::JOB_CONTROL => Why::JobControl,
        why::SECCOMP => Why::Seccomp,
        why::PID_NAMESPACE => Why::PidNamespace,
        why::CLOCK => Why::Clock,
        why::NO_THREAD_NUMBER => Why::NoThreadNumber,
        why::NO_ROOM => Why::NoRoom,
        why::NOT_MAPPED => Why::NotMapped,
        why::CHANGED => Why::Changed,
        why::TWO_PAGES => Why::TwoPages,
        why::OTHER_AGENT => Why::OtherAgent,
        why::NO_THREAD => Why::NoThread,
        why::MAPPING => Why::Mapping,
        why::UNREACHABLE => Why::Unreachable,
        why::ENDED => Why::Ended,
        why::NOT_BUILT => Why::NotBuilt,
        _ => Why::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_holds_and_a_reason_of_a_later_agent_is_told() {
        let mut health = Health::default();
        let mut r = ProbesUsed {
            pid: 7,
            used: Probes::Uprobe,
            why: 60_000,
            detail: "x",
            places: 0,
            repaired: 0,
            stopped_ns: 0,
        };
        used(&mut health, &r);
        let refused = health.operator_probes[0].refused.as_ref();
        assert_eq!(refused.map(|r| (r.why, r.detail.as_str())), Some((Why::Other, "x")));
        (r.used, r.why, r.places) = (Probes::Direct, 0, 3);
        used(&mut health, &r);
        assert_eq!(health.operator_probes.len(), 1);
        assert_eq!((health.operator_probes[0].refused.as_ref(), health.operator_probes[0].places), (None, 3));
    }
}
