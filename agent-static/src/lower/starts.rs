//! Capture without end probes: a span lasts until its thread's next start in the graph call, the
//! last one until the end of the call.

use profinfer_wire::span::Span;

/// A span that has started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    pub(super) span: Span,
    /// Filters keep it.
    pub(super) passes: bool,
}

impl Running {
    /// The span with its end.
    pub(super) fn until(self, end_ns: u64) -> Span {
        Span { work_ns: end_ns.saturating_sub(self.span.start_ns), ..self.span }
    }
}
