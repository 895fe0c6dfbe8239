//! Profiles of accelerators' backends: any file is one or not, and what is read of one is counted.

use profinfer_trace::ingest::accelerator::{MOST_KINDS, MOST_ROWS, pair, read};

/// The bytes of one file.
pub fn accelerator(bytes: &[u8]) {
    let Some(profile) = read("fuzzed", bytes) else { return };
    assert!(profile.kinds.len() <= MOST_KINDS && profile.rows.len() <= MOST_ROWS);
    assert!(profile.rows.iter().all(|row| (row.kind as usize) < profile.kinds.len() && row.kernels > 0));
    // A row takes a line, and a line is counted once.
    let lines = profile.lines;
    let rows = u64::try_from(profile.rows.len()).unwrap_or(u64::MAX);
    assert!(lines.other + lines.damaged + lines.left_out <= lines.read && rows <= lines.read);
    assert!(profile.kinds.iter().all(|kind| !kind.text.is_empty()));
    let mut both = vec![profile.clone(), profile];
    pair(&mut both);
    assert!(!both.is_empty());
}
