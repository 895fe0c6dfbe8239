//! Threads: work, and wait at the barrier.
//!
//! Stage: analysis. From: the spans of completely traced calls, in one pass. To: one [`Thread`] row
//! per thread. Promises: sums over threads equal sums over those spans.

use std::ops::Range;

use crate::shared::execution::{known, waits};
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{Model, Spans};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Thread id of the kernel.
    pub tid: u32,
    /// Its process; 0 when not recorded.
    pub pid: u32,
    pub name: String,
    pub spans: u64,
    /// Spans that began on another CPU than they ended on; `None` where the recording does not have
    /// the CPU of each span.
    pub migrated: Option<u64>,
    /// Work, ns.
    pub work_ns: u64,
    /// Wait at the barrier, where it was recorded, ns. This and the other waits are `None` without
    /// end probes.
    pub wait_ns: Option<u64>,
    /// Work in prefill calls, ns.
    pub prefill_work_ns: u64,
    /// Wait in prefill calls, ns.
    pub prefill_wait_ns: Option<u64>,
    /// Work in decode calls, ns.
    pub decode_work_ns: u64,
    /// Wait in decode calls, ns.
    pub decode_wait_ns: Option<u64>,
    /// Work in calls that continue several sequences, or verify a draft, ns.
    pub batch_decode_work_ns: u64,
    /// Wait in those calls, ns.
    pub batch_decode_wait_ns: Option<u64>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    spans: u64,
    migrated: u64,
    /// Spans without a CPU.
    nowhere: u64,
    /// Work and wait by phase, ns.
    ns: [(u64, u64); Phase::COUNT],
}

impl Sum {
    /// Adds the spans of one thread in one graph call.
    fn add(&mut self, spans: &Spans, rows: Range<usize>, phase: Phase) {
        let (work, wait) = &mut self.ns[phase.index()];
        *work = spans.work_ns[rows.clone()].iter().fold(*work, |sum, ns| sum.saturating_add(*ns));
        *wait = spans.wait_ns[rows.clone()].iter().fold(*wait, |sum, ns| sum.saturating_add(known(*ns)));
        self.spans += rows.len() as u64;
        let count = |n: usize| n as u64;
        self.migrated += count(spans.migrated[rows.clone()].iter().filter(|m| **m).count());
        self.nowhere += count(spans.cpu[rows].iter().filter(|cpu| cpu.is_none()).count());
    }
}

/// All threads, in order of first appearance, including those that only made calls.
#[must_use]
pub fn threads(model: &Model, phases: &Phases) -> Vec<Thread> {
    let spans = &model.spans;
    let mut sums = vec![Sum::default(); model.threads.len()];
    for (call, rows) in spans.by_call().filter(|(call, _)| phases.tracing.whole(call.0 as usize)) {
        for (thread, rows) in spans.by_thread(rows) {
            sums[thread.0 as usize].add(spans, rows, phases.graph_calls[call.0 as usize]);
        }
    }
    model
        .threads
        .iter()
        .zip(sums)
        .map(|((_, t), Sum { spans, migrated, nowhere, ns })| {
            let of = |phase: Phase| ns[phase.index()];
            let (work_ns, wait_ns) =
                ns.iter().fold((0_u64, 0_u64), |s, n| (s.0.saturating_add(n.0), s.1.saturating_add(n.1)));
            Thread {
                tid: t.tid,
                pid: t.pid,
                name: model.texts.get(t.name).to_owned(),
                spans,
                migrated: (nowhere == 0).then_some(migrated),
                work_ns,
                wait_ns: waits(model, wait_ns),
                prefill_work_ns: of(Phase::Prefill).0,
                prefill_wait_ns: waits(model, of(Phase::Prefill).1),
                decode_work_ns: of(Phase::Decode).0,
                decode_wait_ns: waits(model, of(Phase::Decode).1),
                batch_decode_work_ns: of(Phase::BatchDecode).0,
                batch_decode_wait_ns: waits(model, of(Phase::BatchDecode).1),
            }
        })
        .collect()
}
