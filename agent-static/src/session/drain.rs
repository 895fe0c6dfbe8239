//! The drain of the ring buffer: passes each event to the module that handles it.

use crate::bpf::ring::{Event, Op};
use crate::lower::Lower;
use crate::target::catch::Executed;

#[derive(Debug)]
pub(super) struct Drain {
    /// Handles what the engine computes.
    pub(super) lower: Lower,
    /// Processes that executed a new program, for the tracer.
    pub(super) executed: Vec<Executed>,
    /// Processes that began or ended a part of their loading, for the tracer: with the moment.
    pub(super) loading: Vec<(u32, u8)>,
    /// Topologies that `lower` forgot and the BPF programs must forget.
    pub(super) forgotten: Vec<u64>,
}

impl Drain {
    pub(super) fn new(lower: Lower) -> Self {
        Self { lower, executed: Vec::new(), loading: Vec::new(), forgotten: Vec::new() }
    }

    /// Handles one record of the ring buffer.
    pub(super) fn record(&mut self, bytes: &[u8]) {
        if let Some(op) = Op::parse(bytes) {
            self.lower.op(&op, None);
        } else if let Some(event) = Event::parse(bytes) {
            self.event(&event);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Exec(head, at_ns, comm) => {
                self.executed.push(Executed { pid: head.tgid, at_ns: *at_ns, comm: *comm });
            }
            Event::Loading(head, _) => {
                self.loading.extend(u8::try_from(head.arg).ok().map(|moment| (head.tgid, moment)));
            }
            // It only wakes the agent: the watch detects the stop itself.
            Event::Hold(_) => {}
            computed => self.lower.event(computed, &mut self.forgotten),
        }
    }
}
