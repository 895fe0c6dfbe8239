//! Sentences on the calls of the token level.

use super::{count, duration};
use profinfer_analysis::steps::ContextShifts;

/// Why there is no table of requests.
pub const REQUESTS_UNKNOWN: &str = "requests: unknown, because neither the batches nor the graphs of the calls show their sequences and positions";

/// How often the engine shifted a context, and what a shift takes.
#[must_use]
pub fn context_shifts(s: &ContextShifts) -> String {
    let each = duration(s.graph_ns / s.shifts.max(1));
    let others = s.other_median_ns.map_or_else(String::new, |ns| format!(", other calls {}", duration(ns)));
    format!(
        "Context shift (keys rotated to new positions): {} {}, {each} each; a call with one takes {}{others}.",
        count(s.shifts),
        if s.shifts == 1 { "time" } else { "times" },
        duration(s.median_ns),
    )
}
