//! Threads that computed captured graphs.

use std::collections::HashMap;

use profinfer_trace::model::ThreadId;

/// Captured graphs before a time whose threads count, and as many after it: those of a prompt may be others than
/// those of a token. Engines without OpenMP may start new threads for each graph, which end with it.
const RECENT: usize = 2;

/// The threads of captured graphs, by process.
#[derive(Debug, Default)]
pub(super) struct Teams(HashMap<u32, Vec<Team>>);

#[derive(Debug)]
struct Team {
    /// Start of the first of the graphs that these threads computed one after the other, ns.
    start: u64,
    /// Sorted.
    threads: Vec<ThreadId>,
}

impl Teams {
    /// Adds a graph of process `pid` that starts at `start`.
    pub(super) fn add(&mut self, pid: u32, start: u64, threads: impl Iterator<Item = ThreadId>) {
        let mut threads: Vec<ThreadId> = threads.collect();
        threads.sort_unstable();
        let teams = self.0.entry(pid).or_default();
        // Calls of several contexts overlap.
        let at = teams.partition_point(|team| team.start <= start);
        let before = at.checked_sub(1).map(|before| &teams[before]);
        if before.is_none_or(|before| before.threads != threads) {
            teams.insert(at, Team { start, threads });
        }
    }

    /// The threads of the graphs of a process around a time, ns, in order; none if none was captured.
    pub(super) fn around(&self, pid: u32, at: u64) -> Vec<ThreadId> {
        let teams = self.0.get(&pid).map_or(&[][..], Vec::as_slice);
        let next = teams.partition_point(|team| team.start <= at);
        let recent = &teams[next.saturating_sub(RECENT)..teams.len().min(next + RECENT)];
        let mut threads: Vec<ThreadId> = recent.iter().flat_map(|team| &team.threads).copied().collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_graphs_that_ended_long_ago_are_not_in_the_team() {
        let mut teams = Teams::default();
        let threads = |ids: &[u32]| ids.iter().copied().map(ThreadId).collect::<Vec<_>>();
        for i in 0..100 {
            teams.add(7, u64::from(i) * 10, threads(&[1_000 + i, 0]).into_iter());
        }
        assert_eq!(teams.around(7, 505), threads(&[0, 1_049, 1_050, 1_051, 1_052]));
        assert_eq!(teams.around(7, 5_000), threads(&[0, 1_098, 1_099]));
        assert!(teams.around(8, 505).is_empty());
    }

    #[test]
    fn threads_that_stay_are_one_team() {
        let mut teams = Teams::default();
        let threads = |ids: &[u32]| ids.iter().copied().map(ThreadId).collect::<Vec<_>>();
        (0..100).for_each(|i| teams.add(7, i * 10, threads(&[1, 0]).into_iter()));
        teams.add(7, 2_000, threads(&[0, 2]).into_iter());
        assert_eq!(teams.0[&7].len(), 2);
        assert_eq!(teams.around(7, 5_000), threads(&[0, 1, 2]));
    }
}
