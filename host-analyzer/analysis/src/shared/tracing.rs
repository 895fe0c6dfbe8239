//! Tracing: which calls have their operators, and to which burst they belong.
//!
//! Stage: analysis, shared. From: probe switches, `llama_decode` calls, graph calls. To:
//! [`Tracing`]. Promises: without switches every call is [`Traced::Whole`]; a graph call is as
//! traced as the `llama_decode` call around it. Figures of operators cover completely traced calls
//! only. Spans of a call at an edge appear in the timeline and in no figure.

use std::collections::HashMap;

use profinfer_trace::model::{Model, Traced};

/// Which calls have their operators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tracing {
    /// By row of `llama_calls`.
    pub llama_calls: Vec<Traced>,
    /// By row of the graph calls.
    pub graph_calls: Vec<Traced>,
    /// By row of `llama_calls`: the burst of a completely traced call. A burst is the run of such
    /// calls of a process between two that are not completely traced.
    pub bursts: Vec<Option<u32>>,
}

/// Name in data.
#[must_use]
pub const fn name(traced: Traced) -> &'static str {
    match traced {
        Traced::Whole => "whole",
        Traced::Untraced => "untraced",
        Traced::Edge => "edge",
    }
}

impl Tracing {
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let (d, calls) = (&model.llama_calls, &model.graph_calls);
        if model.duty.switches.is_empty() {
            let burst = |i: usize| u32::try_from(i).ok();
            return Self {
                llama_calls: vec![Traced::Whole; d.len()],
                graph_calls: vec![Traced::Whole; calls.len()],
                bursts: vec![burst(0); d.len()],
            };
        }
        let traced = |thread, start: u64, length: u64| {
            model.duty.traced(model.threads.get(thread).pid, start, start.saturating_add(length))
        };
        let llama_calls: Vec<_> =
            (0..d.len()).map(|i| traced(d.thread[i], d.start_ns[i], d.duration_ns[i])).collect();
        let graph_calls = (0..calls.len())
            .map(|i| match calls.decode[i] {
                Some(decode) => llama_calls[decode.0 as usize],
                None => traced(calls.thread[i], calls.start_ns[i], calls.duration_ns[i]),
            })
            .collect();
        let bursts = bursts(model, &llama_calls);
        Self { llama_calls, graph_calls, bursts }
    }

    /// All operators of a graph call were captured.
    #[must_use]
    pub fn whole(&self, graph_call: usize) -> bool {
        self.graph_calls.get(graph_call) == Some(&Traced::Whole)
    }

    /// Some call was not completely traced.
    #[must_use]
    pub fn partial(&self) -> bool {
        self.graph_calls.iter().chain(&self.llama_calls).any(|t| *t != Traced::Whole)
    }
}

/// Numbers the bursts over all processes.
fn bursts(model: &Model, llama_calls: &[Traced]) -> Vec<Option<u32>> {
    let mut open: HashMap<u32, u32> = HashMap::new();
    let mut next = 0;
    let burst = |(thread, traced): (_, &Traced)| {
        let pid = model.threads.get(thread).pid;
        if *traced != Traced::Whole {
            open.remove(&pid);
            return None;
        }
        Some(*open.entry(pid).or_insert_with(|| {
            next += 1;
            next - 1
        }))
    };
    model.llama_calls.thread.iter().copied().zip(llama_calls).map(burst).collect()
}
