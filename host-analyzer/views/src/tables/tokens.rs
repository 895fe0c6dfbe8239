//! One row per decode call.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::Int32Array;

use super::column::{Column, Part};
use super::{Table, maybe_ns, maybe_u32s, ns, strings, u32s};
use profinfer_analysis::Analysis;
use profinfer_analysis::token::Call;
use profinfer_analysis::tracing;
use profinfer_trace::model::Model;

pub(super) struct Tokens<'a>(&'a [Call]);

impl<'a> Tokens<'a> {
    pub(super) fn new(_model: &'a Model, analysis: &'a Analysis) -> Self {
        Self(&analysis.token.calls)
    }
}

impl Table for Tokens<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn rows(&self, rows: Range<usize>) -> Part {
        let calls = || self.0[rows.clone()].iter();
        let status = Column::Each(Arc::new(Int32Array::from_iter_values(calls().map(|c| c.status))));
        Part::new(
            rows.len(),
            [
                ("id", u32s(calls().map(|c| c.id)), false),
                ("phase", strings(calls().map(|c| Some(c.phase.name()))), false),
                ("function", strings(calls().map(|c| Some(c.function))), false),
                ("context", strings(calls().map(|c| c.context.as_deref())), true),
                ("thread", u32s(calls().map(|c| c.thread)), false),
                ("start_ns", ns(calls().map(|c| c.start_ns)), false),
                ("duration_ns", ns(calls().map(|c| c.duration_ns)), false),
                ("n_tokens", maybe_u32s(calls().map(|c| c.n_tokens)), true),
                ("n_past", maybe_u32s(calls().map(|c| c.n_past)), true),
                ("n_kv", maybe_ns(calls().map(|c| c.n_kv)), true),
                ("graph_ns", maybe_ns(calls().map(|c| c.graph_ns)), true),
                ("op_wall_ns", maybe_ns(calls().map(|c| c.op_wall_ns)), true),
                ("status", status, false),
                ("traced", strings(calls().map(|c| Some(tracing::name(c.traced)))), false),
            ],
        )
    }
}
