//! Events per time.

/// Events per second; `None` when no time passed.
pub(crate) fn per_s(events: u64, ns: u64) -> Option<f64> {
    (ns != 0).then(|| events as f64 * 1e9 / ns as f64)
}
