//! Replaces `direct.rs` in an agent that was built without the feature `direct`: there are no
//! direct probes.

use super::Lower;
use crate::direct::{Reader, Totals};
use crate::link::output::Weight;

/// Numbers that are added to the kernel's totals: zeros.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Added {
    pub(super) totals: Totals,
    pub(super) edge: u64,
    pub(super) unknown: u64,
    pub(super) gated: u64,
    pub(super) gated_ends: u64,
}

impl Lower {
    pub const fn add_direct(&mut self, reader: Reader) {
        match reader {}
    }

    pub(super) const fn direct_begun(&mut self, _pid: u32, _first_ns: u64, _skipped: bool) {}

    pub(super) const fn direct_ends(&mut self, _pid: u32, _start_ns: u64, _end_ns: u64) {}

    pub const fn drain_direct(&mut self) {}

    pub(super) fn direct_added(&self) -> Added {
        Added::default()
    }

    pub const fn emit_direct_loss(&mut self, _at_ns: u64, _weight: Weight) {}
}
