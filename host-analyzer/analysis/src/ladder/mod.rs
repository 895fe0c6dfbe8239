//! The ladder: where the time of a question goes, such as that of a decode token, from the least time
//! that the board allows up to the measured one.
//!
//! Stage: analysis. From: the replay, bytes and operations of the operators, ceilings. To:
//! [`Ladder`]. Promises: the steps of a ladder sum to the measured time. What was not recorded is a
//! step, and what nothing explains is one. A cause is a step of its own, so nothing that a cause
//! explains is in the steps of the operators.

mod between;
mod first_token;
mod floor;
mod gain;
mod programs;
mod question;
mod retype;
mod rounds;
mod sources;
mod start_up;
mod step;
mod sum;

pub use crate::results::ceiling::limit::Limit;
pub use crate::results::module::TensorGroup;
pub use floor::{Floor, FloorGroup, FloorPart};
pub use gain::Gain;
pub(crate) use gain::scatter;
pub use programs::Programs;
pub use question::Question;
pub(crate) use retype::Retyped;
pub(crate) use rounds::{Round, rounds};
pub use start_up::StartUp;
pub(crate) use step::{SMALL, steps_of};
pub use step::{Step, StepKind};
pub use sum::{LadderSum, LadderSums, MOST_PROGRAMS};

use crate::replay::{CallReplay, Replay};
use crate::results::request::Request;
use crate::results::roof::Roofs;
use crate::results::speculative::emitted;
use crate::shared::phase::Phases;
use crate::shared::rate::per_s;
use profinfer_trace::model::{LlamaCallId, Model};

/// Share of a time below which a measured step does not matter: its causes are ruled out.
pub const IGNORED: f64 = 0.02;
/// Share from which on a step names its cause, or the data that would name it.
pub const NAMED: f64 = 0.03;
/// Share from which on a step is in the headline.
pub const HEADLINE: f64 = 0.2;

/// Where the time of one question goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    pub question: Question,
    pub pid: u32,
    /// Tokens, prompts, requests or calls that it covers.
    pub units: u64,
    /// Those with captured operators.
    pub traced_units: u64,
    /// Tokens that came out, of all sequences: more than `units` where calls have several. 0 for other
    /// questions than that of tokens.
    pub tokens: u64,
    /// Measured time of all units, ns. The steps sum to it.
    pub measured_ns: u64,
    /// The same without all causes, ns.
    pub undisturbed_ns: u64,
    /// In the order of [`StepKind`]; steps without time are left out.
    pub steps: Vec<Step>,
    /// Operators at their limits; `None` without ceilings, or without captured operators.
    pub floor: Option<Floor>,
    /// Effect of removing all causes together.
    pub all: Option<Gain>,
    /// Counts of a start-up; `None` for other questions.
    pub start_up: Option<StartUp>,
    /// The calls, in order.
    pub(crate) calls: Vec<LlamaCallId>,
    pub(crate) removal: gain::Removal,
}

impl Ladder {
    /// Mean time of a unit, ns.
    #[must_use]
    pub const fn unit_ns(&self) -> u64 {
        self.measured_ns / if self.units == 0 { 1 } else { self.units }
    }

    /// Tokens that came out per second, of all sequences together; `None` for other questions.
    #[must_use]
    pub fn tokens_per_s(&self) -> Option<f64> {
        tokens_per_s(self.tokens, self.measured_ns)
    }

    /// Mean number of sequences that get a token in the time of a unit.
    #[must_use]
    pub fn sequences(&self) -> f64 {
        sequences(self.tokens, self.units)
    }

    /// A time of all units as a share of the measured time, 0 to 1.
    #[must_use]
    pub fn share(&self, ns: i64) -> f64 {
        if self.measured_ns == 0 { 0.0 } else { ns as f64 / self.measured_ns as f64 }
    }

    /// Sum of the steps of some kinds, ns of all units.
    #[must_use]
    pub fn sum(&self, of: impl Fn(StepKind) -> bool) -> i64 {
        self.steps.iter().filter(|s| of(s.kind)).map(|s| s.ns).sum()
    }
}

fn tokens_per_s(tokens: u64, ns: u64) -> Option<f64> {
    per_s(tokens, ns).filter(|_| tokens > 0)
}

fn sequences(tokens: u64, units: u64) -> f64 {
    if tokens == 0 || units == 0 { 1.0 } else { tokens as f64 / units as f64 }
}

/// All ladders of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ladders {
    /// The process that computes longest first; of a process, in the order of [`Question::ALL`].
    pub rows: Vec<Ladder>,
}

/// Processes that get ladders; the others compute less.
const MAX_PROCESSES: usize = 8;

impl Ladders {
    #[must_use]
    pub fn compute(
        model: &Model,
        phases: &Phases,
        replay: &Replay,
        requests: &[Request],
        roofs: &Roofs,
    ) -> Self {
        let emitted = emitted(model, phases);
        let sources = sources::Sources { model, phases, replay, requests, emitted: &emitted };
        let mut rows = Vec::new();
        for pid in processes(model, replay).into_iter().take(MAX_PROCESSES) {
            for question in Question::ALL {
                if question == Question::StartUp {
                    rows.extend(start_up::ladder(&sources, pid));
                    continue;
                }
                let calls = question.calls(&sources, pid);
                if calls.rows.is_empty() || calls.units == 0 {
                    continue;
                }
                let floor = Floor::compute(model, replay, roofs, &calls);
                rows.push(ladder(question, pid, &calls, floor));
            }
        }
        Self { rows }
    }

    /// The ladder of a question, of the process that computes longest.
    #[must_use]
    pub fn of(&self, question: Question) -> Option<&Ladder> {
        self.rows.iter().find(|l| l.question == question)
    }
}

fn processes(model: &Model, replay: &Replay) -> Vec<u32> {
    let mut sums: Vec<(u32, u64)> = Vec::new();
    for call in &replay.calls {
        let pid = model.threads.get(model.llama_calls.thread[call.call.0 as usize]).pid;
        match sums.iter_mut().find(|(p, _)| *p == pid) {
            Some((_, ns)) => *ns = ns.saturating_add(call.time_ns),
            None => sums.push((pid, call.time_ns)),
        }
    }
    sums.sort_by_key(|(pid, ns)| (std::cmp::Reverse(*ns), *pid));
    sums.into_iter().map(|(pid, _)| pid).collect()
}

fn ladder(question: Question, pid: u32, calls: &sources::Calls<'_>, floor: Option<Floor>) -> Ladder {
    let rows = &calls.rows;
    let sum = |of: fn(&CallReplay) -> u64| rows.iter().map(|c| of(c)).fold(0, u64::saturating_add);
    let measured_ns = sum(|c| c.time_ns);
    let removal = gain::Removal::new(rows, measured_ns, floor.as_ref().map_or(0, |floor| floor.ns));
    Ladder {
        question,
        pid,
        units: calls.units,
        traced_units: calls.traced_units,
        tokens: calls.tokens,
        measured_ns,
        undisturbed_ns: sum(CallReplay::undisturbed_ns),
        steps: step::steps(rows, &removal, measured_ns, floor.as_ref()),
        all: removal.all(),
        floor,
        start_up: None,
        calls: rows.iter().map(|c| c.call).collect(),
        removal,
    }
}
