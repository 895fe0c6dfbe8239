//! `capture`: which operators were captured.

use super::Publish;
use profinfer_analysis::capture;
use profinfer_analysis::duty::Coverage;
use profinfer_schema as schema;

fields! {
    capture::Capture => Capture {
        duty_share, ends, keep_above_per_s, max_slowdown, refused, filters, spans_filtered,
        spans_gated, coverage, switches, steps,
    }
    capture::Refused => RefusedOption { option, why }
    capture::Filter => Filter { on, text, place, refused }
    capture::Switch => Switch { pid, on, reason, began_ns, done_ns, probes, pause_ns }
    capture::Step => DutyStep {
        at_ns, pid, reason, keep_above_per_s, max_slowdown, tokens_per_s, slowdown, low_slowdown,
        high_slowdown, before_share, after_share,
    }
}

impl Publish for capture::PhaseCoverage {
    type Form = schema::Coverage;

    fn publish(&self) -> Self::Form {
        let Self { phase, coverage: Coverage { calls, traced, untraced, edge, bursts } } = *self;
        schema::Coverage { phase: phase.publish(), calls, traced, untraced, edge, bursts }
    }
}
