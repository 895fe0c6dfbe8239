//! The roof over each phase: the ceilings of as many CPUs as the phase had threads, and how much of the memory's the decode calls used.
//!
//! Stage: analysis. From: executions, ceilings of the board, work. To: [`Roofs`]. Promises: a ceiling of another number of threads is never
//! taken; what no ceiling is known of is `None`.

use super::ceiling::{Ceilings, Fit, Fitting};
use super::token::{Call, Token};
use super::work::{Accuracy, Achieved};
use crate::shared::execution::Executions;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{CeilingKind, Model, Traced};

/// Part of a phase's spans that a CPU must have to count as one that the phase used: a migration for a moment is none.
const MIN_SHARE: f64 = 0.02;

/// What one phase ran on, and what that can do at best.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roof {
    /// Threads of an operator, the most that any had.
    pub threads: u32,
    /// CPUs on which the spans ended.
    pub cpus: Vec<u16>,
    /// Weights and KV cache that a call reads, bytes: the working set whose read ceiling is taken. `None` without calls, whose
    /// operators would be known.
    pub reads_bytes: Option<u64>,
    /// Reading memory.
    pub read: Option<Top>,
    /// Products of 8-bit integers.
    pub int8: Option<Top>,
    /// Multiply-accumulate in 32-bit floats.
    pub f32: Option<Top>,
    /// Multiply-accumulate in 16-bit floats.
    pub f16: Option<Top>,
}

/// A ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Top {
    /// Bytes or operations a second, the median of its repetitions.
    pub per_s: u64,
    /// It was measured on exactly the CPUs of the phase, not only on as many.
    pub same_cpus: bool,
    /// Of reading memory, the working set that it is of; `None` for other kinds, and in recordings of older agents.
    pub working_set_bytes: Option<u64>,
    /// A call reads more than the largest working set that was measured.
    pub beyond: bool,
}

impl From<Fitting<'_>> for Top {
    fn from(f: Fitting<'_>) -> Self {
        Self {
            per_s: f.value,
            same_cpus: f.fit == Fit::SameCpus,
            working_set_bytes: f.at.map(|at| at.working_set_bytes),
            beyond: f.at.is_some_and(|at| at.beyond),
        }
    }
}

/// Use of the memory's bandwidth by the decode calls: MBU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utilisation {
    /// Tokens that the traced decode calls computed: the figures are of these.
    pub tokens: u64,
    /// Weights and KV cache that a token reads, bytes.
    pub bytes_per_token: f64,
    /// How far that can be believed.
    pub accuracy: Accuracy,
    /// The same bytes by the time of the traced decode calls, bytes a second.
    pub bytes_per_s: f64,
    /// Part of the read ceiling, 0 to 1, more where a cache holds the model; `None` without a ceiling for as many threads.
    pub mbu: Option<f64>,
}

/// Roofs of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roofs {
    /// By [`Phase::index`].
    pub phases: [Roof; Phase::COUNT],
    /// `None` without decode calls whose operators were seen.
    pub decode: Option<Utilisation>,
}

impl Roofs {
    /// The roofs of a session.
    #[must_use]
    pub fn compute(
        model: &Model,
        phases: &Phases,
        executions: &Executions,
        token: &Token,
        achieved: &Achieved,
        ceilings: &Ceilings,
    ) -> Self {
        let cpus = cpus(model, phases);
        let roofs = Phase::ALL.map(|phase| {
            let threads = threads(phases, executions, phase);
            let cpus = often(&cpus[phase.index()]);
            let reads_bytes = reads(token, achieved, phase);
            let top = |kind| ceilings.on(kind, threads as usize, &cpus, reads_bytes).map(Top::from);
            Roof {
                threads,
                reads_bytes,
                read: top(CeilingKind::Read),
                int8: top(CeilingKind::Int8),
                f32: top(CeilingKind::F32),
                f16: top(CeilingKind::F16),
                cpus,
            }
        });
        // Of operators that were left out it is not known what they read.
        let decode = (!model.capture.nodes_left_out())
            .then(|| utilisation(token, achieved, &roofs[Phase::Decode.index()]))
            .flatten();
        Self { phases: roofs, decode }
    }

    /// The roof of a phase.
    #[must_use]
    pub const fn phase(&self, phase: Phase) -> &Roof {
        &self.phases[phase.index()]
    }
}

impl Roof {
    /// The ceiling of the arithmetic that a product with weights of this type does: quantized types are multiplied as 8-bit integers.
    #[must_use]
    pub fn arithmetic(&self, dtype: &str) -> Option<Top> {
        match dtype {
            "f32" | "bf16" => self.f32,
            "f16" => self.f16.or(self.f32),
            _ => self.int8,
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
    /// Some have none.
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

/// CPUs that have enough of the spans. Of operators that may have been anywhere, no set of CPUs is the whole one.
fn often(cpus: &Cpus) -> Vec<u16> {
    if cpus.nowhere {
        return Vec::new();
    }
    let all: u64 = cpus.spans.iter().sum();
    let enough = |n: u64| n > 0 && n as f64 >= all as f64 * MIN_SHARE;
    // Up to the last number that a recording can name, and not one beyond.
    (0..=u16::MAX).zip(&cpus.spans).filter(|(_, n)| enough(**n)).map(|(cpu, _)| cpu).collect()
}

/// What was read is known of the traced calls, so their tokens and their time are what it belongs to.
fn traced(token: &Token, phase: Phase) -> impl Iterator<Item = &Call> {
    token.calls.iter().filter(move |c| c.phase == phase && c.status == 0 && c.traced == Traced::Whole)
}

/// Bytes that a call reads. Of a prompt that is computed in several parts they are those of all parts, each of which reads
/// all weights: of a model that no cache holds the ceiling is the same.
fn reads(token: &Token, achieved: &Achieved, phase: Phase) -> Option<u64> {
    let calls = traced(token, phase).count() as u64;
    achieved.phase(phase).streamed_bytes().checked_div(calls).filter(|bytes| *bytes > 0)
}

fn utilisation(token: &Token, achieved: &Achieved, roof: &Roof) -> Option<Utilisation> {
    let work = achieved.phase(Phase::Decode);
    let tokens = traced(token, Phase::Decode).filter_map(|c| c.n_tokens).map(u64::from).sum::<u64>();
    let time_ns = token.decode.traced_time_ns;
    let bytes = work.streamed_bytes();
    if tokens == 0 || time_ns == 0 || bytes == 0 {
        return None;
    }
    let bytes_per_s = bytes as f64 * 1e9 / time_ns as f64;
    Some(Utilisation {
        tokens,
        bytes_per_token: bytes as f64 / tokens as f64,
        accuracy: work.accuracy,
        bytes_per_s,
        mbu: roof.read.map(|read| bytes_per_s / read.per_s as f64),
    })
}
