//! The sentences of health about experts.

use super::health::Health;
use super::health_lines::percent;
use super::words::count;
use crate::model::Model;
use crate::model::expert::selections;

/// Whether a router's selection stands in any of the graphs that were read.
pub(super) fn model_has_routers(model: &Model) -> bool {
    model.topologies.rows.iter().any(|topology| !selections(&model.texts, topology).is_empty())
}

/// What of them is complete, for the sentence that says so.
pub(super) fn complete(health: &Health) -> String {
    match health.experts.map_or(0, |e| e.kept) {
        0 => String::new(),
        n => format!(", {} selections of an expert", count(n)),
    }
}

/// What was lost of them.
pub(super) fn lost(model: &Model, health: &Health, lines: &mut Vec<String>) {
    let Some(e) = health.experts else { return };
    let chosen = e.chosen.unwrap_or(0);
    let of = |n: u64| {
        format!("{} of {} selections of an expert ({})", count(n), count(chosen), percent(n, chosen))
    };
    for (n, why) in [
        (
            e.ring_full,
            "the kernel's ring buffer was full. Leave the agent some CPU time (one inference thread less), or record \
             without operators (--levels token,graph,expert)",
        ),
        (
            e.queue_full,
            "the link is slower than the trace. Record into a file on the board, take a faster link, or record \
             without operators (--levels token,graph,expert)",
        ),
        (
            e.unreadable,
            "the engine's memory that holds them could not be read, or held no number of an expert",
        ),
        (
            e.no_graph,
            "the topology of their graph is not known, because they came before it was read or it could not be read. \
             Let the agent start the engine to see it from the first graph on",
        ),
    ] {
        if let Some(n) = n.filter(|n| *n > 0) {
            lines.push(format!("dropped: {}: {why}", of(n)));
        }
    }
    match e.unaccounted {
        None if e.chosen.is_none() => lines.push(
            "unknown: the agent's totals of experts did not arrive, so what it dropped of them cannot be told".into(),
        ),
        Some(n) if n > 0 => lines.push(format!("lost: {} were sent and did not arrive", of(n.unsigned_abs()))),
        Some(0) => {}
        // While a session runs, more may come after the last totals.
        _ if health.cut_short => {}
        _ => lines.push("unsound: more selections of experts are here than the agent sent; please report this".into()),
    }
    if !health.cut_short && model.health.experts.is_some_and(|l| !l.balances()) {
        lines.push("unsound: the agent's own totals of experts do not add up; please report this".into());
    }
    let told = [e.ring_full, e.queue_full, e.unreadable, e.no_graph].into_iter().flatten().any(|n| n > 0);
    if e.missing > 0 {
        let known = if told || e.unaccounted.is_some_and(|n| n > 0) { ", counted above as well" } else { "" };
        lines.push(format!(
            "incomplete: {} selections of an expert are missing in graph calls of which others came{known}. Figures of \
             experts leave out every layer of a call that is not whole",
            count(e.missing)
        ));
    }
}
