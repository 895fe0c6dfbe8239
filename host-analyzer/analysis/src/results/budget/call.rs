//! The spans of each graph call, and their layout.

use std::ops::Range;

use crate::shared::steps::Steps;
use profinfer_trace::model::{Model, Spans, ThreadId};

/// The spans of one graph call.
#[derive(Debug, Clone, Default)]
pub(super) struct CallRows {
    pub(super) rows: Range<usize>,
    /// Set if its threads are in step, each began a node after the barrier before it had opened,
    /// within the time of the call, and all waits are known. Set while habits are learnt.
    pub(super) steps: Option<Steps>,
}

impl CallRows {
    /// The spans of all graph calls; empty for a call without spans.
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
