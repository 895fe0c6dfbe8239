//! Tracing: which token calls have their operators, and in which bursts they came.
//!
//! Stage: analysis, shared by the others. From: switches of probes, token calls, graph calls. To: [`Tracing`]. Promises: without
//! switches every call is [`Traced::Whole`]; a graph call in a token call is as that. Figures of operators are of whole calls only;
//! what an edge left of others is in the timeline and in no figure.

use std::collections::HashMap;

use profinfer_trace::model::{Model, Traced};

/// What is known of the operators of every call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tracing {
    /// By row of the token calls.
    pub llama_calls: Vec<Traced>,
    /// By row of the graph calls.
    pub graph_calls: Vec<Traced>,
    /// By row of the token calls: the burst, for those that are whole. The token calls of a process from one that is not whole to
    /// the next.
    pub bursts: Vec<Option<u32>>,
}

/// The name of what is known of a call, in data.
#[must_use]
pub const fn name(traced: Traced) -> &'static str {
    match traced {
        Traced::Whole => "whole",
        Traced::Untraced => "untraced",
        Traced::Edge => "edge",
    }
}

impl Tracing {
    /// What is known in a session.
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
        let told = |thread, start: u64, length: u64| {
            model.duty.traced(model.threads.get(thread).pid, start, start.saturating_add(length))
        };
        let llama_calls: Vec<_> =
            (0..d.len()).map(|i| told(d.thread[i], d.start_ns[i], d.duration_ns[i])).collect();
        let graph_calls = (0..calls.len())
            .map(|i| match calls.decode[i] {
                Some(decode) => llama_calls[decode.0 as usize],
                None => told(calls.thread[i], calls.start_ns[i], calls.duration_ns[i]),
            })
            .collect();
        let bursts = bursts(model, &llama_calls);
        Self { llama_calls, graph_calls, bursts }
    }

    /// The operators of a graph call were captured whole.
    #[must_use]
    pub fn whole(&self, graph_call: usize) -> bool {
        self.graph_calls.get(graph_call) == Some(&Traced::Whole)
    }

    /// Some call was not captured whole.
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
