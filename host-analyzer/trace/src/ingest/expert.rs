//! Selections of the routers: unpacked on arrival, checked against the topology of their graph, and
//! sorted at the end.

use std::collections::{BTreeSet, HashMap};

use profinfer_wire::record::expert::{ExpertBatch, ExpertLoss};

use super::damage::Damages;
use crate::model::expert::{SKIPPED, selections};
use crate::model::totals::Totals;
use crate::model::{DamageKind, ExpertLedger, Experts, GraphCallId, Model, NodeIdx, Selection, TopologyId};

/// The wire's number of a skipped position is that of the table.
const _: () = assert!(SKIPPED == profinfer_wire::experts::SKIPPED);

/// Runs in order of arrival, with their experts in one list.
#[derive(Debug, Default)]
pub(super) struct Selections {
    runs: Vec<Run>,
    experts: Vec<u32>,
    ledger: Option<ExpertLedger>,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    graph: u32,
    node: u32,
    n_used: u32,
    first: u32,
    /// Range of its experts in the list.
    start: usize,
    count: usize,
    offset: u64,
}

/// One expert of one token, in the order of the table.
type Row = (GraphCallId, NodeIdx, u32, u32, u32);

impl Selections {
    pub(super) fn add(&mut self, r: &ExpertBatch<'_>, offset: u64, damages: &mut Damages) {
        let mut runs = r.runs();
        for run in &mut runs {
            let start = self.experts.len();
            self.experts.extend(run.experts().map(|e| e.expert));
            let count = self.experts.len() - start;
            let (graph, node) = (r.graph, run.node);
            self.runs.push(Run { graph, node, n_used: run.n_used, first: run.first, start, count, offset });
        }
        if runs.failed {
            damages.add(DamageKind::Malformed, 1, 0, offset);
        }
    }

    /// Experts so far.
    pub(super) fn len(&self) -> usize {
        self.experts.len()
    }

    pub(super) fn loss(&mut self, r: &ExpertLoss) {
        self.ledger = Some(ExpertLedger::read(&r.fields()));
    }

    /// Fills the table. Experts that contradict the topology of their graph are left out and
    /// counted.
    pub(super) fn finish(self, calls: &HashMap<u32, GraphCallId>, model: &mut Model, damages: &mut Damages) {
        let received = self.experts.len() as u64;
        model.health.experts = self.ledger.map(|l| ExpertLedger { received, ..l });
        if self.runs.is_empty() {
            return;
        }
        let known: Vec<Vec<Selection>> =
            model.topologies.rows.iter().map(|topology| selections(&model.texts, topology)).collect();
        let readers: Vec<HashMap<NodeIdx, &Selection>> = known
            .iter()
            .map(|of| of.iter().flat_map(|c| c.readers.iter().map(move |r| (*r, c))).collect())
            .collect();
        let mut rows: Vec<Row> = Vec::with_capacity(self.experts.len());
        for run in &self.runs {
            let experts = &self.experts[run.start..run.start + run.count];
            let call = calls.get(&run.graph).copied();
            let place = call.and_then(|call| {
                let topology: TopologyId = model.graph_calls.topology[call.0 as usize]?;
                let selection = *readers[topology.0 as usize].get(&NodeIdx(run.node))?;
                (selection.n_used == run.n_used).then_some((call, selection))
            });
            let before = rows.len();
            if let Some((call, selection)) = place {
                // A selection has one place in the table, even if a foreign agent names another of
                // its readers.
                let node = selection.readers[0];
                // In this order no position after the last is computed, because it may overflow.
                let fit = experts.iter().zip(run.first..).map(|(e, p)| (p / run.n_used, p % run.n_used, *e));
                let fit = fit.filter(|(token, _, e)| {
                    *token < selection.n_tokens && (*e < selection.n_expert || *e == SKIPPED)
                });
                rows.extend(fit.map(|(token, rank, expert)| (call, node, token, rank, expert)));
            }
            let left_out = experts.len() - (rows.len() - before);
            if left_out > 0 {
                damages.add(DamageKind::Unresolved, left_out as u64, 0, run.offset);
            }
        }
        model.experts = table(rows, damages);
        model.experts.missing = missing(&model.experts, &known, &model.graph_calls.topology);
    }
}

/// The rows in order. A position that came twice with the same expert is kept once. With different
/// experts it is damage and left out, because the right one is unknown.
fn table(mut rows: Vec<Row>, damages: &mut Damages) -> Experts {
    rows.sort_unstable();
    rows.dedup();
    let mut out = Experts::default();
    for same in rows.chunk_by(|a, b| (a.0, a.1, a.2, a.3) == (b.0, b.1, b.2, b.3)) {
        let (call, node, token, rank, expert) = same[0];
        if same.len() > 1 {
            damages.add(DamageKind::Unresolved, same.len() as u64, 0, 0);
            continue;
        }
        out.graph_call.push(call);
        out.node.push(node);
        out.token.push(token);
        out.rank.push(rank);
        out.expert.push(expert);
    }
    out
}

/// Number of missing positions, in the selections of those graph calls of which at least one
/// position came.
fn missing(experts: &Experts, known: &[Vec<Selection>], topologies: &[Option<TopologyId>]) -> u64 {
    let calls: BTreeSet<GraphCallId> = experts.graph_call.iter().copied().collect();
    let of_call = |call: GraphCallId| {
        let selections = topologies[call.0 as usize].map_or(&[][..], |s| &known[s.0 as usize]);
        selections.iter().fold(0_u64, |sum, c| sum.saturating_add(c.len()))
    };
    let all = calls.into_iter().fold(0_u64, |sum, call| sum.saturating_add(of_call(call)));
    all.saturating_sub(experts.len() as u64)
}
