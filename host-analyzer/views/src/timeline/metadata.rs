//! Facts of the recording that every timeline file contains.

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

/// Name of the track that shows the health of the recording.
pub(super) const HEALTH: &str = "health";

/// Linux name of the clock of all times.
const CLOCK: &str = "CLOCK_MONOTONIC";

/// Facts of the session. Facts that the stream did not contain are left out.
pub(super) fn facts(model: &Model, analysis: &Analysis) -> Vec<(&'static str, String)> {
    let s = &model.session;
    let number = |n: u64| if n == 0 { String::new() } else { n.to_string() };
    let mut facts = vec![
        ("agent", s.agent.clone()),
        ("board", s.board.clone()),
        ("machine", s.machine.clone()),
        ("cpu_model", s.cpu_model.clone()),
        ("kernel", s.kernel.clone()),
        ("clock", CLOCK.to_owned()),
        ("origin_ns", origin_ns(model, analysis).to_string()),
        ("start_unix_ns", number(s.start_unix_ns)),
    ];
    facts.retain(|(_, text)| !text.is_empty());
    facts
}

/// The earliest time in a file, ns of the session's clock: the start of the session. If the stream
/// did not contain that start or contradicts it, the first slice, gauge sample or thread state.
pub(super) fn origin_ns(model: &Model, analysis: &Analysis) -> u64 {
    let first_ns = first_ns(model, analysis);
    let gauges = model.gauges.iter().filter_map(|g| g.at_ns.first()).copied().min();
    let states = model.sched.states.start_ns.iter().copied().min();
    let starts = [Some(model.session.start_ns).filter(|ns| *ns != 0), gauges, states];
    starts.into_iter().flatten().fold(first_ns, u64::min)
}

/// Start of the first slice, or of the session if there is none; ns of the session's clock.
pub(super) fn first_ns(model: &Model, analysis: &Analysis) -> u64 {
    let starts = analysis.track.iter().filter_map(|t| t.order.iter().next());
    starts.map(|s| s.bounds(model).0).min().unwrap_or(model.session.start_ns)
}

/// The health line for the headline: the first, which is the worst.
pub(super) fn headline(lines: &[String]) -> &str {
    lines.first().map_or(HEALTH, |line| line)
}
