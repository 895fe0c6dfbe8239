//! The sentences of health: what happened, how much of it, what to do. Worst first.

use super::expert_lines;
use super::health::Health;
use super::words::{count, one_line};
use crate::model::counter::why;
use crate::model::{Counter, DamageKind, EndReason, Level, Model, Probe};

/// All sentences; a single one when there is nothing to report.
pub(super) fn lines(model: &Model, health: &Health) -> Vec<String> {
    let mut lines = Vec::new();
    refused(model, &mut lines);
    dropped(health, &mut lines);
    nested_dropped(model, &mut lines);
    expert_lines::lost(model, health, &mut lines);
    damaged(model, health, &mut lines);
    cut_short(model, health, &mut lines);
    unaccounted(model, health, &mut lines);
    probes(model, &mut lines);
    if health.perfect {
        let what = match health.spans.received {
            0 => format!("{} token-level calls", count(model.decodes.len() as u64)),
            n => format!("{} spans", count(n)),
        };
        let experts = expert_lines::complete(health);
        lines.push(format!("complete: {what}{experts}, nothing lost"));
    }
    counters(model, &mut lines);
    levels(model, &mut lines);
    edges(model, health, &mut lines);
    lines
}

fn refused(model: &Model, lines: &mut Vec<String>) {
    if let Some(reason) = &model.health.refused {
        lines.push(format!("refused: the agent could not carry out the plan: {}", one_line(reason)));
    }
    if model.health.end.is_some_and(|e| e.reason == EndReason::Error) {
        lines.push("error: the agent ended with an error; its terminal or the probes below say which".into());
    }
}

fn dropped(health: &Health, lines: &mut Vec<String>) {
    let Some(d) = health.dropped else { return };
    let kernel = health.spans.kernel.unwrap_or(0);
    let mut line = |n: u64, what: &str, why: &str| {
        if n > 0 {
            lines.push(format!("dropped: {} {what}: {why}", count(n)));
        }
    };
    let of = |n: u64| format!("of {} operator spans ({})", count(kernel), percent(n, kernel));
    line(
        d.ring_full,
        &of(d.ring_full),
        "the kernel's ring buffer was full. Leave the agent some CPU time (one inference thread less), or record \
         fewer levels (--levels token,graph)",
    );
    line(
        d.queue_full,
        &of(d.queue_full),
        "the link is slower than the trace. Record into a file on the board, take a faster link, or record fewer \
         levels (--levels token,graph)",
    );
    line(
        d.no_graph,
        &of(d.no_graph),
        "the topology of their graph is not known, because they ran before it was read or it could not be read. \
         Let the agent start the engine to see it from the first graph on",
    );
    line(
        d.no_state,
        "probe hits",
        "the kernel had no room for the state of more threads. Trace one process at a time",
    );
    line(
        d.calls,
        "token-level or graph-level calls",
        "the kernel's ring buffer was full. Times per call and TPOT may miss them; leave the agent some CPU time",
    );
    line(
        d.tensors,
        "parts of graph topologies",
        "the kernel's ring buffer was full. They were read again at the next call of the graph",
    );
    line(d.frames, "frames", &format!("the queue to the link was full ({} bytes)", count(d.frame_bytes)));
}

/// Nested calls that were lost, wherever it was: of them there is one sentence for each place.
fn nested_dropped(model: &Model, lines: &mut Vec<String>) {
    let received = model.health.nested_received;
    let Some(l) = model.health.nested else {
        if received > 0 {
            lines.push(format!("unknown: the totals of {} nested calls did not arrive", count(received)));
        }
        return;
    };
    let mut line = |n: u64, why: &str| {
        if n > 0 {
            let of = format!("of {} nested calls ({})", count(l.ends), percent(n, l.ends));
            lines.push(format!("dropped: {} {of}: {why}", count(n)));
        }
    };
    line(
        l.ring_full,
        "the kernel's ring buffer was full. Leave the agent some CPU time (one inference thread less)",
    );
    line(
        l.queue_full,
        "the link is slower than the trace. Record into a file on the board, or take a faster link",
    );
    line(l.no_graph, "it is not known in which operator they were");
    if model.health.end.is_none() {
        return;
    }
    if !l.balances() {
        lines
            .push("unsound: the agent's own totals of nested calls do not add up; please report this".into());
    } else if l.sent > received {
        lines.push(format!(
            "lost: {} nested calls that the agent sent are not here",
            count(l.sent - received)
        ));
    } else if l.sent < received {
        lines.push("unsound: more nested calls are here than the agent sent; please report this".into());
    }
}

fn damaged(model: &Model, health: &Health, lines: &mut Vec<String>) {
    let dropped_frames = health.dropped.map_or(0, |d| d.frames);
    for d in &model.health.damage {
        // Frames dropped at the agent's queue leave the same gap in the numbers, and are named already.
        let n = match d.kind {
            DamageKind::Gap => d.count.saturating_sub(dropped_frames),
            _ => d.count,
        };
        if n > 0 {
            lines.push(format!(
                "damaged: {}, {} times, first at byte {}: {}",
                d.kind.name(),
                count(n),
                count(d.first_offset),
                advice(d.kind)
            ));
        }
    }
    let incomplete = model.topologies.rows.iter().filter(|s| !s.complete).count() as u64;
    if incomplete > 0 {
        lines.push(format!(
            "damaged: {} of {} graph topologies arrived in part; their lost tensors have no name here",
            count(incomplete),
            count(model.topologies.rows.len() as u64)
        ));
    }
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

fn cut_short(model: &Model, health: &Health, lines: &mut Vec<String>) {
    if health.cut_short && model.health.refused.is_none() {
        let frame = match model.health.cut_bytes {
            0 => String::new(),
            n => format!(", the last {} of them of a frame that is not whole", count(n)),
        };
        lines.push(format!(
            "cut short: the stream stops after {} bytes without an end{frame}. The link broke, or the agent was killed: \
             stop it with Ctrl-C once and wait",
            count(model.health.bytes)
        ));
    }
    if model.health.ledger.is_none() && model.health.refused.is_none() {
        lines.push("unknown: the agent's totals did not arrive, so what it dropped cannot be told".into());
    }
}

fn unaccounted(model: &Model, health: &Health, lines: &mut Vec<String>) {
    let Some(ledger) = model.health.ledger else { return };
    if let Some(n) = health.spans.unaccounted.filter(|n| *n > 0) {
        lines.push(format!(
            "lost: {} operator spans that the kernel saw are neither here nor counted as dropped",
            count(n.unsigned_abs())
        ));
    }
    // While a session runs, spans may be between the kernel and the queue, and more may come after the last totals;
    // at its end neither is so.
    if !health.cut_short && !ledger.balances() {
        lines.push("unsound: the agent's own totals do not add up; please report this".into());
    } else if !health.cut_short && health.spans.unaccounted.is_none_or(|n| n < 0) {
        lines.push("unsound: more operator spans are here than the kernel saw; please report this".into());
    }
}

fn probes(model: &Model, lines: &mut Vec<String>) {
    for level in Level::ALL.map(Some).into_iter().chain([None]) {
        let of_level = || model.session.probes.iter().filter(|p| p.level == level);
        let missing: Vec<&Probe> = of_level().filter(|p| !p.attached).collect();
        let Some(first) = missing.first() else { continue };
        let name = level.map_or("unknown", Level::name);
        let whole = match of_level().count() == missing.len() {
            true => format!("not attached: nothing of the {name} level"),
            false => format!(
                "not attached: {} of {} probes of the {name} level",
                missing.len(),
                of_level().count()
            ),
        };
        let others = match missing.len() {
            1 => String::new(),
            n => format!("; and {} more", n - 1),
        };
        // A function that no file has is in no file.
        let place = match first.library.is_empty() {
            true => String::new(),
            false => format!(" in {}", one_line(&first.library)),
        };
        lines.push(format!(
            "{whole}: {} at {}{place}: {}{others}",
            one_line(&first.what),
            one_line(&first.symbol),
            one_line(&first.note)
        ));
    }
}

/// Counters that do not count, and spans for which those that do cannot be told.
fn counters(model: &Model, lines: &mut Vec<String>) {
    let all = &model.session.counters;
    // A profile for many boards asks for types of core that this one has not: what became of the counter on the
    // cores that it has is enough.
    let elsewhere =
        |c: &Counter| c.cpus.is_empty() && all.iter().any(|o| o.name == c.name && !o.cpus.is_empty());
    for c in all.iter().filter(|c| !c.attached && !elsewhere(c)) {
        let pmu = if c.pmu.is_empty() { "no PMU" } else { &c.pmu };
        lines.push(format!("not counted: {} ({}): {}", one_line(&c.name), one_line(pmu), one_line(&c.note)));
    }
    let counts = &model.spans.counts;
    let all = counts.why.len() as u64;
    let reasons = [
        (why::UNREAD, "the kernel did not read them"),
        (why::MIXED, "their thread went to a core of another type in the middle"),
        (why::MULTIPLEXED, "somebody else used the counters too. End other profilers, or count fewer events"),
        (why::TORN, "their thread lost its CPU while the counters were read"),
    ];
    for (bit, reason) in reasons {
        let n = counts.why.iter().filter(|w| **w & bit != 0).count() as u64;
        if n > 0 {
            let of = format!("{} of {} operator spans ({})", count(n), count(all), percent(n, all));
            lines.push(format!("not counted: {of}: {reason}"));
        }
    }
}

fn levels(model: &Model, lines: &mut Vec<String>) {
    let asked = &model.session.levels;
    // Without a session record nothing is known of the levels.
    if asked.is_empty() {
        return;
    }
    // A model without experts misses nothing of them.
    let routed = expert_lines::model_has_routers(model);
    let off: Vec<_> = Level::ALL
        .into_iter()
        .filter(|l| !asked.contains(l) && (*l != Level::Expert || routed))
        .map(Level::name)
        .collect();
    if !off.is_empty() {
        lines.push(format!("off: the {} level, as asked", off.join(" and the ")));
    }
    let nothing = [
        (Level::Token, model.decodes.is_empty()),
        (Level::Graph, model.graph_calls.is_empty()),
        (Level::Op, model.spans.is_empty()),
        (Level::Expert, routed && model.experts.is_empty()),
    ];
    for (level, nothing) in nothing {
        // Where nothing is attached, that is what is said, and why.
        let of_level = || model.session.probes.iter().filter(|p| p.level == Some(level));
        let attached = of_level().count() == 0 || of_level().any(|p| p.attached);
        if nothing && attached && asked.contains(&level) {
            lines.push(format!(
                "nothing seen: no event of the {} level. The engine computed nothing while the probes were attached, \
                 or computes elsewhere",
                level.name()
            ));
        }
    }
}

/// Operators that ran across the edges of the session: not lost, only not whole.
fn edges(model: &Model, health: &Health, lines: &mut Vec<String>) {
    let mut line = |n: Option<u64>, who: &str, what: &str| {
        if let Some(n) = n.filter(|n| *n > 0) {
            lines.push(format!("edge: {} {who} were running when {what}", count(n)));
        }
    };
    let (started, ended) = ("the probes were attached or the session ended", "the session ended");
    line(health.spans.no_start, "operators", started);
    line(health.spans.no_end, "operators", ended);
    line(model.health.nested.map(|l| l.no_start), "nested calls", started);
    line(model.health.nested.map(|l| l.no_end), "nested calls", ended);
}

pub(super) fn percent(n: u64, of: u64) -> String {
    match of {
        0 => "all".into(),
        _ => format!("{:.2} %", n as f64 * 100.0 / of as f64),
    }
}
