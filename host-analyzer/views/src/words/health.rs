//! The sentences about the health of a recording: what happened, how often, what to do.

use super::{accelerator, capture, count, one_line};
use profinfer_analysis::health::{Health, Of, Remark};
use profinfer_trace::model::totals::{Lost, Reason, When};
use profinfer_trace::model::{Absence, DamageKind, Level, Probe, RefusedPlan, Skipped};

/// All sentences, worst first.
#[must_use]
pub fn lines(health: &Health) -> Vec<String> {
    health.remarks.iter().map(line).collect()
}

/// The agent's reason in one text, as the agent prints it.
#[must_use]
pub fn refused(plan: &RefusedPlan) -> String {
    let RefusedPlan { tried, answer, help } = plan;
    let tried = if tried.is_empty() { String::new() } else { format!("{tried}: ") };
    let help = if help.is_empty() { String::new() } else { format!("\n  help: {help}") };
    format!("{tried}{answer}{help}")
}

/// The sentence of one remark.
#[must_use]
pub fn line(remark: &Remark) -> String {
    match remark {
        Remark::Ending(e) => super::ending::sentence(e).unwrap_or_default(),
        Remark::Refused(plan) => {
            format!("refused: the agent could not carry out the plan: {}", one_line(&refused(plan)))
        }
        Remark::AgentError => {
            "error: the agent ended with an error; its terminal or the probes below show which".into()
        }
        Remark::Dropped { of, reason, n, seen, bytes } => dropped(*of, reason, *n, *seen, *bytes),
        Remark::LargeGraph(nodes) => {
            format!("large graph: the largest graph without operators has {} nodes", count(*nodes))
        }
        Remark::MetLate(late) => format!(
            "late: the agent found process {} {:.0} ms after its program began, when the engine was already loaded. The first \
             calls may be missing. Start engines one after the other, or let the agent start them",
            late.pid,
            late.after_ns as f64 / 1e6
        ),
        Remark::RingStalled(s) => format!(
            "stalled: the agent could not read the ring buffer {} times, for up to {:.1} ms: a thread was preempted while it \
             wrote a record. Part of the loss counted as \"ring buffer was full\" happened during that time",
            count(s.count),
            s.longest_ns as f64 / 1e6
        ),
        Remark::TotalsMissing { of, received } => totals_missing(*of, *received),
        Remark::NotHere { of, n, seen } => not_here(*of, *n, *seen),
        Remark::NotBalanced(of) => {
            format!("inconsistent: the agent's totals{} do not add up; {REPORT}", totals_of(*of))
        }
        Remark::TooMany(of) => too_many(*of),
        Remark::Incomplete { n, counted } => incomplete(*n, *counted),
        Remark::Damaged { kind, n, first_offset } => format!(
            "damaged: {}, {} times, first at byte {}: {}",
            kind.name(),
            count(*n),
            count(*first_offset),
            advice(*kind)
        ),
        Remark::Skipped { kinds, n, first_offset } => skipped(kinds, *n, *first_offset),
        Remark::PartialTopologies { n, all } => format!(
            "damaged: {} of {} graph topologies arrived incomplete; their lost tensors have no name here",
            count(*n),
            count(*all)
        ),
        Remark::CutShort { bytes, cut_bytes } => cut_short(*bytes, *cut_bytes),
        Remark::Piece { number, goes_on } => piece(*number, *goes_on),
        Remark::NotAttached { level, missing, all, first } => not_attached(*level, *missing, *all, first),
        Remark::Probed(probes) => super::direct::line(probes),
        Remark::Complete { spans, calls, experts } => complete(*spans, *calls, *experts),
        Remark::CounterOff { name, pmu, note } => {
            let pmu = if pmu.is_empty() { "no PMU" } else { pmu };
            format!("not counted: {} ({}): {}", one_line(name), one_line(pmu), one_line(note))
        }
        Remark::Uncounted { reason, n, all } => {
            format!("not counted: {}: {}", part(*n, *all, "operator spans"), absence(*reason))
        }
        Remark::Off(levels) => {
            let names: Vec<_> = levels.iter().map(|l| l.name()).collect();
            format!("off: the {} level, as requested", names.join(" and the "))
        }
        Remark::NothingSeen { level, cut: true } => {
            format!("no events: nothing of the {} level had arrived where the stream stops", level.name())
        }
        Remark::NothingSeen { level, cut: false } => format!(
            "no events: nothing was recorded at the {} level. The engine computed nothing while the probes were \
             attached, or computes elsewhere",
            level.name()
        ),
        Remark::CallsNotSeen => "no token calls: graphs were computed, but none of the probed functions that compute tokens ran. The \
                                 program is not llama.cpp, or it has no symbols and calls others (llama_process, since 0.6.0). \
                                 Each outermost graph that is in no call counts as one instead"
            .into(),
        Remark::Edge { of, when, n } => edge(*of, *when, *n),
        Remark::OptionRefused(option, why) => capture::option_refused(*option, *why),
        Remark::FilterRefused { filter, why } => capture::filter_refused(filter, *why),
        Remark::Filtered(filter) => capture::filtered(filter),
        Remark::LeftOut { spans } => {
            format!("left out: {} operator spans, by the filters; they are not lost", count(*spans))
        }
        Remark::WithoutEnds => "without ends: an operator's time lasts until the next start and includes the wait after it; waits \
                                are unknown"
            .into(),
        Remark::PartOfTokens(parts) => capture::parts(parts),
        Remark::AcceleratorProfile(profile) => accelerator::line(profile),
        Remark::Slowdown(m) => format!("slowdown, measured: {}", capture::measured(m)),
        Remark::Controller(steps) => capture::steps(steps),
    }
}

const REPORT: &str = "please report this";

const fn name(of: Of) -> &'static str {
    match of {
        Of::Spans => "operator spans",
        Of::Nested => "nested calls",
        Of::Experts => "selections of an expert",
        Of::Sched => "scheduler events",
        Of::CpuUse => "windows of the CPUs' use",
        Of::Parts => "sequences of tokens in batches",
    }
}

/// Without a suffix, totals are those of the spans, which every session has.
const fn totals_of(of: Of) -> &'static str {
    match of {
        Of::Spans => "",
        Of::Nested => " of nested calls",
        Of::Experts => " of experts",
        Of::Sched => " of the scheduler level",
        Of::CpuUse => " of the CPUs' use",
        Of::Parts => " of batches",
    }
}

/// `5 of 40 operator spans (12.50 %)`.
fn part(n: u64, of: u64, what: &str) -> String {
    format!("{} of {} {what} ({})", count(n), count(of), percent(n, of))
}

fn percent(n: u64, of: u64) -> String {
    match of {
        0 => "all".into(),
        _ => format!("{:.2} %", n as f64 * 100.0 / of as f64),
    }
}

fn dropped(of: Of, reason: &Reason, n: u64, seen: u64, bytes: Option<u64>) -> String {
    let what = match reason.what {
        Lost::Events => part(n, seen, name(of)),
        Lost::Other(what) => format!("{} {what}", count(n)),
    };
    let bytes = bytes.map_or(String::new(), |b| format!(" ({} bytes)", count(b)));
    format!("dropped: {what}: {}{bytes}", reason.why)
}

fn skipped(kinds: &[Skipped], n: u64, first_offset: u64) -> String {
    let named: Vec<_> = kinds.iter().map(|s| format!("{:#04x}: {}", s.kind, count(s.count))).collect();
    let more = if n > kinds.iter().map(|s| s.count).sum() { ", and others" } else { "" };
    format!(
        "skipped: {} records of unknown kinds ({}{more}), first at byte {}: the agent is newer than this analyze. Everything \
         else is read. Use the analyze of the agent's version to see them",
        count(n),
        named.join(", "),
        count(first_offset),
    )
}

fn totals_missing(of: Of, received: u64) -> String {
    match of {
        Of::Spans => "unknown: the agent's totals did not arrive, so its drops are unknown".into(),
        Of::Nested => format!("unknown: the totals of {} nested calls did not arrive", count(received)),
        Of::Sched => {
            format!("unknown: the totals of {} scheduler events did not arrive", count(received))
        }
        Of::CpuUse => {
            format!("unknown: the totals of {} windows of the CPUs' use did not arrive", count(received))
        }
        Of::Parts => {
            format!("unknown: the totals of batches did not arrive; {} of their tokens did", count(received))
        }
        Of::Experts => {
            "unknown: the agent's totals of experts did not arrive, so its drops of experts are unknown"
                .into()
        }
    }
}

fn not_here(of: Of, n: u64, seen: u64) -> String {
    match of {
        Of::Spans => format!(
            "lost: {} operator spans that the kernel saw were neither received nor counted as dropped",
            count(n)
        ),
        Of::Nested => format!("lost: {} nested calls that the agent sent were not received", count(n)),
        Of::Sched => format!("lost: {} scheduler events that the agent sent were not received", count(n)),
        Of::CpuUse => {
            format!("lost: {} windows of the CPUs' use that the agent sent were not received", count(n))
        }
        Of::Parts => format!(
            "lost: the sequences of {} tokens in batches, which the agent sent, were not received",
            count(n)
        ),
        Of::Experts => format!("lost: {} were sent and not received", part(n, seen, name(of))),
    }
}

fn too_many(of: Of) -> String {
    let (what, by) = match of {
        Of::Spans => (name(of), "the kernel saw"),
        Of::Nested | Of::Sched | Of::CpuUse | Of::Parts => (name(of), "the agent sent"),
        Of::Experts => ("selections of experts", "the agent sent"),
    };
    format!("inconsistent: received more {what} than {by}; {REPORT}")
}

fn incomplete(n: u64, counted: bool) -> String {
    let known = if counted { ", counted above as well" } else { "" };
    format!(
        "incomplete: {} selections of an expert are missing in graph calls that have others{known}. Figures of experts \
         leave out each layer of a call that is incomplete",
        count(n)
    )
}

const fn advice(kind: DamageKind) -> &'static str {
    match kind {
        DamageKind::Hello => {
            "the first bytes were changed in transit. A console rewrites line ends: use a raw line (stty raw), or \
             `adb exec-out` instead of `adb shell`"
        }
        DamageKind::Overlong | DamageKind::Cobs | DamageKind::Short | DamageKind::Length => {
            "bytes were lost or changed in transit. No other program may write to the same line; check cable and \
             speed, or use TCP"
        }
        DamageKind::Checksum => {
            "bytes were changed in transit: noise on the line. Check the cable, lower the speed, or use TCP"
        }
        DamageKind::Gap => "frames were lost in transit. Check cable and flow control, or use TCP",
        DamageKind::Repeated => "the link sent bytes twice or out of order; the repeated bytes are ignored",
        DamageKind::Malformed => {
            "the frame is intact but its contents are not: use agent and analyze of the same version"
        }
        DamageKind::UnknownKind => "the agent is newer than this analyze: use the same version of both",
        DamageKind::Unresolved => "they refer to lost data, so they are not shown",
    }
}

fn cut_short(bytes: u64, cut_bytes: u64) -> String {
    let frame = match cut_bytes {
        0 => String::new(),
        n => format!(", the last {} of them in an incomplete frame", count(n)),
    };
    format!(
        "cut short: the stream stops after {} bytes without an end{frame}. The link broke, or the agent was killed. \
         To stop it, press Ctrl-C once and wait",
        count(bytes)
    )
}

fn piece(number: u32, goes_on: bool) -> String {
    let rest = if goes_on { "; another one follows" } else { "" };
    format!(
        "piece: this is number {number} of a recording in pieces, read alone{rest}. Totals are those of the complete \
         session; `analyze FOLDER` joins the pieces"
    )
}

fn not_attached(level: Option<Level>, missing: usize, all: usize, first: &Probe) -> String {
    let name = level.map_or("unknown", Level::name);
    let which = match all == missing {
        true => format!("not attached: nothing of the {name} level"),
        false => format!("not attached: {missing} of {all} probes of the {name} level"),
    };
    let others = match missing {
        1 => String::new(),
        n => format!("; and {} more", n - 1),
    };
    // A function that was not found has no file.
    let file = match first.library.is_empty() {
        true => String::new(),
        false => format!(" in {}", one_line(&first.library)),
    };
    let [what, symbol, note] = [&first.what, &first.symbol, &first.note].map(|text| one_line(text));
    format!("{which}: {what} at {symbol}{file}: {note}{others}")
}

fn complete(spans: u64, calls: u64, experts: u64) -> String {
    let what = match spans {
        0 => format!("{} decode calls", count(calls)),
        n => format!("{} spans", count(n)),
    };
    let experts = match experts {
        0 => String::new(),
        n => format!(", {} selections of an expert", count(n)),
    };
    format!("complete: {what}{experts}, nothing lost")
}

const fn absence(reason: Absence) -> &'static str {
    match reason {
        Absence::Unread => "the kernel did not read them",
        Absence::Mixed => "their thread moved to a core of another type in the middle",
        Absence::Multiplexed => {
            "another program used the counters too. End other profilers, or count fewer events"
        }
        Absence::Torn => "their thread lost its CPU while the counters were read",
    }
}

fn edge(of: Of, when: When, n: u64) -> String {
    let who = match of {
        Of::Spans => "operators",
        Of::Nested => "nested calls",
        Of::Experts => "selections",
        Of::Sched => "threads",
        Of::CpuUse => "windows",
        Of::Parts => "batches",
    };
    let when = match when {
        When::Started => "the probes were attached or the session ended",
        When::Ended => "the session ended",
    };
    format!("partial: {} {who} were in progress when {when}", count(n))
}
