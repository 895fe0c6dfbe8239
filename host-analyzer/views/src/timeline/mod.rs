//! What the timeline files have in common: processes, texts of slices, metadata.
//!
//! Stage: view, shared by [`super::chrome`] and [`super::perfetto`]. From: the `track` analysis and the model.
//! Promises: both files say the same of the same slice.

pub(super) mod buffer;
pub(super) mod gauge;
pub(super) mod label;
pub(super) mod metadata;
pub(super) mod probes;
pub(super) mod process;
pub(super) mod state;
