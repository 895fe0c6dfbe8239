//! The sentences of health: what happened, how much of it, what to do.

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
            "error: the agent ended with an error; its terminal or the probes below say which".into()
        }
        Remark::Dropped { of, reason, n, seen, bytes } => dropped(*of, reason, *n, *seen, *bytes),
        Remark::MetLate(late) => format!(
            "late: process {} was met {:.0} ms after its program began, when its engine was loaded already: its first calls may be \
             missing. Start engines one after the other, or let the agent start them",
            late.pid,
            late.after_ns as f64 / 1e6
        ),
        Remark::RingStalled(s) => format!(
            "stalled: the agent could not read the ring buffer {} times, up to {:.1} ms, because a thread was preempted while it \
             wrote a record; part of what is counted as \"ring buffer was full\" was lost during that time",
            count(s.count),
            s.longest_ns as f64 / 1e6
        ),
        Remark::TotalsMissing { of, received } => totals_missing(*of, *received),
        Remark::NotHere { of, n, seen } => not_here(*of, *n, *seen),
        Remark::NotBalanced(of) => {
            format!("unsound: the agent's own totals{} do not add up; {REPORT}", totals_of(*of))
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
            "damaged: {} of {} graph topologies arrived in part; their lost tensors have no name here",
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
            format!("off: the {} level, as asked", names.join(" and the "))
        }
        Remark::NothingSeen(level) => format!(
            "nothing seen: no event of the {} level. The engine computed nothing while the probes were attached, \
             or computes elsewhere",
            level.name()
        ),
        Remark::Edge { of, when, n } => edge(*of, *when, *n),
        Remark::OptionRefused(option, why) => capture::option_refused(*option, *why),
        Remark::FilterRefused { filter, why } => capture::filter_refused(filter, *why),
        Remark::Filtered(filter) => capture::filtered(filter),
        Remark::LeftOut { spans } => {
            format!("left out: {} operator spans, as the filters ask; they are not lost", count(*spans))
        }
        Remark::WithoutEnds => "without ends: an operator's time goes on to the next start, with the wait behind it in it; no wait is \
                                known"
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
        Of::Sched => "events of the scheduler",
        Of::Parts => "sequences of tokens in batches",
    }
}

/// Totals without a word more are those of the spans, which every session has.
const fn totals_of(of: Of) -> &'static str {
    match of {
        Of::Spans => "",
        Of::Nested => " of nested calls",
        Of::Experts => " of experts",
        Of::Sched => " of the scheduler level",
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
        "skipped: {} records of kinds that this analyze does not know ({}{more}), first at byte {}: the agent is newer; all else is read. \
         Take the analyze of the agent's version to see them",
        count(n),
        named.join(", "),
        count(first_offset),
    )
}

fn totals_missing(of: Of, received: u64) -> String {
    match of {
        Of::Spans => "unknown: the agent's totals did not arrive, so what it dropped cannot be told".into(),
        Of::Nested => format!("unknown: the totals of {} nested calls did not arrive", count(received)),
        Of::Sched => {
            format!("unknown: the totals of {} events of the scheduler did not arrive", count(received))
        }
        Of::Parts => {
            format!("unknown: the totals of batches did not arrive, of {} tokens that did", count(received))
        }
        Of::Experts => {
            "unknown: the agent's totals of experts did not arrive, so what it dropped of them cannot be told"
                .into()
        }
    }
}

fn not_here(of: Of, n: u64, seen: u64) -> String {
    match of {
        Of::Spans => format!(
            "lost: {} operator spans that the kernel saw are neither here nor counted as dropped",
            count(n)
        ),
        Of::Nested => format!("lost: {} nested calls that the agent sent are not here", count(n)),
        Of::Sched => format!("lost: {} events of the scheduler that the agent sent are not here", count(n)),
        Of::Parts => format!(
            "lost: the sequences of {} tokens in batches, which the agent sent, are not here",
            count(n)
        ),
        Of::Experts => format!("lost: {} were sent and did not arrive", part(n, seen, name(of))),
    }
}

fn too_many(of: Of) -> String {
    let (what, by) = match of {
        Of::Spans => (name(of), "the kernel saw"),
        Of::Nested | Of::Sched | Of::Parts => (name(of), "the agent sent"),
        Of::Experts => ("selections of experts", "the agent sent"),
    };
    format!("unsound: more {what} are here than {by}; {REPORT}")
}

fn incomplete(n: u64, counted: bool) -> String {
    let known = if counted { ", counted above as well" } else { "" };
    format!(
        "incomplete: {} selections of an expert are missing in graph calls of which others came{known}. Figures of \
         experts leave out every layer of a call that is not whole",
        count(n)
    )
}

const fn advice(kind: DamageKind) -> &'static str {
    match kind {
        DamageKind::Hello => {
            "the first bytes were changed on the way. A console rewrites line ends: use a raw line (stty raw), or \
             `adb exec-out` in place of `adb shell`"
        }
        DamageKind::Overlong | DamageKind::Cobs | DamageKind::Short | DamageKind::Length => {
            "bytes were lost or changed on the way. Other programs must not write to the same line; check cable and \
             speed, or use TCP"
        }
        DamageKind::Checksum => {
            "bytes were changed on the way: noise on the line. Check the cable, lower the speed, or use TCP"
        }
        DamageKind::Gap => "frames were lost on the way. Check cable and flow control, or use TCP",
        DamageKind::Repeated => "the link sent bytes twice or out of order; what came again was left out",
        DamageKind::Malformed => {
            "the frame is whole and its contents are not: use agent and analyze of the same version"
        }
        DamageKind::UnknownKind => "the agent is newer than this analyze: use the same version of both",
        DamageKind::Unresolved => "what they refer to was lost, so they are not shown",
    }
}

fn cut_short(bytes: u64, cut_bytes: u64) -> String {
    let frame = match cut_bytes {
        0 => String::new(),
        n => format!(", the last {} of them of a frame that is not whole", count(n)),
    };
    format!(
        "cut short: the stream stops after {} bytes without an end{frame}. The link broke, or the agent was killed: \
         stop it with Ctrl-C once and wait",
        count(bytes)
    )
}

fn piece(number: u32, goes_on: bool) -> String {
    let rest = if goes_on { "; another one follows" } else { "" };
    format!(
        "piece: this is number {number} of a recording in pieces, read alone{rest}. Totals are of the whole session; \
         `analyze FOLDER` joins the pieces"
    )
}

fn not_attached(level: Option<Level>, missing: usize, all: usize, first: &Probe) -> String {
    let name = level.map_or("unknown", Level::name);
    let whole = match all == missing {
        true => format!("not attached: nothing of the {name} level"),
        false => format!("not attached: {missing} of {all} probes of the {name} level"),
    };
    let others = match missing {
        1 => String::new(),
        n => format!("; and {} more", n - 1),
    };
    // A function that no file has is in no file.
    let file = match first.library.is_empty() {
        true => String::new(),
        false => format!(" in {}", one_line(&first.library)),
    };
    let [what, symbol, note] = [&first.what, &first.symbol, &first.note].map(|text| one_line(text));
    format!("{whole}: {what} at {symbol}{file}: {note}{others}")
}

fn complete(spans: u64, calls: u64, experts: u64) -> String {
    let what = match spans {
        0 => format!("{} token calls", count(calls)),
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
        Absence::Mixed => "their thread went to a core of another type in the middle",
        Absence::Multiplexed => {
            "somebody else used the counters too. End other profilers, or count fewer events"
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
        Of::Parts => "batches",
    };
    let when = match when {
        When::Started => "the probes were attached or the session ended",
        When::Ended => "the session ended",
    };
    format!("edge: {} {who} were running when {when}", count(n))
}
