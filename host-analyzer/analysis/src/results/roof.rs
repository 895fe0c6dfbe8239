//! Roofs: the ceilings for the CPUs of each phase, and the share of memory bandwidth that decode
//! calls used.
//!
//! Stage: analysis. From: executions, ceilings of the board, work. To: [`Roofs`]. Promises: a
//! ceiling with another number of threads is never used; a figure without a ceiling is `None`.

use super::ceiling::limit::arithmetic_of;
pub use super::ceiling::limit::{Instead, Limits, Top};
use super::ceiling::{Ceilings, NoCeiling};
use super::op::Op;
use super::speculative::emitted;
use super::token::{Call, Token};
use super::work::{Accuracy, Achieved};
use crate::shared::execution::Executions;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{CeilingKind, Model, Traced};

/// Smallest share of a phase's spans for a CPU to count as used by the phase. This ignores short
/// migrations.
const MIN_SHARE: f64 = 0.02;

/// The CPUs of one phase, and their ceilings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roof {
    /// Largest number of threads of an operator.
    pub threads: u32,
    /// CPUs on which the spans ended.
    pub cpus: Vec<u16>,
    /// Weights and KV cache that a call reads, bytes: the working set of the read ceiling. `None`
    /// without calls that have operators.
    pub reads_bytes: Option<u64>,
    /// Reading memory.
    pub read: Option<Top>,
    /// Products of 8-bit integers.
    pub int8: Option<Top>,
    /// Multiply-accumulate in 32-bit floats.
    pub f32: Option<Top>,
    /// Multiply-accumulate in 16-bit floats.
    pub f16: Option<Top>,
    /// Why there is no read ceiling.
    pub no_read: Option<NoCeiling>,
    /// What stands in for missing ceilings.
    pub instead: Instead,
}

/// Memory bandwidth utilisation (MBU) of the decode calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utilisation {
    /// Phase of these calls.
    pub phase: Phase,
    /// Tokens of the traced decode calls, which all figures here cover. A call that verifies guesses counts
    /// as one.
    pub tokens: u64,
    /// Weights and KV cache that a token reads, bytes.
    pub bytes_per_token: f64,
    /// Accuracy of `bytes_per_token`.
    pub accuracy: Accuracy,
    /// These bytes divided by the time of the traced decode calls.
    pub bytes_per_s: f64,
    /// Share of the read ceiling: 0 to 1, or more where a cache holds the model. `None` without a
    /// ceiling for this number of threads.
    pub mbu: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roofs {
    /// By [`Phase::index`].
    pub phases: [Roof; Phase::COUNT],
    /// `None` without decode calls that have operators.
    pub decode: Option<Utilisation>,
}

impl Roofs {
    #[must_use]
    pub fn compute(
        model: &Model,
        phases: &Phases,
        executions: &Executions,
        token: &Token,
        op: &Op,
        achieved: &Achieved,
        ceilings: &Ceilings,
    ) -> Self {
        let cpus = cpus(model, phases);
        let roofs = Phase::ALL.map(|phase| {
            let threads = threads(phases, executions, phase);
            let cpus = often(&cpus[phase.index()]);
            let reads_bytes = reads(token, achieved, phase);
            let top = |kind| ceilings.on(kind, threads as usize, &cpus, reads_bytes).map(Top::from);
            let read = top(CeilingKind::Read);
            let lack = || ceilings.lack(CeilingKind::Read, threads as usize);
            Roof {
                threads,
                reads_bytes,
                read,
                int8: top(CeilingKind::Int8),
                f32: top(CeilingKind::F32),
                f16: top(CeilingKind::F16),
                no_read: read.is_none().then(lack),
                instead: Instead::compute(model, op, achieved, phase, threads),
                cpus,
            }
        });
        // It is unknown what excluded operators read.
        let decode = (!model.capture.nodes_left_out())
            .then(|| {
                let plain = traced(token, phases.decode).next().is_some()
                    || emitted(model, phases).iter().all(Option::is_none);
                let phase = if plain { phases.decode } else { Phase::BatchDecode };
                utilisation(token, achieved, phase, &roofs[phase.index()], plain)
            })
            .flatten();
        Self { phases: roofs, decode }
    }

    #[must_use]
    pub const fn phase(&self, phase: Phase) -> &Roof {
        &self.phases[phase.index()]
    }
}

impl Roof {
    /// The ceiling of the arithmetic for a product with weights of this type.
    #[must_use]
    pub fn arithmetic(&self, dtype: &str) -> Option<Top> {
        match arithmetic_of(dtype) {
            CeilingKind::F32 => self.f32,
            CeilingKind::F16 => self.f16.or(self.f32),
            _ => self.int8,
        }
    }

    /// The best known limits of the phase, each with its source and range: the floor of a phase
    /// needs a figure also where no ceiling was measured. A measured ceiling comes first (of this
    /// recording, else the user's file, else kept for this machine); else the profile's bandwidth
    /// or the best rate seen in this recording, whichever is higher, because a ceiling is a
    /// maximum. Arithmetic is in no profile. Without any, the operators of the phase are too small
    /// to show a limit.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let Instead { profile, read, int8, f32, f16 } = self.instead;
        Limits {
            threads: self.threads,
            read: self.read.or_else(|| Top::faster(profile, read)),
            int8: self.int8.or(int8),
            f32: self.f32.or(f32),
            f16: self.f16.or(f16),
        }
    }
}

fn threads(phases: &Phases, executions: &Executions, phase: Phase) -> u32 {
    let calls = executions.calls().iter().filter(|c| phases.graph_calls[c.call.0 as usize] == phase);
    calls.map(|c| c.widest).max().unwrap_or(0)
}

/// Spans by CPU.
#[derive(Default)]
struct Cpus {
    spans: Vec<u64>,
    /// Some spans have no CPU.
    nowhere: bool,
}

/// By [`Phase::index`].
fn cpus(model: &Model, phases: &Phases) -> [Cpus; Phase::COUNT] {
    let mut found: [Cpus; Phase::COUNT] = Default::default();
    for (call, rows) in model.spans.by_call() {
        let of_phase = &mut found[phases.graph_calls[call.0 as usize].index()];
        for cpu in &model.spans.cpu[rows] {
            let Some(cpu) = cpu.map(usize::from) else {
                of_phase.nowhere = true;
                continue;
            };
            if of_phase.spans.len() <= cpu {
                of_phase.spans.resize(cpu + 1, 0);
            }
            of_phase.spans[cpu] += 1;
        }
    }
    found
}

/// CPUs with enough of the spans. Spans without a CPU may have been anywhere, so then no set of
/// CPUs is complete.
fn often(cpus: &Cpus) -> Vec<u16> {
    if cpus.nowhere {
        return Vec::new();
    }
    let all: u64 = cpus.spans.iter().sum();
    let enough = |n: u64| n > 0 && n as f64 >= all as f64 * MIN_SHARE;
    // Up to the last number that a recording can name, and none beyond.
    (0..=u16::MAX).zip(&cpus.spans).filter(|(_, n)| enough(**n)).map(|(cpu, _)| cpu).collect()
}

/// The bytes read are known for the traced calls only, so use their tokens and their time.
fn traced(token: &Token, phase: Phase) -> impl Iterator<Item = &Call> {
    token.calls.iter().filter(move |c| c.phase == phase && c.status == 0 && c.traced == Traced::Whole)
}

/// Bytes that a call reads. For a prompt computed in several parts, it is the sum of all parts,
/// each of which reads all weights. For a model that no cache holds, the ceiling is the same.
fn reads(token: &Token, achieved: &Achieved, phase: Phase) -> Option<u64> {
    let calls = traced(token, phase).count() as u64;
    achieved.phase(phase).streamed_bytes().checked_div(calls).filter(|bytes| *bytes > 0)
}

/// `plain`: each token of a call comes out.
fn utilisation(
    token: &Token,
    achieved: &Achieved,
    phase: Phase,
    roof: &Roof,
    plain: bool,
) -> Option<Utilisation> {
    let work = achieved.phase(phase);
    let of_call = |n: u32| if plain { u64::from(n) } else { 1 };
    let tokens = traced(token, phase).filter_map(|c| c.n_tokens).map(of_call).sum::<u64>();
    let time_ns = traced(token, phase).map(|c| c.duration_ns).fold(0, u64::saturating_add);
    let bytes = work.streamed_bytes();
    if tokens == 0 || time_ns == 0 || bytes == 0 {
        return None;
    }
    let bytes_per_s = bytes as f64 * 1e9 / time_ns as f64;
    Some(Utilisation {
        phase,
        tokens,
        bytes_per_token: bytes as f64 / tokens as f64,
        accuracy: work.accuracy,
        bytes_per_s,
        mbu: roof.read.map(|read| bytes_per_s / read.per_s as f64),
    })
}
