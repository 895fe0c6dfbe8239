//! Whether a cost can be distinguished from noise.

use super::Case;
use crate::findings::Verdict;
use crate::findings::evidence::{Evidence, Place, Value};
use crate::stats::mean::Mean;

impl Case<'_> {
    /// Whether a cost per unit may be zero and may also be at least `much` of the unit: its 95 %
    /// interval includes both. Then the verdict is the numbers with their interval, neither found
    /// nor ruled out.
    pub(in crate::findings) fn noisy(&self, cost: Mean, much: f64, evidence: &[Evidence]) -> Option<Verdict> {
        if cost.low() > 0.0 || self.share(cost.high()) < much {
            return None;
        }
        let bound = |key, ns: f64| self.per_unit(key, Value::Nanoseconds(ns as u64), Place::Tokens);
        let bounds = [bound("at_least_ns", cost.low()), bound("at_most_ns", cost.high())];
        Some(Verdict::Noisy(evidence.iter().cloned().chain(bounds).collect()))
    }
}
