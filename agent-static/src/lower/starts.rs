//! Starts without ends: a span goes on to its thread's next start in the graph call, the last one to the call's end.

use profinfer_wire::span::Span;

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
