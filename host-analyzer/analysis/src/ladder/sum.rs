//! The ladders of many parts of a session as one per question and process, in bounded memory.

use std::collections::BTreeMap;

use super::question::Question;
use super::sources::Sources;
use super::step::{SMALL, steps_of};
use super::{MAX_PROCESSES, Programs, StepKind, processes, sequences, tokens_per_s};
use crate::replay::{CallReplay, Culprit, Replay};
use crate::results::fact::Conditions;
use crate::results::module::Places;
use crate::results::request::requests;
use crate::results::server::Server;
use crate::results::speculative::emitted;
use crate::shared::phase::Phases;
use profinfer_trace::model::Model;

/// Programs that are kept apart; the delays of others are small causes. Processes come and go for as
/// long as a session takes.
pub const MOST_PROGRAMS: usize = 256;

/// Questions that are summed. A request may extend over several parts; a start is in one.
const SUMMED: [Question; 4] = [Question::Decode, Question::Prompt, Question::Encode, Question::BetweenCalls];

/// Sum of ladders: times and units add, and the steps of one kind and program are one. The operators
/// are one step, because each part has its own limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LadderSum {
    /// Parts of the session that have calls of it.
    pub parts: u64,
    /// Tokens, prompts or calls.
    pub units: u64,
    /// Tokens that came out, see [`super::Ladder::tokens`].
    pub tokens: u64,
    /// Their time, ns. The steps sum to it.
    pub measured_ns: u64,
    steps: BTreeMap<StepKind, u64>,
    pub programs: Programs,
    /// Calls that ended until then are counted, ns.
    counted_ns: u64,
}

/// The sums of the processes that called last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LadderSums(BTreeMap<u32, BTreeMap<Question, LadderSum>>);

impl LadderSums {
    /// Adds the ladders of a part. Parts come in order and may overlap: a call counts once.
    pub fn add(&mut self, model: &Model, phases: &Phases, replay: &Replay) {
        let emitted = emitted(model, phases);
        let requests = requests(&Server::compute(model, phases));
        let sources = Sources { model, phases, replay, requests: &requests, emitted: &emitted };
        for pid in processes(model, replay).into_iter().take(MAX_PROCESSES) {
            for question in SUMMED {
                let rows = question.calls(&sources, pid).rows;
                if !rows.is_empty() {
                    let of_pid = self.0.entry(pid).or_default();
                    of_pid.entry(question).or_default().add(&sources, question, &rows);
                }
            }
        }
        while self.0.len() > MAX_PROCESSES {
            let oldest = self.0.iter().min_by_key(|(_, of_pid)| counted_ns(of_pid)).map(|(pid, _)| *pid);
            self.0.retain(|pid, _| Some(*pid) != oldest);
        }
    }

    /// Adds a part of which nothing else is computed.
    pub fn add_model(&mut self, model: &Model) {
        let phases = Phases::compute(model);
        let conditions = Conditions::compute(model, &phases);
        let replay = Replay::compute(model, &phases, &conditions, &Places::compute(model));
        self.add(model, &phases, &replay);
    }

    /// The sums of a process; none of one that is unknown.
    #[must_use]
    pub fn of(&self, pid: u32) -> Vec<(Question, LadderSum)> {
        self.0.get(&pid).into_iter().flatten().map(|(question, sum)| (*question, sum.clone())).collect()
    }

    /// The process that called last.
    #[must_use]
    pub fn latest(&self) -> Option<u32> {
        self.0.iter().max_by_key(|(_, of_pid)| counted_ns(of_pid)).map(|(pid, _)| *pid)
    }
}

fn counted_ns(of_pid: &BTreeMap<Question, LadderSum>) -> u64 {
    of_pid.values().map(|sum| sum.counted_ns).max().unwrap_or(0)
}

impl LadderSum {
    fn add(&mut self, sources: &Sources<'_>, question: Question, rows: &[&CallReplay]) {
        let calls = &sources.model.llama_calls;
        let end = |c: &CallReplay| {
            let call = c.call.0 as usize;
            calls.start_ns[call].saturating_add(calls.duration_ns[call])
        };
        self.parts += 1;
        let before = self.counted_ns;
        let units = question.units_of_rows(sources, rows);
        for (call, units) in rows.iter().zip(units).filter(|(c, _)| end(c) > before) {
            self.units = self.units.saturating_add(units);
            self.tokens = self.tokens.saturating_add(question.tokens_of(sources, call));
            self.measured_ns = self.measured_ns.saturating_add(call.time_ns);
            self.counted_ns = self.counted_ns.max(end(call));
            for (kind, ns) in steps_of(call) {
                let kind = match kind.program() {
                    Some(id) => {
                        self.of_program(kind, sources.replay.culprit(id).map_or("", Culprit::program))
                    }
                    None => kind,
                };
                let sum = self.steps.entry(kind).or_default();
                *sum = sum.saturating_add(ns);
            }
        }
    }

    /// Mean time of a unit, ns.
    #[must_use]
    pub const fn unit_ns(&self) -> u64 {
        self.measured_ns / if self.units == 0 { 1 } else { self.units }
    }

    /// Tokens that came out per second; `None` for other questions.
    #[must_use]
    pub fn tokens_per_s(&self) -> Option<f64> {
        tokens_per_s(self.tokens, self.measured_ns)
    }

    /// Mean number of sequences that get a token in the time of a unit.
    #[must_use]
    pub fn sequences(&self) -> f64 {
        sequences(self.tokens, self.units)
    }

    /// Steps with their times of all units, ns; the longest first. Small causes are one step.
    #[must_use]
    pub fn steps(&self) -> Vec<(StepKind, u64)> {
        let mut large: BTreeMap<StepKind, u64> = BTreeMap::new();
        for (kind, ns) in &self.steps {
            let small = matches!(kind, StepKind::Caused(_)) && (*ns as f64) < self.measured_ns as f64 * SMALL;
            *large.entry(if small { StepKind::SmallCauses } else { *kind }).or_default() += ns;
        }
        let mut steps: Vec<_> = large.into_iter().collect();
        steps.sort_by_key(|(kind, ns)| (std::cmp::Reverse(*ns), *kind));
        steps
    }

    /// The step for the program of this name.
    fn of_program(&mut self, kind: StepKind, name: &str) -> StepKind {
        let id = self.programs.id_within(name, MOST_PROGRAMS);
        id.map_or(StepKind::SmallCauses, |id| kind.of_program(id))
    }
}
