//! Selections of routers: a run has the announced experts, and survives encoding and decoding.

use profinfer_wire::experts::{Cursor, Expert, Run, Runs};

/// First byte: the number of runs. The rest: the runs.
pub fn expert(bytes: &[u8]) {
    let Some((count, rest)) = bytes.split_first() else { return };
    let mut decoder = Runs::new((*count).into(), rest);
    let runs: Vec<Run<'_>> = decoder.by_ref().collect();
    assert_eq!(decoder.failed, runs.len() < usize::from(*count));
    // A number takes at most ten bytes, and each number of the runs took at least one.
    let (mut cursor, mut buffer, mut at) = (Cursor::default(), vec![0; 10 * bytes.len()], 0);
    for run in &runs {
        let experts: Vec<u32> = run.experts().map(|e| e.expert).collect();
        assert_eq!(experts.len(), run.count as usize, "{run:?}");
        at = cursor.encode(run.node, run.n_used, run.first, &experts, &mut buffer, at).expect("room");
    }
    let mut back = Runs::new((*count).into(), &buffer);
    for run in &runs {
        let again = back.next().expect("as many runs");
        assert_eq!((run.node, run.n_used, run.first), (again.node, again.n_used, again.first));
        assert!(run.experts().eq(again.experts()), "other experts");
    }
    let ranks_are_ranks = |run: &Run<'_>| run.experts().all(|Expert { rank, .. }| rank < run.n_used);
    assert!(runs.iter().all(ranks_are_ranks));
}
