//! The time budget of a token, by phase, the largest classes first, where there is no ladder: a step of
//! the ladder is what a cause costs, a class how long it lasted, and two figures for one fact confuse.

use std::io;

use super::style::{Sheet, bar, percent, table, write_table};
use crate::words::{self, budget::name, duration, phase_name};
use profinfer_analysis::budget::{Budget, Class};
use profinfer_analysis::capture::Capture;
use profinfer_analysis::ladder::{Ladders, Question};
use profinfer_analysis::phase::Phase;

/// A class with a smaller share in every phase is not shown.
const SMALL: f64 = 0.005;

pub(super) fn write(
    budget: &Budget,
    ladders: &Ladders,
    capture: &Capture,
    out: &mut Sheet<'_>,
) -> io::Result<()> {
    // Speculative decoding generates in calls of several tokens.
    let generating = [Phase::Decode, Phase::BatchDecode].into_iter().find(|p| budget.phase(*p).is_some());
    let generating = generating.unwrap_or(Phase::Decode);
    let without = |question, phase| budget.phase(phase).filter(|_| ladders.of(question).is_none());
    let (decode, prefill) =
        (without(Question::Decode, generating), without(Question::Prompt, Phase::Prefill));
    if decode.is_none() && prefill.is_none() {
        return Ok(());
    }
    let part = |phase: Option<&profinfer_analysis::budget::PhaseBudget>, class| {
        phase.filter(|p| p.time_ns > 0).map_or(0.0, |p| p.wall.get(class) as f64 / p.time_ns as f64)
    };
    let mut classes: Vec<_> =
        Class::ALL.into_iter().map(|c| (c, part(decode, c), part(prefill, c))).collect();
    classes.retain(|(_, decode, prefill)| *decode >= SMALL || *prefill >= SMALL);
    classes.sort_by(|a, b| (b.1 + b.2 / 1e3).total_cmp(&(a.1 + a.2 / 1e3)));
    let mut t = table(&["time per token", phase_name(generating), "share", "", "prefill call", "share"]);
    let a_call = |phase: Option<&profinfer_analysis::budget::PhaseBudget>, class| {
        phase.map_or("–".to_owned(), |p| duration(p.wall.get(class) / p.calls.max(1)))
    };
    for (class, of_decode, of_prefill) in classes {
        t.add_row(vec![
            name(class).to_owned(),
            a_call(decode, class),
            percent(of_decode),
            bar(of_decode, 14),
            a_call(prefill, class),
            percent(of_prefill),
        ]);
    }
    write_table(&mut t, out)?;
    match capture.part(generating).zip(decode) {
        Some((part, _)) if part.traced > 0 => out.sentence(&words::capture::from_part(part)),
        Some(_) => out.sentence("no token was traced: the time inside its graphs is unknown"),
        None => Ok(()),
    }
}
