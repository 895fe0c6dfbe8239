//! Confidence intervals by operator type, where only some of the tokens were traced.

use std::collections::BTreeMap;

use crate::results::op::{Op, type_of_operator};
use crate::shared::execution::Executions;
use crate::shared::phase::{Phase, Phases};
use crate::shared::tally::Tallies;
use crate::stats::estimate::{Estimate, ratio};
use profinfer_trace::model::Model;

/// Estimates for all tokens of the phase from the traced ones, for one operator type. Each is a
/// ratio; nothing is extrapolated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TypeEstimate {
    /// Wall time per traced `llama_decode` call, ns.
    pub wall_per_call: Option<Estimate>,
    /// Wall time per execution, ns.
    pub wall_per_execution: Option<Estimate>,
    /// Share of the phase's operator wall time on its backend, 0 to 1.
    pub share: Option<Estimate>,
}

/// Executions and wall time.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    executions: f64,
    wall_ns: f64,
}

/// By row of [`Op::types`]. Empty where every call was traced, because then nothing needs an
/// estimate. Graph calls outside of `llama_decode` calls are in no burst, so their phase has no
/// estimates.
#[must_use]
pub fn types(
    model: &Model,
    phases: &Phases,
    op: &Op,
    executions: &Executions,
    tallies: &Tallies,
) -> Vec<TypeEstimate> {
    if !phases.tracing.partial() {
        return Vec::new();
    }
    let bursts = calls_of_bursts(model, phases);
    let of_type = type_of_operator(&op.types, &op.operators);
    let mut sums: Vec<BTreeMap<u32, Sum>> = vec![BTreeMap::new(); op.types.len()];
    for (call, rows) in executions.by_call() {
        let decode = model.graph_calls.decode[call.0 as usize];
        let Some(burst) = decode.and_then(|d| phases.tracing.bursts[d.0 as usize]) else { continue };
        for e in rows {
            let operator = op.operator_of_cell.get(tallies.cell_of_execution[e] as usize);
            let kind = operator.and_then(|row| of_type.get(*row as usize).copied().flatten());
            if let Some(kind) = kind {
                let sum = sums[kind].entry(burst).or_default();
                sum.executions += 1.0;
                sum.wall_ns += executions.wall_ns[e] as f64;
            }
        }
    }
    (0..op.types.len())
        .map(|kind| estimate(op, model.capture.nodes_left_out(), &sums, &bursts, kind))
        .collect()
}

fn estimate(
    op: &Op,
    left_out: bool,
    sums: &[BTreeMap<u32, Sum>],
    bursts: &BTreeMap<(Phase, u32), f64>,
    kind: usize,
) -> TypeEstimate {
    let this = &op.types[kind];
    let same = |t: &usize| (op.types[*t].phase, &op.types[*t].backend) == (this.phase, &this.backend);
    let all: Vec<usize> = (0..sums.len()).filter(same).collect();
    let in_burst = |t: usize, burst: u32| sums[t].get(&burst).copied().unwrap_or_default();
    let of_phase =
        || bursts.iter().filter(|((phase, _), _)| *phase == this.phase).map(|((_, b), n)| (*b, *n));
    let clusters = |of: &dyn Fn(u32, f64) -> (f64, f64)| {
        ratio(&of_phase().map(|(burst, calls)| of(burst, calls)).collect::<Vec<_>>())
    };
    TypeEstimate {
        wall_per_call: clusters(&|burst, calls| (in_burst(kind, burst).wall_ns, calls)),
        wall_per_execution: clusters(&|burst, _| {
            let sum = in_burst(kind, burst);
            (sum.wall_ns, sum.executions)
        }),
        // Nothing is known about operators that a filter excluded, so there is no total.
        share: (!left_out)
            .then(|| {
                clusters(&|burst, _| {
                    let whole = all.iter().map(|t| in_burst(*t, burst).wall_ns).sum();
                    (in_burst(kind, burst).wall_ns, whole)
                })
            })
            .flatten(),
    }
}

/// Successful calls of each phase, by burst.
fn calls_of_bursts(model: &Model, phases: &Phases) -> BTreeMap<(Phase, u32), f64> {
    let mut calls: BTreeMap<(Phase, u32), f64> = BTreeMap::new();
    for (i, phase) in phases.llama_calls.iter().enumerate().filter(|(i, _)| model.llama_calls.status[*i] == 0)
    {
        if let Some(burst) = phases.tracing.bursts[i] {
            *calls.entry((*phase, burst)).or_default() += 1.0;
        }
    }
    calls
}
