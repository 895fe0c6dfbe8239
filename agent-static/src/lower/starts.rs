//! Starts without ends: a span goes on to its thread's next start in the graph call, the last one to the call's end.

use profinfer_wire::span::Span;

use super::Lower;
use super::graph::Open;

/// A span that has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    pub(super) span: Span,
    /// No filter leaves it out.
    pub(super) passes: bool,
}

impl Running {
    /// The span, now that it is known when it ended.
    pub(super) fn until(self, end_ns: u64) -> Span {
        Span { work_ns: end_ns.saturating_sub(self.span.start_ns), ..self.span }
    }
}

impl Lower {
    /// Ends the last span of each thread with its call.
    pub(super) fn end_running(&mut self, open: &mut Open, end_ns: u64) {
        let wire_id = open.topology.as_ref().map_or(0, |t| t.wire_id);
        for batch in &mut open.batches {
            let Some(running) = batch.running.take() else { continue };
            if !running.passes {
                self.spans.filtered += 1;
                continue;
            }
            let span = running.until(end_ns);
            if batch.push(&span, None) {
                continue;
            }
            self.send_batch(batch, open.id, wire_id, open.keep);
            batch.begin_again(span.start_ns, span.cpu);
            if !batch.push(&span, None) {
                self.spans.no_graph += 1;
            }
        }
    }
}
