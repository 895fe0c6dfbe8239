//! Counters: sums by operator type and core type.
//!
//! Stage: analysis. From: the spans with their counts, in one pass. To: [`Counted`] rows. Promises:
//! a sum covers the counted spans of completely traced calls, and the row has their number; it is
//! never extrapolated to the other spans. A row never mixes core types.

use std::collections::HashMap;

use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{Absence, Counter, Model, Text};

/// One operator type in one phase on one core type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    pub phase: Phase,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// Description by the engine.
    pub desc: String,
    /// PMU that counted; empty where the CPU has no hardware counters in this session.
    pub pmu: String,
    pub spans: u64,
    /// Work of these spans, ns.
    pub work_ns: u64,
    /// How often the threads lost the CPU during these spans.
    pub switches: u64,
    /// Spans without hardware counters, by reason.
    pub absent: Absent,
    /// Sums, in the order of the counters.
    pub values: Vec<Value>,
}

/// The sum of one counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub name: String,
    /// Sum over the counted spans.
    pub sum: u64,
    /// Number of counted spans.
    pub spans: u64,
    /// Work of the counted spans, ns.
    pub work_ns: u64,
}

/// Spans without hardware counters, by reason; one span may have several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Absent([u64; Absence::ALL.len()]);

impl Absent {
    /// Counts the spans in `why`, each with bits of [`Absence`].
    #[must_use]
    pub fn new(why: &[u8]) -> Self {
        let mut absent = Self::default();
        why.iter().for_each(|bits| absent.add(*bits));
        absent
    }

    fn add(&mut self, bits: u8) {
        // Nearly always nothing is missing.
        if bits != 0 {
            for (n, reason) in self.0.iter_mut().zip(Absence::ALL) {
                *n += u64::from(bits & reason.bit() != 0);
            }
        }
    }

    /// Number of spans for each reason.
    pub fn iter(&self) -> impl Iterator<Item = (Absence, u64)> + '_ {
        Absence::ALL.into_iter().zip(self.0)
    }

    /// Number of spans for one reason.
    #[must_use]
    pub const fn spans(&self, reason: Absence) -> u64 {
        self.0[reason as usize]
    }
}

#[derive(Clone, Default)]
struct Sum {
    spans: u64,
    work_ns: u64,
    switches: u64,
    absent: Absent,
    /// Sum, spans and work (ns) by column.
    values: Vec<(u64, u64, u64)>,
}

/// All rows; within a phase, the longest work first. Empty when nothing was counted.
#[must_use]
pub fn counted(model: &Model, phases: &Phases) -> Vec<Counted> {
    let (spans, counts) = (&model.spans, &model.spans.counts);
    if counts.is_empty() {
        return Vec::new();
    }
    let pmus = Pmus::new(&model.session.counters);
    let mut sums: HashMap<(Phase, Text, Text, usize), Sum> = HashMap::new();
    for i in 0..spans.len() {
        let call = spans.graph_call[i].0 as usize;
        // The model promises that a span's graph call has a topology.
        let Some(topology) = model.graph_calls.topology[call] else { continue };
        if !phases.tracing.whole(call) {
            continue;
        }
        let node = model.topologies.get(topology).node(spans.node[i]);
        let key = (phases.graph_calls[call], node.op, node.desc, pmus.of_cpu(spans.cpu[i]));
        let sum = sums
            .entry(key)
            .or_insert_with(|| Sum { values: vec![(0, 0, 0); counts.names.len()], ..Sum::default() });
        sum.spans += 1;
        sum.work_ns = sum.work_ns.saturating_add(spans.work_ns[i]);
        sum.switches += u64::from(counts.switches[i]);
        sum.absent.add(counts.why[i]);
        for (column, (value, n, work_ns)) in sum.values.iter_mut().enumerate() {
            if let Some(v) = counts.value(column, i) {
                *value = value.saturating_add(v);
                *n += 1;
                *work_ns = work_ns.saturating_add(spans.work_ns[i]);
            }
        }
    }
    let text = |t: Text| model.texts.get(t).to_owned();
    let mut rows: Vec<Counted> = sums
        .into_iter()
        .map(|((phase, op, desc, pmu), sum)| Counted {
            phase,
            op: text(op),
            desc: text(desc),
            pmu: pmus.names[pmu].clone(),
            spans: sum.spans,
            work_ns: sum.work_ns,
            switches: sum.switches,
            absent: sum.absent,
            values: (counts.names.iter().zip(sum.values))
                .filter(|(_, (_, spans, _))| *spans > 0)
                .map(|(name, (sum, spans, work_ns))| Value { name: name.clone(), sum, spans, work_ns })
                .collect(),
        })
        .collect();
    rows.sort_by(|a, b| {
        let key = |r: &Counted| (r.phase, std::cmp::Reverse(r.work_ns));
        key(a).cmp(&key(b)).then_with(|| (&a.op, &a.desc, &a.pmu).cmp(&(&b.op, &b.desc, &b.pmu)))
    });
    rows
}

/// The PMU of each CPU.
struct Pmus {
    names: Vec<String>,
    by_cpu: HashMap<u16, usize>,
}

impl Pmus {
    fn new(counters: &[Counter]) -> Self {
        let mut pmus = Self { names: vec![String::new()], by_cpu: HashMap::new() };
        for counter in counters.iter().filter(|c| c.attached && c.pmu != "software") {
            let at = pmus.names.iter().position(|n| *n == counter.pmu).unwrap_or_else(|| {
                pmus.names.push(counter.pmu.clone());
                pmus.names.len() - 1
            });
            pmus.by_cpu.extend(counter.cpus.iter().map(|cpu| (*cpu, at)));
        }
        pmus
    }

    fn of_cpu(&self, cpu: Option<u16>) -> usize {
        cpu.and_then(|cpu| self.by_cpu.get(&cpu)).copied().unwrap_or(0)
    }
}
