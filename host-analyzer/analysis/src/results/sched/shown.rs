//! Activity of some threads in a time window, limited to what a page can hold.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::pieces::{Piece, pieces};
use profinfer_trace::model::{Model, ThreadId, ThreadState};

/// Largest number of stretches on the page, over all threads.
pub const MAX_SHOWN: usize = 6_000;

/// Stretches of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// For each requested thread, the stretches that overlap the window, by start.
    pub threads: Vec<Vec<Piece>>,
    /// Number of stretches beyond the limit.
    pub left_out: usize,
    /// The longest of those, ns.
    pub left_out_longest_ns: u64,
}

impl Shown {
    /// What `threads` did from `from` to `to`. If there are more than `most` stretches, preempted
    /// ones are kept first, then the longest: those explain the most time.
    #[must_use]
    pub fn compute(model: &Model, threads: &[ThreadId], from: u64, to: u64, most: usize) -> Self {
        let rows: HashMap<ThreadId, usize> = threads.iter().zip(0..).map(|(t, row)| (*t, row)).collect();
        let inside = |p: &Piece| p.start_ns < to && p.end_ns > from;
        let mut found: Vec<(usize, Piece)> =
            pieces(model).filter(inside).filter_map(|p| Some((*rows.get(&p.thread)?, p))).collect();
        let length = |p: &Piece| p.end_ns - p.start_ns;
        let mut rest = Vec::new();
        if found.len() > most {
            found.sort_by_key(|(_, p)| Reverse((p.state == ThreadState::Preempted, length(p))));
            rest = found.split_off(most);
        }
        let mut shown = Self {
            threads: vec![Vec::new(); threads.len()],
            left_out: rest.len(),
            left_out_longest_ns: rest.iter().map(|(_, p)| length(p)).max().unwrap_or(0),
        };
        for (row, piece) in found {
            shown.threads[row].push(piece);
        }
        shown.threads.iter_mut().for_each(|row| row.sort_by_key(|p| p.start_ns));
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread with stretches of these states and lengths, consecutive from 0.
    fn model(stretches: &[(ThreadState, u64)]) -> (Model, ThreadId) {
        let mut m = Model::default();
        let thread = m.threads.find_or_add(7);
        let mut at = 0;
        for (state, length) in stretches {
            let s = &mut m.sched.states;
            s.thread.push(thread);
            s.start_ns.push(at);
            s.duration_ns.push(*length);
            s.state.push(*state);
            s.cpu.push(0);
            at += length;
        }
        (m, thread)
    }

    #[test]
    fn what_touches_the_window_is_shown_whole() {
        use ThreadState::{Running, Sleeping};
        let (m, thread) = model(&[(Running, 100), (Sleeping, 100), (Running, 100), (Sleeping, 100)]);
        let shown = Shown::compute(&m, &[thread], 100, 250, 9);
        let bounds: Vec<_> = shown.threads[0].iter().map(|p| (p.start_ns, p.end_ns)).collect();
        assert_eq!((bounds, shown.left_out), (vec![(100, 200), (200, 300)], 0));
    }

    #[test]
    fn of_too_many_the_preempted_and_the_longest_stay() {
        use ThreadState::{Preempted, Running, Sleeping};
        let (m, thread) =
            model(&[(Running, 50), (Preempted, 1), (Sleeping, 40), (Running, 30), (Sleeping, 60)]);
        let shown = Shown::compute(&m, &[thread], 0, 1_000, 3);
        let states: Vec<_> = shown.threads[0].iter().map(|p| (p.state, p.end_ns - p.start_ns)).collect();
        assert_eq!(states, [(Running, 50), (Preempted, 1), (Sleeping, 60)]);
        assert_eq!((shown.left_out, shown.left_out_longest_ns), (2, 40));
    }

    #[test]
    fn other_threads_are_not_shown() {
        let (m, _) = model(&[(ThreadState::Running, 50)]);
        assert_eq!(Shown::compute(&m, &[ThreadId(5)], 0, 100, 9).threads, [vec![]]);
    }
}
