//! The ladders: one line per step for tokens, prompts and encoders, one line for each other question.

use std::io::{self, Write};

use super::style::{Colour, Sheet, wrapped};
use crate::words::{self, count};
use profinfer_analysis::ladder::{
    Gain, HEADLINE, IGNORED, Ladder, LadderSum, Ladders, Question, Step, StepKind,
};
use profinfer_analysis::replay::Replay;

/// Columns of a time.
const TIME: usize = 9;

pub(super) fn write(ladders: &Ladders, replay: &Replay, out: &mut Sheet<'_>) -> io::Result<()> {
    // Those of the process that computes most; summary.json has all.
    let pid = ladders.rows.first().map(|l| l.pid);
    let (first, others): (Vec<&Ladder>, Vec<&Ladder>) = ladders
        .rows
        .iter()
        .filter(|l| Some(l.pid) == pid)
        .partition(|l| matches!(l.question, Question::Decode | Question::Prompt | Question::Encode));
    for ladder in &first {
        writeln!(out)?;
        writeln!(out, "{}", Colour::Strong.paint(&title(ladder)))?;
        for step in &ladder.steps {
            line(step, ladder, replay, out)?;
        }
    }
    // summary.json has those whose time does not matter next to that of tokens and prompts.
    let least = first.iter().map(|l| l.measured_ns).max().unwrap_or(0) as f64 * IGNORED;
    for ladder in others.into_iter().filter(|l| l.measured_ns as f64 >= least) {
        out.sentence(&format!("{}: {}", title(ladder), largest(ladder, replay)))?;
    }
    if pid.is_some() && !replay.scheduler {
        out.sentence(
            "The scheduler level was not recorded: delays by other programs may be in the time of operators, in the uneven split of their work, or unexplained. --levels all records them.",
        )?;
    }
    Ok(())
}

/// Steps that are named in one line.
const LARGEST: usize = 3;

/// The longest steps of a ladder, with their shares.
fn largest(ladder: &Ladder, replay: &Replay) -> String {
    let mut steps: Vec<&Step> = ladder.steps.iter().filter(|s| ladder.share(s.ns) >= IGNORED).collect();
    steps.sort_by_key(|s| std::cmp::Reverse(s.ns));
    // A line has no room for the groups of operators.
    let text = |s: &Step| match s.kind {
        StepKind::Unexplained => words::ladder::label(s, ladder, replay),
        _ => words::ladder::short_label(s, ladder, replay),
    };
    let of = |s: &&Step| format!("{:.0} % {}", ladder.share(s.ns) * 100.0, text(s));
    steps.iter().take(LARGEST).map(of).collect::<Vec<_>>().join("; ")
}

/// The question, and how long a unit takes.
pub(crate) fn title(ladder: &Ladder) -> String {
    let name = words::ladder::title(ladder.question);
    let unit = words::ladder::unit(ladder.question);
    let ms = ladder.unit_ns() as f64 / 1e6;
    let speed = speed(ladder.tokens_per_s(), ladder.sequences());
    let traced = if ladder.traced_units == ladder.units {
        String::new()
    } else {
        format!(", operators from {} of them", count(ladder.traced_units))
    };
    format!("{name}: {} ms per {unit}{speed}, {}{traced}", figure(ms), units(ladder.question, ladder.units))
}

/// ` (230.1 t/s)`, for tokens; ` of 4.0 sequences (920.4 t/s)`, where calls have several.
fn speed(tokens_per_s: Option<f64>, sequences: f64) -> String {
    let Some(speed) = tokens_per_s else { return String::new() };
    let of = match sequences {
        n if n > 1.0 => format!(" of {}", words::findings::sequences(n)),
        _ => String::new(),
    };
    format!("{of} ({} t/s)", words::per_s(speed))
}

/// `1,200 tokens`
pub(crate) fn units(question: Question, n: u64) -> String {
    words::counted(n, words::ladder::unit(question))
}

fn line(step: &Step, ladder: &Ladder, replay: &Replay, out: &mut Sheet<'_>) -> io::Result<()> {
    let label = words::ladder::label(step, ladder, replay);
    let (colour, lines) = step_lines(step, label, ladder, out.width());
    paint(colour, &lines, out)
}

/// The lines of a step with its label, and their colour.
pub(crate) fn step_lines(
    step: &Step,
    mut text: String,
    ladder: &Ladder,
    width: usize,
) -> (Option<Colour>, Vec<String>) {
    let share = ladder.share(step.ns);
    if let Some(gain) = step.gain.filter(|_| share >= IGNORED) {
        text += &format!("  → without it {}", without(ladder, gain));
    }
    let unit_ns = step.ns as f64 / ladder.units.max(1) as f64;
    (colour(step.kind, share), row(unit_ns, share, &text, width))
}

/// How long a unit of several parts of a session takes.
pub(crate) fn per_unit(question: Question, sum: &LadderSum) -> String {
    let (unit, ms) = (words::ladder::unit(question), sum.unit_ns() as f64 / 1e6);
    format!("{} ms per {unit}{}", figure(ms), speed(sum.tokens_per_s(), sum.sequences()))
}

/// The lines of the steps that matter, the longest first, and their colours.
pub(crate) fn sum_lines(sum: &LadderSum, width: usize) -> Vec<(Option<Colour>, Vec<String>)> {
    let share = |ns: u64| ns as f64 / sum.measured_ns.max(1) as f64;
    let shown = sum.steps().into_iter().filter(|(_, ns)| share(*ns) >= IGNORED);
    let lines = |(kind, ns): (StepKind, u64)| {
        let name = words::ladder::step(kind, &sum.programs);
        (colour(kind, share(ns)), row(ns as f64 / sum.units.max(1) as f64, share(ns), &name, width))
    };
    shown.map(lines).collect()
}

/// The ladders of tokens and prompts in all pieces of a session; summary.json has the others.
pub(super) fn pieces(sums: &[(Question, LadderSum)], out: &mut Sheet<'_>) -> io::Result<()> {
    for (question, sum) in sums.iter().filter(|(q, _)| matches!(q, Question::Decode | Question::Prompt)) {
        let (name, time) = (words::ladder::title(*question), per_unit(*question, sum));
        let title = format!("{name}, {} pieces: {time}, {}", count(sum.parts), units(*question, sum.units));
        writeln!(out)?;
        writeln!(out, "{}", Colour::Strong.paint(&title))?;
        for (colour, lines) in sum_lines(sum, out.width()) {
            paint(colour, &lines, out)?;
        }
    }
    Ok(())
}

fn paint(colour: Option<Colour>, lines: &[String], out: &mut Sheet<'_>) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{}", colour.map_or_else(|| line.clone(), |c| c.paint(line)))?;
    }
    Ok(())
}

/// Colour of a step by its share.
fn colour(kind: StepKind, share: f64) -> Option<Colour> {
    let caused = matches!(kind, StepKind::Caused(_));
    match () {
        () if caused && share >= HEADLINE => Some(Colour::Bad),
        () if caused && share >= IGNORED => Some(Colour::Warn),
        () if share.abs() < IGNORED => Some(Colour::Dim),
        () => None,
    }
}

/// A time in ms, its share, and a text.
fn row(ns: f64, share: f64, text: &str, width: usize) -> Vec<String> {
    let head = format!("{:>TIME$} {:>4.0} %", figure(ns / 1e6), share * 100.0);
    let heads = std::iter::once(head).chain(std::iter::repeat(" ".repeat(TIME + 7)));
    let parts = wrapped(text, width.saturating_sub(TIME + 9));
    heads.zip(parts).map(|(head, part)| format!("{head}  {part}")).collect()
}

/// The time of a unit without a cause, with its interval.
fn without(ladder: &Ladder, gain: Gain) -> String {
    let at = |ns: u64| ladder.measured_ns.saturating_sub(ns) as f64 / ladder.units.max(1) as f64 / 1e6;
    let (likely, low, high) = (at(gain.likely_ns), at(gain.high_ns), at(gain.low_ns));
    format!("{} ms ({} to {})", figure(likely), figure(low), figure(high))
}

/// Milliseconds with three digits at least.
fn figure(ms: f64) -> String {
    match ms.abs() {
        x if x >= 100.0 => format!("{ms:.0}"),
        x if x >= 10.0 => format!("{ms:.1}"),
        _ => format!("{ms:.2}"),
    }
}
