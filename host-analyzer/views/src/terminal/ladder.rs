//! The ladders: one line per step for tokens and prompts, one line for each other question.

use std::io::{self, Write};

use super::style::{Colour, Sheet, wrapped};
use crate::words::{self, count};
use profinfer_analysis::ladder::{Gain, HEADLINE, IGNORED, Ladder, Ladders, Question, Step, StepKind};
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
        .partition(|l| matches!(l.question, Question::Decode | Question::Prompt));
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
            "The scheduler level was not recorded: delays by other programs are in the time of operators.",
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
    let of = |s: &&Step| {
        format!("{:.0} % {}", ladder.share(s.ns) * 100.0, words::ladder::label(s, ladder, replay))
    };
    steps.iter().take(LARGEST).map(of).collect::<Vec<_>>().join("; ")
}

fn title(ladder: &Ladder) -> String {
    let name = words::ladder::title(ladder.question);
    let unit = words::ladder::unit(ladder.question);
    let ms = ladder.unit_ns() as f64 / 1e6;
    let speed = match ladder.question {
        Question::Decode if ladder.unit_ns() > 0 => format!(" ({:.1} t/s)", 1e3 / ms),
        _ => String::new(),
    };
    let traced = if ladder.traced_units == ladder.units {
        String::new()
    } else {
        format!(", operators from {} of them", count(ladder.traced_units))
    };
    let plural = if ladder.units == 1 { "" } else { "s" };
    format!("{name}: {} ms per {unit}{speed}, {} {unit}{plural}{traced}", figure(ms), count(ladder.units))
}

fn line(step: &Step, ladder: &Ladder, replay: &Replay, out: &mut Sheet<'_>) -> io::Result<()> {
    let ms = step.ns as f64 / ladder.units.max(1) as f64 / 1e6;
    let share = ladder.share(step.ns);
    let mut text = words::ladder::label(step, ladder, replay);
    if let Some(gain) = step.gain.filter(|_| share >= IGNORED) {
        text += &format!("  → without it {}", without(ladder, gain));
    }
    let caused = matches!(step.kind, StepKind::Caused(_));
    let colour = match () {
        () if caused && share >= HEADLINE => Some(Colour::Bad),
        () if caused && share >= IGNORED => Some(Colour::Warn),
        () if share.abs() < IGNORED => Some(Colour::Dim),
        () => None,
    };
    let width = out.width().saturating_sub(TIME + 9);
    for (i, part) in wrapped(&text, width).iter().enumerate() {
        let head = if i == 0 {
            format!("{:>TIME$} {:>4.0} %", figure(ms), share * 100.0)
        } else {
            " ".repeat(TIME + 7)
        };
        let line = format!("{head}  {part}");
        writeln!(out, "{}", colour.map_or_else(|| line.clone(), |c| c.paint(&line)))?;
    }
    Ok(())
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
