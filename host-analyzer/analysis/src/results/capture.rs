//! Operator capture: options and filters in effect, probe switches, and changes by the controller.
//!
//! Stage: analysis. From: the capture's tables, the ledger of filtered spans, which calls were
//! traced. To: [`Capture`], with the names that data has for each. Times count from the start of
//! the session.

use super::duty::Coverage;
use crate::shared::phase::Phase;
use profinfer_trace::model::{
    self, ALWAYS, CaptureOption, ControllerLimit, Ends, FilterOn, FilterPlace, Model, Refusal, StepReason,
    SwitchReason,
};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// Requested share of the `llama_decode` calls whose operators are captured, 0 to 1.
    pub duty_share: f64,
    /// Which probes an operator had: `both` or `none`. With `none`, the time of an operator
    /// includes the wait after it.
    pub ends: &'static str,
    /// Speed that the controller maintained, tokens per second.
    pub keep_above_per_s: Option<f64>,
    /// Limit that the controller maintained for the slowdown of all tokens; 0.01 is 1 %.
    pub max_slowdown: Option<f64>,
    /// Requested options that are not in effect.
    pub refused: Vec<Refused>,
    /// Requested filters.
    pub filters: Vec<Filter>,
    /// Spans that a filter excluded: the kernel saw them, and they are not lost.
    pub spans_filtered: u64,
    /// Spans of tokens that were not to be captured.
    pub spans_gated: u64,
    /// One entry for each phase that has calls.
    pub coverage: Vec<PhaseCoverage>,
    /// Insertion and removal of operator probes, by process and time.
    pub switches: Vec<Switch>,
    /// Changes by the controller, by time.
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseCoverage {
    pub phase: Phase,
    pub coverage: Coverage,
}

/// An option that is not in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    pub option: &'static str,
    pub why: &'static str,
}

/// A filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Property that it tests.
    pub on: &'static str,
    /// What passes, as the user wrote it.
    pub text: String,
    /// Where it applies: `trap`, `kernel`, `agent` or `nowhere`.
    pub place: &'static str,
    /// Why it applies nowhere.
    pub refused: Option<&'static str>,
}

/// Insertion or removal of operator probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    pub pid: u32,
    /// Inserted.
    pub on: bool,
    pub reason: &'static str,
    /// ns.
    pub began_ns: u64,
    /// ns.
    pub done_ns: u64,
    pub probes: u16,
    /// Longest time for which this stopped the engine, ns.
    pub pause_ns: Option<u64>,
}

/// A change of the duty by the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// ns.
    pub at_ns: u64,
    /// Process whose tokens the controller measured.
    pub pid: u32,
    pub reason: &'static str,
    /// Limit: lowest speed, tokens per second.
    pub keep_above_per_s: Option<f64>,
    /// Limit: largest slowdown.
    pub max_slowdown: Option<f64>,
    /// Median speed of the last decode tokens.
    pub tokens_per_s: Option<f64>,
    /// Slowdown of all tokens by operator capture.
    pub slowdown: Option<f64>,
    /// Low end of its 95 % interval.
    pub low_slowdown: Option<f64>,
    pub high_slowdown: Option<f64>,
    /// 0 to 1.
    pub before_share: f64,
    /// 0 to 1; 0: no operators.
    pub after_share: f64,
}

const PERMILLE: f64 = 1e3;
const PPM: f64 = 1e6;

impl Capture {
    #[must_use]
    pub fn compute(model: &Model, coverage: &[Coverage; Phase::COUNT]) -> Self {
        let c = &model.capture;
        let left_out = model.health.ledger.unwrap_or_default();
        let of_phase = Phase::ALL.into_iter().zip(coverage).filter(|(_, coverage)| coverage.calls > 0);
        Self {
            duty_share: f64::from(c.duty_permille) / PERMILLE,
            ends: match c.ends {
                Ends::Both => "both",
                Ends::None => "none",
            },
            keep_above_per_s: c.keep_above_milli.map(per_s),
            max_slowdown: c.max_slowdown_ppm.map(|ppm| f64::from(ppm) / PPM),
            refused: c
                .refused
                .iter()
                .map(|(o, r)| Refused { option: option(*o), why: refusal(*r) })
                .collect(),
            filters: c.filters.iter().map(filter).collect(),
            spans_filtered: left_out.spans_filtered,
            spans_gated: left_out.spans_gated,
            coverage: of_phase.map(|(phase, c)| PhaseCoverage { phase, coverage: *c }).collect(),
            switches: model.duty.switches.iter().map(|s| switch(model, s)).collect(),
            steps: model.controller_steps.iter().map(|s| step(model, s)).collect(),
        }
    }

    /// No option, filter or duty excludes an operator.
    #[must_use]
    pub fn everything(&self) -> bool {
        let all = f64::from(ALWAYS) / PERMILLE;
        self.duty_share >= all
            && self.ends == "both"
            && self.filters.is_empty()
            && self.switches.is_empty()
            && self.steps.is_empty()
    }

    /// The coverage of a phase, if only some of its calls were traced.
    #[must_use]
    pub fn part(&self, phase: Phase) -> Option<&Coverage> {
        let of = self.coverage.iter().find(|c| c.phase == phase)?;
        of.coverage.partial().then_some(&of.coverage)
    }
}

fn per_s(milli: u32) -> f64 {
    f64::from(milli) / PERMILLE
}

fn since_start(model: &Model, at_ns: u64) -> u64 {
    at_ns.saturating_sub(model.session.start_ns)
}

fn filter(f: &model::Filter) -> Filter {
    Filter {
        on: filter_on(f.on),
        text: f.text.clone(),
        place: match f.place {
            FilterPlace::Trap => "trap",
            FilterPlace::Kernel => "kernel",
            FilterPlace::Agent => "agent",
            FilterPlace::Nowhere => "nowhere",
        },
        refused: f.refused.map(refusal),
    }
}

fn switch(model: &Model, s: &model::ProbeSwitch) -> Switch {
    Switch {
        pid: s.pid,
        on: s.on,
        reason: match s.reason {
            SwitchReason::Begin => "begin",
            SwitchReason::Duty => "duty",
            SwitchReason::Controller => "controller",
            SwitchReason::Filter => "filter",
            SwitchReason::End => "end",
        },
        began_ns: since_start(model, s.began_ns),
        done_ns: since_start(model, s.done_ns),
        probes: s.probes,
        pause_ns: s.pause_ns,
    }
}

fn step(model: &Model, s: &model::ControllerStep) -> Step {
    let (keep_above_per_s, max_slowdown) = match s.limit {
        ControllerLimit::KeepAbove(milli) => (Some(per_s(milli)), None),
        ControllerLimit::MaxSlowdown(ppm) => (None, Some(f64::from(ppm) / PPM)),
    };
    let ppm = |n: i32| f64::from(n) / PPM;
    Step {
        at_ns: since_start(model, s.at_ns),
        pid: s.pid,
        reason: match s.reason {
            StepReason::TooSlow => "too_slow",
            StepReason::FastEnough => "fast_enough",
            StepReason::TooDear => "too_dear",
            StepReason::CheapEnough => "cheap_enough",
        },
        keep_above_per_s,
        max_slowdown,
        tokens_per_s: s.speed_milli.map(per_s),
        slowdown: s.slowdown.map(|m| ppm(m.ppm)),
        low_slowdown: s.slowdown.map(|m| ppm(m.low_ppm)),
        high_slowdown: s.slowdown.map(|m| ppm(m.high_ppm)),
        before_share: f64::from(s.before_permille) / PERMILLE,
        after_share: f64::from(s.after_permille) / PERMILLE,
    }
}

/// Name of the property that a filter tests.
#[must_use]
pub const fn filter_on(on: FilterOn) -> &'static str {
    match on {
        FilterOn::Op => "op",
        FilterOn::Name => "name",
        FilterOn::Layer => "layer",
        FilterOn::Thread => "thread",
        FilterOn::Token => "token",
        FilterOn::Request => "request",
    }
}

const fn option(option: CaptureOption) -> &'static str {
    match option {
        CaptureOption::Duty => "duty",
        CaptureOption::Ends => "ends",
        CaptureOption::KeepAbove => "keep_above",
        CaptureOption::MaxSlowdown => "max_slowdown",
    }
}

const fn refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::NoOperators => "no_operators",
        Refusal::NoTokenCalls => "no_token_calls",
        Refusal::NotCallSites => "not_call_sites",
        Refusal::Counters => "counters",
        Refusal::Excluded => "excluded",
        Refusal::TooMuch => "too_much",
        Refusal::Unseen => "unseen",
        Refusal::Kernel => "kernel",
        Refusal::Unreadable => "unreadable",
    }
}
