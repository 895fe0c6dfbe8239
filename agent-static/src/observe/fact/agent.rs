//! The agent itself: privileges that it has dropped (docs/security.md), and events that its
//! programs missed.

use profinfer_wire::record::fact::FactScope::System;

use super::send::Sender;
use crate::confine::{Confined, capabilities};

pub(super) fn send(confined: &Confined, out: &mut Sender<'_>) {
    out.text_or(System, "agent.capabilities", confined.capabilities.clone().map(capabilities::words));
    out.number(System, "agent.no_new_privileges", confined.no_new_privileges.into());
    out.number_or(System, "agent.seccomp", confined.calls.clone().map(|()| 1));
}

pub(super) fn send_missed(missed: Result<u64, String>, out: &mut Sender<'_>) {
    out.number_or(System, "agent.sched_missed", missed);
}

pub(super) fn send_batch_hits(hits: u64, out: &mut Sender<'_>) {
    out.number(System, "agent.batch_hits", hits);
}
