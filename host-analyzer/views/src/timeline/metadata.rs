//! What a timeline file says of the recording as a whole.

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

/// Name of the track that shows the health of the recording.
pub(crate) const HEALTH: &str = "health";

/// The clock of all times in both files, by its name in Linux.
const CLOCK: &str = "CLOCK_MONOTONIC";

/// Facts of the session, those left out that the stream did not tell.
pub(crate) fn facts(model: &Model, analysis: &Analysis) -> Vec<(&'static str, String)> {
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

/// No time in a file is before this: start of the session, ns of its clock; or of the first slice, gauge's
/// sample or thread's state, when the stream did not tell the session's or contradicts itself.
pub(crate) fn origin_ns(model: &Model, analysis: &Analysis) -> u64 {
    let first_ns = first_ns(model, analysis);
    let gauges = model.gauges.iter().filter_map(|g| g.at_ns.first()).copied().min();
    let states = model.sched.states.start_ns.iter().copied().min();
    let starts = [Some(model.session.start_ns).filter(|ns| *ns != 0), gauges, states];
    starts.into_iter().flatten().fold(first_ns, u64::min)
}

/// Start of the first slice, or of the session when there is none; ns of the session's clock.
pub(crate) fn first_ns(model: &Model, analysis: &Analysis) -> u64 {
    let starts = analysis.track.iter().filter_map(|t| t.order.iter().next());
    starts.map(|s| s.bounds(model).0).min().unwrap_or(model.session.start_ns)
}

/// Of the sentences of health the one that a person has to see; the worst one.
pub(crate) fn headline(lines: &[String]) -> &str {
    lines.first().map_or(HEALTH, |line| line)
}
