//! Input of the rules: the calls that they judge, and their context.

mod attention;
mod backends;
mod calls;
mod conditions;
mod core_types;
mod gauges;
mod graphs;
mod noise;
mod scheduler;
mod steps;
mod texts;
mod threads;

use self::calls::Calls;
pub(in crate::findings) use self::calls::{MIN_CALLS, MIN_TRACED};
pub use self::texts::Texts;
use self::threads::Use;
use super::evidence::{Evidence, Place, Value};
use super::{Gain, Requirement};
use crate::Analysis;
use crate::ladder::{Ladder, Question, StepKind};
use crate::results::budget::{self, Class, TokenBudget};
use crate::results::ceiling::NoCeiling;
use crate::results::duty::Slowdown;
use crate::shared::phase::Phase;
use crate::shared::rate::per_s;
use crate::stats::mean::Mean;
use crate::stats::percentile::percentile;
use profinfer_trace::model::{CeilingKind, Ends, FactValue, Model};

/// Speed, and its relation to the limits of this board.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Headline {
    /// Question of the calls that the rules judge.
    pub question: Question,
    /// Number of these calls.
    pub calls: u64,
    /// Phase of the calls that the other figures cover.
    pub phase: Phase,
    /// Decode tokens that the figures cover; of a call with several sequences, all of its tokens are one.
    /// Without one before which no call was recorded.
    pub tokens: u64,
    /// Mean number of sequences that get a token from such a call; `None` for one.
    pub sequences: Option<f64>,
    /// Texts that are only read; `None` if the engine generates.
    pub texts: Option<Texts>,
    /// The engine guesses tokens and verifies them. `token_ns` and `tokens_per_s` are those of the tokens
    /// that came out; the other figures are those of single tokens, of which there may be none.
    pub drafted: bool,
    /// Mean time of a decode token, sampling included, ns; `None` without one. Where calls have several
    /// sequences, each of them gets a token in this time.
    pub token_ns: Option<u64>,
    /// Of all sequences together.
    pub tokens_per_s: Option<f64>,
    /// Median time of a decode token, ns.
    pub median_ns: Option<u64>,
    /// 95th percentile of the time of a decode token, ns.
    pub p95_ns: Option<u64>,
    /// The fewest of these tokens that together take half of their time.
    pub half_of_time: u64,
    /// Prompt tokens per second of prefill calls.
    pub prefill_tokens_per_s: Option<f64>,
    /// Threads that computed the judged calls together.
    pub threads: u64,
    /// Share of the memory's read ceiling that decode uses, by the mean time of a token, 0 to 1; `None`
    /// without a ceiling for this number of threads.
    pub mbu: Option<f64>,
    /// Share of a decode token that the probes take, as on the ladder. Estimated; for all tokens, traced or
    /// not.
    pub probes_share: f64,
    /// Slowdown of decode calls by tracing.
    pub slowdown: Slowdown,
}

/// Name of the scheduler level.
pub(in crate::findings) const SCHED: &str = "sched";

/// A gain below this share of a unit is not reported.
pub(in crate::findings) const MIN_GAIN_SHARE: f64 = 0.02;

/// A session, as the rules see it.
#[derive(Debug)]
pub struct Case<'a> {
    pub(in crate::findings) model: &'a Model,
    pub(in crate::findings) analysis: &'a Analysis,
    pub(in crate::findings) headline: Headline,
    /// The judged calls.
    pub(in crate::findings) calls: Calls<'a>,
    /// The process that generates for the longest time, or else computes; 0 when there is none.
    pub(in crate::findings) pid: u32,
    /// Relative speed of each CPU, in one unit for all; 0 where unknown.
    pub(in crate::findings) speeds: Vec<u64>,
    /// CPUs and threads used by the operators of the captured calls.
    used: Use,
}

impl<'a> Case<'a> {
    pub(in crate::findings) fn new(model: &'a Model, analysis: &'a Analysis) -> Self {
        let pid = busiest_process(model, analysis);
        let drafted = analysis.speculative.iter().any(|s| s.pid == pid && s.emitted > 0);
        let phase = if drafted { Phase::Decode } else { analysis.phases.decode };
        let of_process =
            |t: &&TokenBudget| model.threads.get(model.llama_calls.thread[t.call as usize]).pid == pid;
        // The first call of the process has no begin, so it is no token.
        let own = analysis.budget.tokens.iter().filter(of_process).skip(1);
        let tokens: Vec<_> = own.filter(|t| t.phase == phase).collect();
        let calls = Calls::compute(analysis, pid);
        let headline = Headline {
            question: calls.question,
            calls: calls.number(),
            phase,
            drafted,
            ..headline(model, analysis, pid, drafted, &tokens)
        };
        let speeds = budget::speeds(model);
        let used = Use::default();
        let mut case = Self { model, analysis, headline, calls, pid, speeds, used };
        case.used = case.use_of_captured();
        case.headline.threads = case.used.threads();
        case
    }

    /// Whether the session fulfils a requirement of a rule.
    pub(in crate::findings) fn has(&self, requirement: &Requirement) -> bool {
        let model = self.model;
        match *requirement {
            Requirement::Calls(n) => self.calls.number() >= n,
            // If every call is captured, too few of them means too few calls.
            Requirement::TracedCalls(n) => {
                let has_operators = self.calls.all.is_empty() || self.used.any();
                has_operators && (!self.calls.partial() || self.calls.traced.len() as u64 >= n)
            }
            Requirement::Ends => model.capture.ends == Ends::Both,
            Requirement::AllOperators => !model.capture.operators_left_out(),
            Requirement::Cpus => self.cpus_are_known(),
            Requirement::Level(name) => {
                let sched = name == SCHED && model.sched.recorded;
                sched || model.session.levels.iter().any(|level| level.name() == name)
            }
            Requirement::Ceiling(name) | Requirement::NoCeiling(name, _) => {
                model.ceilings.iter().any(|c| c.kind.name() == name && c.median > 0)
            }
            Requirement::Fact(name) => model.texts.find(name).is_some_and(|name| {
                model.facts.rows.iter().any(|f| f.name == name && !matches!(f.value, FactValue::Absent(_)))
            }),
            Requirement::Counter(name) => model.spans.counts.names.iter().any(|counter| counter == name),
            // Rules with these requirements check them themselves.
            Requirement::ContextSteps
            | Requirement::Rounds
            | Requirement::PlainTokens
            | Requirement::Culprit
            | Requirement::OtherType
            | Requirement::OtherKvType
            | Requirement::TextLengths
            | Requirement::Prompts
            | Requirement::WaitsForBackends
            | Requirement::StealReadings
            | Requirement::Explained
            | Requirement::Interrupts
            | Requirement::WithoutNeighbours => true,
            Requirement::Gauge(kind) => {
                model.gauges.iter().any(|g| g.kind.name() == kind && g.values.iter().any(Option::is_some))
            }
        }
    }

    /// The phase of most of the judged calls' time.
    pub(in crate::findings) fn phase(&self) -> Phase {
        let time = |phase: Phase| -> u64 {
            self.calls.all.iter().filter(|t| t.phase == phase).map(|t| t.time_ns).sum()
        };
        let most = Phase::ALL.into_iter().filter(|phase| time(*phase) > 0).max_by_key(|phase| time(*phase));
        most.unwrap_or(self.headline.phase)
    }

    /// A missing ceiling with the reason why there is none.
    pub(in crate::findings) fn with_reason(&self, missing: Requirement) -> Requirement {
        let Requirement::Ceiling(name) = missing else { return missing };
        let threads = self.analysis.roof.phase(self.phase()).threads as usize;
        let kind = CeilingKind::ALL.into_iter().find(|kind| kind.name() == name);
        let lack = kind.map_or(NoCeiling::NotMeasured, |kind| self.analysis.ceiling.lack(kind, threads));
        Requirement::NoCeiling(name, lack)
    }

    /// Whether the judged calls generate text.
    pub(in crate::findings) fn generates(&self) -> bool {
        self.calls.question == Question::Decode
    }

    /// Evidence per unit of the judged calls.
    pub(in crate::findings) const fn per_unit(
        &self,
        key: &'static str,
        value: Value,
        place: Place,
    ) -> Evidence {
        Evidence::per(self.calls.question, key, value, place)
    }

    /// A unit of the judged calls becomes shorter by `low_ns` to `high_ns`.
    pub(in crate::findings) fn gain(&self, low_ns: f64, high_ns: f64) -> Gain {
        Gain::of(self.calls.question, self.calls.unit_ns, low_ns, high_ns)
    }

    /// The read ceiling for the judged calls, and its working set; `None` where the agent measured
    /// no curve.
    pub(in crate::findings) fn read_ceiling(&self) -> Vec<Evidence> {
        let decode = self.analysis.roof.decode.filter(|_| self.generates()).map(|d| d.phase);
        let read = self.analysis.roof.phase(decode.unwrap_or_else(|| self.phase())).read;
        let known = read.and_then(|top| Some((top.per_s, top.working_set_bytes?)));
        known.map_or_else(Vec::new, |(per_s, bytes)| {
            vec![
                Evidence::new("read_ceiling", Value::BytesPerSecond(per_s as f64), Place::Roofline),
                Evidence::new("working_set", Value::Bytes(bytes), Place::Roofline),
            ]
        })
    }

    /// Time of some classes per unit, along the last arrivers. It uses the captured calls, by bursts, or all
    /// calls where the classes are outside of graphs.
    pub(in crate::findings) fn wall(&self, classes: &[Class]) -> Mean {
        let of = |t: &&TokenBudget| classes.iter().map(|c| t.wall.get(*c)).sum();
        if !self.calls.partial() || classes.iter().all(|c| c.outside_of_graphs()) {
            let all = Mean::new(&self.calls.all.iter().map(of).collect::<Vec<_>>());
            return self.calls.per_unit(all);
        }
        let bursts = &self.analysis.phases.tracing.bursts;
        let traced = self.calls.traced.iter().filter_map(|t| Some((bursts[t.call as usize]?, of(t))));
        self.calls.per_traced_unit(Mean::of_bursts(&traced.collect::<Vec<_>>()))
    }

    /// A time as a share of a unit, 0 to 1.
    pub(in crate::findings) fn share(&self, ns: f64) -> f64 {
        match self.calls.unit_ns {
            0 => 0.0,
            unit => ns / unit as f64,
        }
    }
}

/// The process that generates for the longest time; if none does, the one that computes for the longest
/// time.
fn busiest_process(model: &Model, analysis: &Analysis) -> u32 {
    let mut sums: Vec<(u32, (u64, u64))> = Vec::new();
    for t in &analysis.budget.tokens {
        let pid = model.threads.get(model.llama_calls.thread[t.call as usize]).pid;
        let at = sums.iter().position(|(p, _)| *p == pid).unwrap_or_else(|| {
            sums.push((pid, (0, 0)));
            sums.len() - 1
        });
        let (generating, all) = &mut sums[at].1;
        *all = all.saturating_add(t.time_ns);
        *generating = generating.saturating_add(if t.phase.generates() { t.time_ns } else { 0 });
    }
    sums.into_iter().max_by_key(|(_, times)| *times).map_or(0, |(pid, _)| pid)
}

fn headline(
    model: &Model,
    analysis: &Analysis,
    pid: u32,
    drafted: bool,
    tokens: &[&TokenBudget],
) -> Headline {
    let n = tokens.len() as u64;
    let of_call = |t: &&TokenBudget| u64::from(model.llama_calls.n_tokens[t.call as usize].max(1));
    let of_calls: u64 = tokens.iter().map(of_call).sum();
    let sum: u64 = tokens.iter().map(|t| t.time_ns).fold(0, u64::saturating_add);
    let mut times: Vec<u64> = tokens.iter().map(|t| t.time_ns).collect();
    let decode = || analysis.ladder.rows.iter().find(|l| l.pid == pid && l.question == Question::Decode);
    let came_out = if drafted { decode().map(|l| (l.units, l.units, l.measured_ns)) } else { None };
    let (steps, out, out_ns) = came_out.unwrap_or((n, of_calls, sum));
    Headline {
        tokens: n,
        sequences: (of_calls > n).then(|| of_calls as f64 / n as f64),
        texts: Texts::compute(model, analysis, pid),
        token_ns: out_ns.checked_div(steps),
        tokens_per_s: per_s(out, out_ns).filter(|_| out > 0),
        half_of_time: half_of_time(&times),
        median_ns: percentile(&mut times, 50),
        p95_ns: percentile(&mut times, 95),
        prefill_tokens_per_s: analysis.token.prefill.tokens_per_s,
        mbu: mbu(analysis, decode().filter(|_| !drafted)),
        probes_share: decode().map_or(0.0, |l| l.share(l.sum(|kind| kind == StepKind::Probes))),
        slowdown: analysis.cost.slowdown,
        ..Headline::default()
    }
}

/// By the mean time of all tokens, from which the speed is, so that both agree. Where guesses are verified, by the
/// time of the traced calls.
fn mbu(analysis: &Analysis, decode: Option<&Ladder>) -> Option<f64> {
    let of_traced_calls = analysis.roof.decode.and_then(|d| d.mbu)?;
    let of_all = |l: &Ladder| {
        let floor = l.floor.as_ref()?;
        Some(floor.bytes as f64 * 1e9 / floor.bytes_per_s? as f64 / l.measured_ns.max(1) as f64)
    };
    Some(decode.and_then(of_all).unwrap_or(of_traced_calls))
}

/// The fewest of these times that sum to half of all.
fn half_of_time(times: &[u64]) -> u64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = sorted.iter().copied().fold(0, u64::saturating_add);
    let mut left = all / 2;
    let longest = sorted.iter().take_while(|ns| {
        let more = left > 0;
        left = left.saturating_sub(**ns);
        more
    });
    longest.count() as u64
}
