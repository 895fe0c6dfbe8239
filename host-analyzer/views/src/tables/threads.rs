//! One row per thread.

use std::ops::Range;

use super::column::Part;
use super::{Table, maybe_ns, maybe_u64s, ns, strings, u32s, u64s};
use profinfer_analysis::Analysis;
use profinfer_analysis::thread::Thread;
use profinfer_trace::model::Model;

pub(super) struct Threads<'a>(&'a [Thread]);

impl<'a> Threads<'a> {
    pub(super) fn new(_model: &'a Model, analysis: &'a Analysis) -> Self {
        Self(&analysis.thread)
    }
}

impl Table for Threads<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn rows(&self, rows: Range<usize>) -> Part {
        let threads = || self.0[rows.clone()].iter();
        Part::new(
            rows.len(),
            [
                ("tid", u32s(threads().map(|t| t.tid)), false),
                ("pid", u32s(threads().map(|t| t.pid)), false),
                ("name", strings(threads().map(|t| Some(t.name.as_str()))), false),
                ("spans", u64s(threads().map(|t| t.spans)), false),
                ("migrated", maybe_u64s(threads().map(|t| t.migrated)), true),
                ("work_ns", ns(threads().map(|t| t.work_ns)), false),
                ("wait_ns", maybe_ns(threads().map(|t| t.wait_ns)), true),
                ("prefill_work_ns", ns(threads().map(|t| t.prefill_work_ns)), false),
                ("prefill_wait_ns", maybe_ns(threads().map(|t| t.prefill_wait_ns)), true),
                ("decode_work_ns", ns(threads().map(|t| t.decode_work_ns)), false),
                ("decode_wait_ns", maybe_ns(threads().map(|t| t.decode_wait_ns)), true),
                ("batch_decode_work_ns", ns(threads().map(|t| t.batch_decode_work_ns)), false),
                ("batch_decode_wait_ns", maybe_ns(threads().map(|t| t.batch_decode_wait_ns)), true),
            ],
        )
    }
}
