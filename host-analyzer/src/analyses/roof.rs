//! The roof over each phase: the ceilings of as many CPUs as the phase had threads, and how much of the memory's the decode calls used.
//!
//! Stage: analysis. From: executions, ceilings of the board, work. To: [`Roofs`]. Promises: a ceiling of another number of threads is never
//! taken; what no ceiling is known of is `None`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ceiling::{Ceilings, Fit};
use super::execution::Executions;
use super::phase::{Phase, Phases};
use super::token::{Call, Token};
use super::work::{Accuracy, Achieved};
use crate::model::{CeilingKind, Model, Traced};

/// Part of a phase's spans that a CPU must have to count as one that the phase used: a migration for a moment is none.
const MIN_SHARE: f64 = 0.02;

/// What one phase ran on, and what that can do at best.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Roof {
    /// Threads of an operator, the most that any had.
    pub threads: u32,
    /// CPUs on which the spans ended.
    pub cpus: Vec<u16>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Top {
    /// Bytes or operations a second, the median of its repetitions.
    pub per_s: u64,
    /// It was measured on exactly the CPUs of the phase, not only on as many.
    pub same_cpus: bool,
}

/// Use of the memory's bandwidth by the decode calls: MBU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
    pub fn of(
        model: &Model,
        phases: &Phases,
        executions: &Executions,
        token: &Token,
        achieved: &Achieved,
        ceilings: &Ceilings,
    ) -> Self {
        let roofs = Phase::ALL.map(|phase| {
            let (threads, cpus) = used(model, phases, executions, phase);
            let top = |kind| top(ceilings, kind, threads, &cpus);
            Roof {
                threads,
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

fn used(model: &Model, phases: &Phases, executions: &Executions, phase: Phase) -> (u32, Vec<u16>) {
    let of_phase = |call: usize| phases.graph_calls[call] == phase;
    let calls = executions.calls().iter().filter(|c| of_phase(c.call.0 as usize));
    let threads = calls.map(|c| c.widest).max().unwrap_or(0);
    let mut spans: BTreeMap<u16, u64> = BTreeMap::new();
    for (call, cpu) in model.spans.graph_call.iter().zip(&model.spans.cpu) {
        if of_phase(call.0 as usize) {
            // Of an operator that may have been anywhere, no set of CPUs is the whole one.
            let Some(cpu) = cpu else { return (threads, Vec::new()) };
            *spans.entry(*cpu).or_default() += 1;
        }
    }
    let all: u64 = spans.values().sum();
    let cpus = spans.into_iter().filter(|(_, n)| *n as f64 >= all as f64 * MIN_SHARE).map(|(cpu, _)| cpu);
    (threads, cpus.collect())
}

fn top(ceilings: &Ceilings, kind: CeilingKind, threads: u32, cpus: &[u16]) -> Option<Top> {
    let best = ceilings.on(kind, threads as usize, cpus)?;
    Some(Top { per_s: best.value, same_cpus: best.fit == Fit::SameCpus })
}

fn utilisation(token: &Token, achieved: &Achieved, roof: &Roof) -> Option<Utilisation> {
    let work = achieved.phase(Phase::Decode);
    // What was read is known of the traced calls, so their tokens and their time are what it belongs to.
    let traced = |c: &&Call| c.phase == Phase::Decode && c.status == 0 && c.traced == Traced::Whole;
    let tokens = token.calls.iter().filter(traced).filter_map(|c| c.n_tokens).map(u64::from).sum::<u64>();
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
