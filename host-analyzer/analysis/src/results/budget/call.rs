//! The spans of each graph call, and how they lie.

use std::ops::Range;

use crate::shared::steps::Steps;
use profinfer_trace::model::{Model, Spans, ThreadId};

/// The spans of one graph call.
#[derive(Debug, Clone, Default)]
pub(super) struct CallRows {
    pub(super) rows: Range<usize>,
    /// Its threads are in step, each began a node after the barrier before it had opened, inside of the call's time, and all waits are
    /// known. Found out when habits are learnt.
    pub(super) steps: Option<Steps>,
}

impl CallRows {
    /// The spans of all graph calls; none of one without.
    pub(super) fn of_all(model: &Model) -> Vec<Self> {
        let mut calls = vec![Self::default(); model.graph_calls.len()];
        for (call, rows) in model.spans.by_call() {
            calls[call.0 as usize].rows = rows;
        }
        calls
    }

    /// The threads that computed it, in order.
    pub(super) fn threads(&self, spans: &Spans) -> Vec<ThreadId> {
        match self.steps {
            Some(steps) => steps.threads(spans).collect(),
            None => spans.by_thread(self.rows.clone()).map(|(thread, _)| thread).collect(),
        }
    }
}
