//! What of the operators was captured: options and filters in force, when probes were switched, and what the controller changed.
//!
//! Stage: analysis. From: the capture's tables, the ledger of what was left out, which calls were traced. To: [`Capture`], with the names
//! that data has for each. Times are from the start of the session.

use super::duty::Coverage;
use crate::shared::phase::Phase;
use profinfer_trace::model::{
    self, ALWAYS, CaptureOption, ControllerLimit, Ends, FilterOn, FilterPlace, Model, Refusal, StepReason,
    SwitchReason,
};

/// Capture of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// Share of the token calls whose operators were to be captured, 0 to 1.
    pub duty_share: f64,
    /// Which edges of an operator had a probe: `both` or `none`. With `none` the time of an operator has the wait behind it in it.
    pub ends: &'static str,
    /// Speed that the controller kept, tokens per second.
    pub keep_above_per_s: Option<f64>,
    /// Slowdown of all tokens that the controller kept; 0.01 is 1 %.
    pub max_slowdown: Option<f64>,
    /// Options that were asked for and are not in force.
    pub refused: Vec<Refused>,
    /// Filters that were asked for.
    pub filters: Vec<Filter>,
    /// Spans that a filter left out: seen by the kernel, and not lost.
    pub spans_filtered: u64,
    /// Spans of tokens that were not to be captured.
    pub spans_gated: u64,
    /// Of the phases that have token calls.
    pub coverage: Vec<PhaseCoverage>,
    /// When operator probes were put in or taken out, by process and time.
    pub switches: Vec<Switch>,
    /// What the controller changed, by time.
    pub steps: Vec<Step>,
}

/// Of how many calls of a phase operators are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseCoverage {
    /// Phase.
    pub phase: Phase,
    /// Calls.
    pub coverage: Coverage,
}

/// An option that is not in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The option.
    pub option: &'static str,
    /// Why.
    pub why: &'static str,
}

/// A filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// What it looks at.
    pub on: &'static str,
    /// What passes, as it was given.
    pub text: String,
    /// Where it works: `trap`, `kernel`, `agent` or `nowhere`.
    pub place: &'static str,
    /// Why it works nowhere.
    pub refused: Option<&'static str>,
}

/// Operator probes were put in or taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// Process.
    pub pid: u32,
    /// Put in.
    pub on: bool,
    /// Why.
    pub reason: &'static str,
    /// It began, ns.
    pub began_ns: u64,
    /// It was done, ns.
    pub done_ns: u64,
    /// Probes.
    pub probes: u16,
    /// Longest time for which the engine stood still for it, ns.
    pub pause_ns: Option<u64>,
}

/// A change of the duty by the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// When, ns.
    pub at_ns: u64,
    /// Process that was measured.
    pub pid: u32,
    /// Why.
    pub reason: &'static str,
    /// The limit: a speed not to fall under, tokens per second.
    pub keep_above_per_s: Option<f64>,
    /// The limit: a slowdown not to exceed.
    pub max_slowdown: Option<f64>,
    /// Median speed of the last decode tokens.
    pub tokens_per_s: Option<f64>,
    /// What operators cost all tokens.
    pub slowdown: Option<f64>,
    /// Low end of its interval of 95 %.
    pub low_slowdown: Option<f64>,
    /// High end.
    pub high_slowdown: Option<f64>,
    /// Duty before, 0 to 1.
    pub before_share: f64,
    /// From here on; 0: no operators.
    pub after_share: f64,
}

const PERMILLE: f64 = 1e3;
const PPM: f64 = 1e6;

impl Capture {
    /// The capture of a session.
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

    /// Nothing was asked for that leaves anything out.
    #[must_use]
    pub fn everything(&self) -> bool {
        let all = f64::from(ALWAYS) / PERMILLE;
        self.duty_share >= all
            && self.ends == "both"
            && self.filters.is_empty()
            && self.switches.is_empty()
            && self.steps.is_empty()
    }

    /// The coverage of a phase of which only a part of the calls was traced.
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

/// The name of what a filter looks at.
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
