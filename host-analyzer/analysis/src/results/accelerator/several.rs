//! Rows of several recordings: the same shape on the backends of all.
//!
//! A recording on the CPU and one on an accelerator are two runs. A shape is the same in both if
//! operator, types and dimensions are equal.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Accelerators, OnBackend, Shape};

/// Operators of one shape in all recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct SeveralRow {
    /// The shape, or all shapes that the kernels match.
    pub shapes: Vec<Shape>,
    /// Backends that computed it, by recording, then longest first.
    pub backends: Vec<InRecording>,
}

/// One backend of one recording.
#[derive(Debug, Clone, PartialEq)]
pub struct InRecording {
    /// Position of the recording.
    pub recording: usize,
    pub on: OnBackend,
}

/// Merges the rows of several recordings: first rows with times of several backends or recordings,
/// then the longest.
#[must_use]
pub fn several(recordings: &[Accelerators]) -> Vec<SeveralRow> {
    let mut found: BTreeMap<&[Shape], Vec<InRecording>> = BTreeMap::new();
    for (recording, of) in recordings.iter().enumerate() {
        for row in &of.rows {
            let timed = row.backends.iter().filter(|b| b.timed());
            let rows = timed.map(|on| InRecording { recording, on: on.clone() });
            found.entry(&row.shapes).or_default().extend(rows);
        }
    }
    let rows = found.into_iter().filter(|(_, backends)| !backends.is_empty());
    let mut rows: Vec<_> =
        rows.map(|(shapes, backends)| SeveralRow { shapes: shapes.to_vec(), backends }).collect();
    let longest = |r: &SeveralRow| r.backends.iter().map(|b| b.on.longest()).max();
    rows.sort_by_key(|r| (Reverse(r.backends.len() > 1), Reverse(longest(r))));
    rows
}
