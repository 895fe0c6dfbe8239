//! Counter values per operator, for the counters that show what a core waited for.

use std::collections::HashMap;

use crate::results::op::Op;
use crate::shared::group::Groups;
use crate::shared::phase::Phases;
use crate::shared::tally::{Computed, Tallies};
use profinfer_trace::model::Model;

/// Bytes of a cache line that a refill loads: 64 on every Cortex-A of the profiles, and on x86-64.
const LINE: u64 = 64;

/// Sums over the spans that counted both halves of a ratio; `None` where none did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counted {
    /// Share of the cycles in which the backend stalled, 0 to 1.
    pub backend_stalls: Option<f64>,
    /// Instructions per cycle.
    pub ipc: Option<f64>,
    /// Bytes loaded from memory, scaled to the operator's work where only some of its spans were
    /// counted.
    pub refill_bytes: Option<u64>,
    /// Page faults that read from a disk.
    pub major_faults: Option<u64>,
}

/// Columns of the relevant counters.
struct Columns {
    cycles: Option<usize>,
    stalls: Option<usize>,
    instructions: Option<usize>,
    refills: Option<usize>,
    faults: Option<usize>,
}

impl Columns {
    fn compute(model: &Model) -> Self {
        let column = |names: &[&str]| {
            names.iter().find_map(|name| model.spans.counts.names.iter().position(|n| n == name))
        };
        Self {
            cycles: column(&["CPU_CYCLES"]),
            stalls: column(&["STALL_BACKEND"]),
            instructions: column(&["INST_RETIRED"]),
            refills: column(&["LL_CACHE_MISS_RD", "L3D_CACHE_REFILL"]),
            faults: column(&["major-faults"]),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Sum {
    stalls: (u64, u64),
    instructions: (u64, u64),
    /// Refills and the work of the spans that counted them, ns.
    refills: (u64, u64),
    faults: Option<u64>,
    work_ns: u64,
}

impl Counted {
    /// By row of [`Op::operators`]; empty when nothing was counted.
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases, op: &Op, groups: &Groups, tallies: &Tallies) -> Vec<Self> {
        let (spans, counts) = (&model.spans, &model.spans.counts);
        if counts.is_empty() {
            return Vec::new();
        }
        let columns = Columns::compute(model);
        let firsts: HashMap<_, usize> = tallies
            .computed
            .iter()
            .map(|c: &Computed| ((c.group, c.topology), c.cell_range().start))
            .collect();
        let mut sums = vec![Sum::default(); op.operators.len()];
        for i in 0..spans.len() {
            let call = spans.graph_call[i].0 as usize;
            if !phases.tracing.whole(call) {
                continue;
            }
            let Some(key) = groups.of_call[call].zip(model.graph_calls.topology[call]) else { continue };
            let Some(first) = firsts.get(&key) else { continue };
            let row = op.operator_of_cell.get(first + spans.node[i].0 as usize);
            let Some(sum) = row.and_then(|row| sums.get_mut(*row as usize)) else { continue };
            let value = |column: Option<usize>| counts.value(column?, i);
            let pair = |sum: &mut (u64, u64), a: Option<u64>, b: Option<u64>| {
                if let (Some(a), Some(b)) = (a, b) {
                    *sum = (sum.0.saturating_add(a), sum.1.saturating_add(b));
                }
            };
            pair(&mut sum.stalls, value(columns.stalls), value(columns.cycles));
            pair(&mut sum.instructions, value(columns.instructions), value(columns.cycles));
            pair(&mut sum.refills, value(columns.refills), Some(spans.work_ns[i]));
            sum.work_ns = sum.work_ns.saturating_add(spans.work_ns[i]);
            if let Some(faults) = value(columns.faults) {
                sum.faults = Some(sum.faults.unwrap_or(0).saturating_add(faults));
            }
        }
        sums.iter().map(Self::from).collect()
    }
}

impl From<&Sum> for Counted {
    fn from(sum: &Sum) -> Self {
        let ratio = |(a, b): (u64, u64)| (b > 0).then(|| a as f64 / b as f64);
        let (refills, counted_ns) = sum.refills;
        let scaled =
            u128::from(refills) * u128::from(LINE) * u128::from(sum.work_ns) / u128::from(counted_ns.max(1));
        Self {
            backend_stalls: ratio(sum.stalls),
            ipc: ratio(sum.instructions),
            refill_bytes: (counted_ns > 0).then(|| u64::try_from(scaled).unwrap_or(u64::MAX)),
            major_faults: sum.faults,
        }
    }
}
