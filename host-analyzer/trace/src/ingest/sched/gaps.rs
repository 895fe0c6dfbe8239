//! Times with unknown events.

/// Collects them.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    reported: Vec<(u64, u64)>,
    batches: Vec<Batch>,
}

/// Number, times of the first and the last event, and whether all of it could be read.
type Batch = (u32, Option<(u64, u64)>, bool);

impl Gaps {
    /// Adds a gap that the agent reported.
    pub(super) fn add(&mut self, from_ns: u64, to_ns: u64) {
        self.reported.push((from_ns, to_ns));
    }

    pub(super) fn batch(&mut self, seq: u32, first_ns: Option<u64>, last_ns: Option<u64>, complete: bool) {
        self.batches.push((seq, first_ns.zip(last_ns), complete));
    }

    /// All gaps in order, merged where they touch.
    pub(super) fn finish(mut self) -> Vec<(u64, u64)> {
        self.batches.sort_by_key(|b| b.0);
        let (mut next, mut complete, mut last_ns) = (0, true, 0);
        for (seq, times, this_complete) in self.batches {
            // A batch of gaps alone has no times.
            let Some((first_ns, to_ns)) = times else {
                (next, complete) = (seq.wrapping_add(1), complete && this_complete && seq == next);
                continue;
            };
            if seq != next || !complete {
                self.reported.push((last_ns.min(first_ns), first_ns));
            }
            (next, complete, last_ns) = (seq.wrapping_add(1), this_complete, to_ns.max(last_ns));
        }
        if !complete {
            self.reported.push((last_ns, u64::MAX));
        }
        self.reported.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (from, to) in self.reported {
            match joined.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        joined
    }
}

/// The known part of an interval: everything before the first gap in it. Nothing is known of an
/// interval that begins in a gap.
pub(super) fn known(gaps: &[(u64, u64)], start_ns: u64, end_ns: u64) -> Option<(u64, u64)> {
    let first = gaps.partition_point(|(_, to)| *to <= start_ns);
    let end_ns = match gaps.get(first) {
        Some((from, _)) if *from <= start_ns => return None,
        Some((from, _)) => end_ns.min(*from),
        None => end_ns,
    };
    (end_ns > start_ns).then_some((start_ns, end_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_batch_is_a_gap_between_its_neighbours() {
        let mut gaps = Gaps::default();
        gaps.batch(3, Some(900), Some(950), true);
        gaps.batch(0, Some(100), Some(200), true);
        gaps.batch(1, Some(210), Some(300), true);
        gaps.add(250, 260);
        gaps.add(255, 280);
        assert_eq!(gaps.finish(), [(250, 280), (300, 900)]);
        let mut gaps = Gaps::default();
        gaps.batch(0, Some(100), Some(200), false);
        gaps.batch(1, Some(300), Some(400), false);
        assert_eq!(gaps.finish(), [(200, 300), (400, u64::MAX)]);
    }

    #[test]
    fn stretches_end_at_gaps_and_do_not_begin_in_them() {
        let gaps = [(10, 20), (30, 40)];
        assert_eq!(known(&gaps, 5, 50), Some((5, 10)));
        assert_eq!((known(&gaps, 10, 50), known(&gaps, 15, 18)), (None, None));
        assert_eq!(known(&gaps, 20, 25), Some((20, 25)));
        assert_eq!(known(&gaps, 40, 50), Some((40, 50)));
        assert_eq!(known(&gaps, 7, 7), None);
    }
}
