//! The settings that `analyze tune --run` measures.

use super::{Diagnostic, Result};
use crate::args::cpu_set::CpuSet;
use profinfer_analysis::tune::Prediction;
use profinfer_views::words;

/// Maximum number of settings in a series.
pub(super) const MOST: usize = 100;

/// A setting to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Thread count of the engine.
    pub(super) threads: u32,
    /// CPUs that the engine is bound to.
    pub(super) cpus: CpuSet,
}

impl Candidate {
    /// Name of the setting and of its folder: `t4@4-7`.
    pub(super) fn name(&self) -> String {
        match self.list() {
            Some(list) => format!("t{}@{list}", self.threads),
            None => format!("t{}", self.threads),
        }
    }

    /// The CPUs as a list.
    pub(super) fn list(&self) -> Option<String> {
        match &self.cpus {
            CpuSet::All => None,
            CpuSet::Some(cpus) => Some(words::tune::cpus(cpus)),
        }
    }
}

/// The settings that a recording makes plausible. If there is only one, adds the recorded setting
/// or the next best.
pub(super) fn plausible(prediction: &Prediction) -> Result<Vec<Candidate>> {
    let settings = &prediction.settings;
    let mut chosen: Vec<usize> = (0..settings.len()).filter(|i| settings[*i].plausible).collect();
    if chosen.len() < 2 {
        let other = |i: &usize| !chosen.contains(i);
        let next = (0..settings.len())
            .filter(other)
            .min_by(|a, b| settings[*a].low_ns.total_cmp(&settings[*b].low_ns));
        let recorded = (0..settings.len()).filter(other).find(|i| settings[*i].recorded);
        chosen.extend(recorded.or(next));
    }
    let of = |i: usize| Candidate { threads: settings[i].threads, cpus: CpuSet::new(&settings[i].cpus) };
    enough(chosen.into_iter().map(of).collect())
}

/// All thread counts on all CPU sets that have enough CPUs.
pub(super) fn every(threads: &[u32], sets: &[CpuSet]) -> Result<Vec<Candidate>> {
    let unbound = [CpuSet::All];
    let sets = if sets.is_empty() { &unbound[..] } else { sets };
    let mut all = Vec::new();
    for cpus in sets {
        for threads in threads.iter().filter(|n| **n <= cpus.holds()) {
            let candidate = Candidate { threads: *threads, cpus: cpus.clone() };
            if !all.contains(&candidate) {
                all.push(candidate);
            }
        }
    }
    enough(all)
}

fn enough(candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
    if (2..=MOST).contains(&candidates.len()) {
        return Ok(candidates);
    }
    Err(Diagnostic::new(
        "choosing settings to measure",
        format!("{} settings match", candidates.len()),
        format!("give thread counts (--threads) and CPU sets (--cpus) that make 2 to {MOST} settings"),
    ))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn sets_are_tried_with_the_threads_that_they_hold() {
        let sets: Vec<CpuSet> = ["0", "4-6", "all"].iter().map(|s| s.parse().unwrap()).collect();
        let names: Vec<String> = every(&[1, 2, 4, 1], &sets).unwrap().iter().map(Candidate::name).collect();
        assert_eq!(names, ["t1@0", "t1@4-6", "t2@4-6", "t1", "t2", "t4"]);
        assert!(every(&[2], &sets[..1]).unwrap_err().to_string().contains("0 settings match"));
        assert_eq!(every(&[1, 2], &[]).unwrap().len(), 2);
    }
}
