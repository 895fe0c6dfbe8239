//! The drain of the kernel's ring buffer: each event goes to whom it concerns.

use crate::bpf::ring::{Event, Op};
use crate::lower::Lower;
use crate::target::catch::Executed;

/// What drained events became.
#[derive(Debug)]
pub(super) struct Drain {
    /// What the engine computes.
    pub(super) lower: Lower,
    /// Processes that began a new program: for the tracer.
    pub(super) executed: Vec<Executed>,
    /// Topologies that `lower` forgot: for the kernel side.
    pub(super) forgotten: Vec<u64>,
}

impl Drain {
    pub(super) fn new(lower: Lower) -> Self {
        Self { lower, executed: Vec::new(), forgotten: Vec::new() }
    }

    /// Takes one record of the ring buffer.
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
            // Its wake-up is all that matters: the watch sees the stop itself.
            Event::Hold(_) => {}
            computed => self.lower.event(computed, &mut self.forgotten),
        }
    }
}
