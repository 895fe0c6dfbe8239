//! What a comparison says, for people. Of one run on each side nothing is ever called significant, and of many neither: intervals say it.

use super::budget::name as class_name;
use super::{count, duration, one_line, quantity};
use profinfer_analysis::compare::{
    Code, Comparison, Found, Item, Kind, Level, MOST_RUNS, Method, Note, POWER, Power, Row, Thing, Value,
    Verdict,
};

/// Texts of a thing that are shown one by one; of more only how many there are.
const SHOWN: usize = 4;

/// A share with its sign: `+3.2 %`.
#[must_use]
pub fn change(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent.abs() < 9.95 { 1 } else { 0 };
    let text = format!("{percent:+.decimals$} %");
    // What rounds to nothing has no sign.
    if text.trim_start_matches(['+', '-']) == "0.0 %" { "0.0 %".to_owned() } else { text }
}

/// A share without a sign: `3.2 %`.
fn share(share: f64) -> String {
    change(share.abs()).trim_start_matches('+').to_owned()
}

/// A time with its sign.
#[must_use]
pub fn change_ns(ns: i64) -> String {
    let sign = match ns {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    format!("{sign}{}", duration(ns.unsigned_abs()))
}

/// The verdict in one sentence or two.
#[must_use]
pub fn verdict(comparison: &Comparison) -> String {
    let verdict = &comparison.verdict;
    let runs = comparison.sides.each_ref().map(|side| side.runs.len());
    let between = interval(verdict);
    match verdict.code {
        Code::Faster => format!("B is faster: a token takes {}{between}.", shift(verdict)),
        Code::Slower => format!("B is slower: a token takes {}{between}.", shift(verdict)),
        Code::NoDifferenceBeyond => {
            let bound = verdict.bound().unwrap_or_default();
            format!("No difference beyond ±{}{between}.", share(bound))
        }
        Code::TooFewRuns => {
            let seen = match verdict.shift {
                Some(_) => format!(" A token of B took {}{between}.", shift(verdict)),
                None => String::new(),
            };
            format!(
                "Too few runs to tell ({} of A, {} of B).{seen} From four runs on each side, made in turn, an exact interval can be given.",
                runs[0], runs[1]
            )
        }
        Code::Undecided => format!(
            "Not decided: a token of B takes {}{between}, which includes no difference as well as one beyond ±{}. More runs tell.",
            shift(verdict),
            share(verdict.practical)
        ),
        Code::DifferentWork if comparison.notes.contains(&Note::NoCommonPositions) => {
            "Not comparable: the runs have no tokens at the same positions.".to_owned()
        }
        Code::DifferentWork => {
            let things: Vec<&str> =
                comparison.gate.iter().filter(|i| i.other_work()).map(|i| thing(i.key.thing)).collect();
            format!("Not comparable: the runs did not do the same work ({}).", things.join(", "))
        }
    }
}

/// What runs that scatter like these can tell.
#[must_use]
pub fn power(power: &Power, practical: f64) -> String {
    let times = format!("in {:.0} of 100 cases", POWER * 100.0);
    let told = match power.told {
        Some(told) => format!("So many runs tell a difference of {} {times}", share(told)),
        None => "So few runs have no exact interval".to_owned(),
    };
    let runs = match power.runs {
        Some(runs) => format!("about {runs} on each side tell {} as often", share(practical)),
        None => format!("more than {MOST_RUNS} on each side would be needed to tell {}", share(practical)),
    };
    format!("Runs of a side scatter by {}. {told}; {runs}.", share(power.scatter))
}

/// `3.2 % longer`.
fn shift(verdict: &Verdict) -> String {
    let Some(shift) = verdict.shift else { return "an unknown time".to_owned() };
    match share(shift) {
        same if same == "0.0 %" => "as long as A's".to_owned(),
        more if shift > 0.0 => format!("{more} longer"),
        less => format!("{less} less time"),
    }
}

fn interval(verdict: &Verdict) -> String {
    let Some((low, high)) = verdict.interval else { return String::new() };
    let ends = format!("{} to {}", change(low), change(high));
    match verdict.method {
        Some(Method::Ranks { coverage }) => {
            format!(" ({ends}, exact interval of ranks, {:.1} %)", coverage * 100.0)
        }
        Some(Method::Spread { within, between, seen }) => {
            let of = if seen {
                "as runs of one side lie apart"
            } else {
                "as sessions of the same thing may lie apart"
            };
            format!(" ({ends}: ±{} within the runs, ±{} {of})", share(within), share(between))
        }
        None => format!(" ({ends})"),
    }
}

/// A thing in a few words.
#[must_use]
pub const fn thing(thing: Thing) -> &'static str {
    match thing {
        Thing::Weights => "weights of the model",
        Thing::Experts => "experts of a token",
        Thing::Draft => "speculative decoding",
        Thing::Capture => "what was traced",
        Thing::ModelFile => "file of the model",
        Thing::EngineVersion => "version of the engine",
        Thing::EngineBuild => "build of the engine",
        Thing::CpuVariant => "CPU variant",
        Thing::Command => "command line",
        Thing::Threads => "threads",
        Thing::Affinity => "affinity",
        Thing::Environment => "environment",
        Thing::Quota => "quota of CPU time",
        Thing::KvCache => "type of the KV cache",
        Thing::Cells => "cells of the KV cache",
        Thing::Prompt => "position of the first token",
        Thing::Operators => "operators of a token's graph",
        Thing::Backends => "backends",
        Thing::Buffers => "buffers of the weights",
        Thing::Board => "board",
        Thing::Cpu => "CPU",
        Thing::Cpus => "CPUs online",
        Thing::Kernel => "kernel",
        Thing::Agent => "agent",
        Thing::Governor => "governor",
        Thing::ClockLimit => "limit of the clock",
        Thing::HugePages => "policy for huge pages",
        Thing::Clock => "clock",
        Thing::Temperature => "temperature",
        Thing::Ceiling => "ceiling",
        Thing::ProbeCost => "cost of a pair of probes",
        Thing::Losses => "losses of the recording",
    }
}

/// A thing and which one.
#[must_use]
pub fn name(item: &Item) -> String {
    match &*item.key.which {
        "" => thing(item.key.thing).to_owned(),
        which => format!("{} ({})", thing(item.key.thing), one_line(which)),
    }
}

/// A value in a few words.
#[must_use]
pub fn value(of: Thing, value: &Value) -> String {
    match value {
        Value::Unknown => "unknown".to_owned(),
        Value::Texts(texts) if of == Thing::Weights || texts.len() > SHOWN => {
            format!("{} in all", texts.len())
        }
        Value::Texts(texts) => one_line(&texts.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
        Value::Number(n) => number(of, *n),
    }
}

fn number(of: Thing, n: f64) -> String {
    match of {
        Thing::Clock => quantity(n, "hertz"),
        Thing::Temperature => quantity(n, "millidegrees"),
        Thing::ProbeCost => duration(n as u64),
        // Of a ceiling the unit is in the name of its kind; both sides have the same.
        _ => count(n.max(0.0) as u64),
    }
}

/// The values of one side: once if all runs are alike.
fn side(item: &Item, side: usize) -> String {
    let mut texts: Vec<String> = item.values[side].iter().map(|v| value(item.key.thing, v)).collect();
    texts.dedup();
    texts.join(" / ")
}

/// What is to be said of an item that is not the same.
#[must_use]
pub fn item(item: &Item) -> String {
    let only: Vec<String> =
        [("A", 0), ("B", 1)].into_iter().filter_map(|(of, side)| only(item, of, side)).collect();
    let many = item.values.iter().flatten().any(|v| matches!(v, Value::Texts(t) if t.len() > 1));
    let values = if many && !only.is_empty() {
        only.join("; ")
    } else {
        format!("A {}, B {}", side(item, 0), side(item, 1))
    };
    let what = match item.found {
        Found::Different => "",
        Found::Mixed => " differs between runs of one side",
        Found::Unknown => " is not known of all runs",
        Found::Same => " is the same",
    };
    format!("{}{what}: {values}", name(item))
}

fn only(item: &Item, of: &str, side: usize) -> Option<String> {
    let texts = item.only_in(side);
    let shown: Vec<String> = texts.iter().take(SHOWN).map(|t| one_line(t)).collect();
    let more = texts.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!texts.is_empty()).then(|| format!("only {of}: {}{more}", shown.join(", ")))
}

/// Things that are the same, and those that nobody knows, by name.
#[must_use]
pub fn names(gate: &[Item], found: Found) -> Vec<String> {
    let mut names: Vec<String> =
        gate.iter().filter(|i| i.found == found).map(|i| thing(i.key.thing).to_owned()).collect();
    names.dedup();
    names
}

/// What a kind of difference means.
#[must_use]
pub const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Work => "work",
        Kind::Surroundings => "surroundings",
    }
}

/// A note in a sentence.
#[must_use]
pub fn note(note: &Note) -> String {
    match note {
        Note::DifferentWork => "The runs did not do the same work, and were compared because that was asked for.".to_owned(),
        Note::NoCommonPositions => {
            "No position has tokens in all runs: use the same prompt, and generate at least a dozen tokens.".to_owned()
        }
        Note::Tail { mean, median } => format!(
            "Mean and median of a token's time changed differently ({}, {}): some tokens take much longer than most. The verdict is of the mean.",
            change(*mean),
            change(*median)
        ),
        Note::Disturbed { share: of, few } => {
            let tells = if *few {
                "So few runs cannot tell that from a difference."
            } else {
                "What falls on one side more than on the other looks like a difference: see how much of the change it is."
            };
            format!("A thread wanted a CPU that others had, for up to {} of a token's time. {tells}", share(*of))
        }
        Note::Runs { mean, shift } => format!(
            "Some runs are far from the others of their side: the mean over the runs, which the rows sum to, changed by {}, the shift between runs is {}.",
            change(*mean),
            change(*shift)
        ),
        Note::Positions { mean } => format!(
            "The tokens of A lie at position {:.0} on average, those of B at {:.0}: the context's growth is a part of the difference.",
            mean[0], mean[1]
        ),
        Note::NotInTurn => "All runs of one side were made before those of the other: heat or other load that changed meanwhile looks like a \
                            difference. Make them in turn (A B B A)."
            .to_owned(),
        Note::NotTraced => "Operators were not captured of enough tokens of every run: what changed within the graphs is not known.".to_owned(),
        Note::RowsNeedRuns { least_p, rows } => format!(
            "No operator alone can stand among {rows}: with so many runs the least probability is {least_p:.3}. The rows are what was measured."
        ),
        Note::OtherContexts { calls } => {
            format!("{} decode calls of other contexts were not looked at.", count(*calls))
        }
    }
}

/// Code of a note.
#[must_use]
pub const fn note_code(note: &Note) -> &'static str {
    match note {
        Note::DifferentWork => "different_work",
        Note::NoCommonPositions => "no_common_positions",
        Note::Tail { .. } => "tail",
        Note::Disturbed { .. } => "disturbed",
        Note::Runs { .. } => "runs",
        Note::Positions { .. } => "positions",
        Note::NotInTurn => "not_in_turn",
        Note::NotTraced => "not_traced",
        Note::RowsNeedRuns { .. } => "rows_need_runs",
        Note::OtherContexts { .. } => "other_contexts",
    }
}

/// What a row is of.
#[must_use]
pub fn row(row: &Row) -> String {
    match row.level {
        Level::Class => class_name(row.class).to_owned(),
        Level::Operator if row.op.is_empty() => class_name(row.class).to_owned(),
        Level::Operator => one_line(&row.op),
        Level::Tensor if row.op.is_empty() => class_name(row.class).to_owned(),
        Level::Tensor => one_line(&format!("{} {}", row.op, row.tensor)),
    }
}

/// Which tokens were compared.
#[must_use]
pub fn selection(comparison: &Comparison) -> String {
    let chosen = &comparison.selection;
    let warm_up = match chosen.warm_up {
        0 => String::new(),
        n => format!(", without the first {n} of each run"),
    };
    let at = match chosen.positions {
        Some((first, last)) if first <= last => format!(" at positions {first} to {last}"),
        _ => String::new(),
    };
    let which = if chosen.traced { "decode tokens that were traced whole" } else { "decode tokens" };
    format!("Compared: {which}{at}{warm_up}.")
}
