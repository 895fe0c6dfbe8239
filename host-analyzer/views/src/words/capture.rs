//! The sentences about the capture: options, filters, the controller, shares of the tokens.

use super::{count, counted, duration, one_line, phase_name};
use profinfer_analysis::capture::{self, PhaseCoverage, Step, filter_on};
use profinfer_analysis::duty::{Coverage, Measured, MeasuredEdges, Slowdown};
use profinfer_analysis::op::OpType;
use profinfer_trace::model::{CaptureOption, Filter, FilterOn, FilterPlace, Refusal};

/// `from 40 of 400 tokens in 5 bursts`.
#[must_use]
pub fn from_part(c: &Coverage) -> String {
    format!("from {} of {} tokens in {}", count(c.traced), count(c.calls), counted(c.bursts, "burst"))
}

/// The tokens that the figures of operators come from.
#[must_use]
pub fn parts(parts: &[PhaseCoverage]) -> String {
    let of = |p: &PhaseCoverage| {
        let edge = match p.coverage.edge {
            0 => String::new(),
            n => format!(" ({} more at the edges of bursts are left out)", count(n)),
        };
        format!(
            "{} of {} {} calls{edge}",
            count(p.coverage.traced),
            count(p.coverage.calls),
            phase_name(p.phase)
        )
    };
    let parts: Vec<_> = parts.iter().map(of).collect();
    format!(
        "part: figures of operators come from {}; sums cover these only and are not scaled",
        parts.join(", ")
    )
}

/// The meaning of a span in a recording without ends.
pub const WITHOUT_ENDS: &str =
    "without ends: each time lasts until the next start and includes the wait after the operator";

/// A filter, as a note next to a table.
#[must_use]
pub fn only(f: &capture::Filter) -> String {
    format!("filter: only {} {}; everything else was left out and is not 0", on(f.on), one_line(&f.text))
}

/// Maximum number of doubtful types that are named.
const NAMED: usize = 4;

/// How much time its probe adds to each operator, and the types for which that is more than a tenth
/// of the median.
#[must_use]
pub fn bias(inside_ns: u64, types: &[OpType]) -> String {
    let mut names: Vec<&str> = types.iter().filter(|t| t.biased).map(|t| t.desc.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let named: Vec<_> = names.iter().take(NAMED).map(|name| one_line(name)).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let of = match names.len() {
        0 => String::new(),
        _ => format!(", more than a tenth of the median of {}{more}", named.join(", ")),
    };
    format!("the probes add {inside_ns} ns to each run{of}")
}

/// A share as a percentage with its sign: `+4.9 %`.
#[must_use]
pub fn signed_percent(part: f64) -> String {
    let decimals = if part.abs() < 0.01 { 2 } else { 1 };
    format!("{:+.decimals$} %", part * 100.0)
}

/// A measured slowdown.
#[must_use]
pub fn measured(m: &Measured) -> String {
    format!(
        "a traced decode token takes {} time ({} to {}, 95 %), all tokens {}: {} traced next to {} untraced tokens in {} bursts{}",
        signed_percent(m.slowdown),
        signed_percent(m.low),
        signed_percent(m.high),
        signed_percent(m.of_all_tokens),
        count(m.traced),
        count(m.untraced),
        count(m.bursts),
        m.edges.as_ref().map_or_else(String::new, at_edges)
    )
}

fn at_edges(e: &MeasuredEdges) -> String {
    format!(
        "; a token during which probes are placed or removed takes {} ({} to {}): {:.1} ms around each burst",
        signed_percent(e.slowdown),
        signed_percent(e.low),
        signed_percent(e.high),
        e.extra_ns / 1e6
    )
}

/// A slowdown in a few words; `None` if it is unknown.
#[must_use]
pub fn slowdown(s: &Slowdown) -> Option<String> {
    match s {
        Slowdown::Measured(m) => Some(format!(
            "decode slowed down by {} ({} to {}) while traced, {} overall: measured",
            signed_percent(m.slowdown),
            signed_percent(m.low),
            signed_percent(m.high),
            signed_percent(m.of_all_tokens)
        )),
        // The share is that of the ladder's step.
        Slowdown::Estimated { .. } => s.estimated_shares().map(|(traced, all)| {
            let of_all = format!("the probes took about {:.1} % of a token's time, an estimate", all * 100.0);
            if (traced - all).abs() < 1e-9 {
                of_all
            } else {
                format!("{of_all}; {:.1} % of a traced token's", traced * 100.0)
            }
        }),
        Slowdown::Unknown => None,
    }
}

/// A filter that is in force.
#[must_use]
pub fn filtered(f: &Filter) -> String {
    let paid = match f.place {
        FilterPlace::Trap => "other operators have no probe",
        FilterPlace::Kernel => "each other operator costs a probe hit",
        FilterPlace::Agent | FilterPlace::Nowhere => "each other operator costs a probe hit and a record",
    };
    format!("filter: only {} {}; {paid}", on(filter_on(f.on)), one_line(&f.text))
}

/// What a filter selects by; `on` is the name in the data.
fn on(on: &str) -> &'static str {
    match on {
        "op" => "operators of type",
        "name" => "nodes named",
        "layer" => "operators of layer",
        "thread" => "operators on thread",
        "token" => "operators of decode token",
        _ => "operators of request",
    }
}

/// A filter that is not in force.
#[must_use]
pub fn filter_refused(f: &Filter, why: Refusal) -> String {
    format!("not in force: {} {}: {}", option(f.on), one_line(&f.text), refusal(why))
}

/// The agent's option that sets a filter.
const fn option(on: FilterOn) -> &'static str {
    match on {
        FilterOn::Op => "--only-op",
        FilterOn::Name => "--only-name",
        FilterOn::Layer => "--only-layers",
        FilterOn::Thread => "--only-threads",
        FilterOn::Token => "--tokens",
        FilterOn::Request => "--requests",
    }
}

/// An option that is not in force.
#[must_use]
pub fn option_refused(option: CaptureOption, why: Refusal) -> String {
    let option = match option {
        CaptureOption::Duty => "--duty",
        CaptureOption::Ends => "--ends none",
        CaptureOption::KeepAbove => "--keep-above",
        CaptureOption::MaxSlowdown => "--max-slowdown",
    };
    format!("not in force: {option}: {}", refusal(why))
}

const fn refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::NoOperators => "no operators are captured. Record the operator level (--levels all)",
        Refusal::NoTokenCalls => "the engine has no decode calls that can be probed",
        Refusal::NotCallSites => {
            "in this build, only the ends distinguish operators from calls that do nothing"
        }
        Refusal::Counters => "counters need both ends of an operator. Leave out the counters",
        Refusal::Excluded => "another option excludes it",
        Refusal::TooMuch => "it exceeds the agent's limit: 16 parts of 64 bytes",
        Refusal::Unseen => "it cannot be observed from outside the engine",
        Refusal::Kernel => "the kernel refused what it needs",
        Refusal::Unreadable => "it could not be read. Check its spelling",
    }
}

/// Maximum number of steps in a sentence; all are in summary.json.
const SHOWN: usize = 4;

/// What the controller changed.
#[must_use]
pub fn steps(steps: &[Step]) -> String {
    let shown: Vec<_> = steps.iter().take(SHOWN).map(step).collect();
    let more = match steps.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!("; and {} more", count(n as u64)),
    };
    let changes = counted(steps.len() as u64, "change");
    format!("controller: {changes} of the duty: {}{more}", shown.join("; "))
}

/// One change: `at 12.3 s to 10 % from 100 %: 4.20 t/s, below 5.00`.
#[must_use]
pub fn step(s: &Step) -> String {
    let share = |part: f64| format!("{:.0} %", part * 100.0);
    format!(
        "at {} to {} from {}: {}",
        duration(s.at_ns),
        share(s.after_share),
        share(s.before_share),
        reason(s)
    )
}

/// The speed or the slowdown that caused a change, with its limit.
#[must_use]
pub fn reason(s: &Step) -> String {
    let unknown = || "unknown".to_owned();
    if let Some(limit) = s.keep_above_per_s {
        let side = if s.reason == "too_slow" { "below" } else { "above" };
        let speed = s.tokens_per_s.map_or_else(unknown, |v| format!("{v:.2} t/s"));
        return format!("{speed}, {side} {limit:.2}");
    }
    let side = if s.reason == "too_dear" { "above" } else { "below" };
    let limit = s.max_slowdown.map_or_else(unknown, |v| format!("{:.2} %", v * 100.0));
    format!("slowdown {}, {side} {limit}", s.slowdown.map_or_else(unknown, signed_percent))
}
