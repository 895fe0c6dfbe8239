//! The sentences of a comparison. They never say "significant": the intervals show how certain a
//! difference is.

use std::collections::BTreeSet;

use super::ladder::step as step_name;
use super::{count, duration, one_line, quantity};
use profinfer_analysis::compare::{
    Code, Comparison, Found, Item, Lead, Level, MOST_RUNS, Method, Note, POWER, Power, Row, Thing, Value,
    Verdict,
};
use profinfer_analysis::ladder::{Programs, Question, StepKind};

/// Maximum number of texts of a thing that are listed; of more, only the number is shown.
const SHOWN: usize = 4;

/// A share with its sign: `+3.2 %`.
#[must_use]
pub fn change(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent.abs() < 9.95 { 1 } else { 0 };
    let text = format!("{percent:+.decimals$} %");
    // A value that rounds to zero has no sign.
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

/// What a time is of: per token, per prompt token, per call.
#[must_use]
pub const fn unit(question: Question) -> &'static str {
    match question {
        Question::Prompt => "prompt token",
        Question::Decode => "token",
        _ => "call",
    }
}

/// The compared calls.
const fn calls(question: Question) -> &'static str {
    match question {
        Question::Prompt => "calls that read prompts",
        Question::Decode => "decode tokens",
        _ => "calls of the encoder",
    }
}

/// What a comparison is about.
#[must_use]
pub const fn title(question: Question) -> &'static str {
    match question {
        Question::Prompt => "Prompt processing",
        Question::Decode => "Text generation",
        _ => "Encoder",
    }
}

/// The verdict in one sentence or two.
#[must_use]
pub fn verdict(comparison: &Comparison) -> String {
    let verdict = &comparison.verdict;
    let between = interval(verdict).map_or_else(String::new, |ends| format!(" ({ends})"));
    match verdict.code {
        Code::Faster => format!("B is faster: {}{}", times(comparison), runs_and_lead(comparison)),
        Code::Slower => format!("B is slower: {}{}", times(comparison), runs_and_lead(comparison)),
        Code::NoDifferenceBeyond => {
            let bound = verdict.bound().unwrap_or_default();
            format!("No difference beyond ±{}{between}.", share(bound))
        }
        Code::TooFewRuns => {
            // Of disturbed runs, only what happened in these is certain.
            let what = match verdict.interval {
                Some((low, _)) if low > verdict.practical => "B was slower",
                Some((_, high)) if high < -verdict.practical => "B was faster",
                _ => "Too few runs to tell",
            };
            let times = verdict.shift.map_or_else(|| ".".to_owned(), |_| times(comparison));
            let lead = runs_and_lead(comparison);
            format!("{what}: {times}{lead} An exact interval needs four runs on each side, made alternately.")
        }
        Code::Undecided => format!(
            "Inconclusive: a {} of B takes {}{between}. The interval includes both no difference and one beyond ±{}. Make more runs.",
            unit(comparison.question),
            shift(verdict),
            share(verdict.practical)
        ),
        Code::DifferentWork if comparison.notes.contains(&Note::NoCommonPositions) => {
            format!("Not comparable: the runs have no {} at the same positions.", calls(comparison.question))
        }
        Code::DifferentWork => {
            let things: Vec<&str> =
                comparison.gate.iter().filter(|i| i.other_work()).map(|i| thing(i.key.thing)).collect();
            format!("Not comparable: the runs did not do the same work ({}).", things.join(", "))
        }
    }
}

/// The smallest difference that runs with this variation detect.
#[must_use]
pub fn power(power: &Power, practical: f64) -> String {
    let often = format!("{:.0} % of the time", POWER * 100.0);
    let detected = match power.told {
        Some(told) => format!("With this many runs a difference of {} is detected {often}", share(told)),
        None => "This few runs have no exact interval".to_owned(),
    };
    let runs = match power.runs {
        Some(runs) => format!("about {runs} runs on each side are needed to detect {}", share(practical)),
        None => format!("more than {MOST_RUNS} runs on each side are needed to detect {}", share(practical)),
    };
    format!("Run-to-run variation is {}. {detected}; {runs}.", share(power.scatter))
}

/// `28.3 vs 6.10 ms per token (4.6×; its interval).`
fn times(comparison: &Comparison) -> String {
    let verdict = &comparison.verdict;
    let [a, b] = comparison.unit_ns().unwrap_or_default().map(|ns| duration(ns.unsigned_abs()));
    let (number, scale) = b.split_once(' ').unwrap_or((&b, ""));
    let b = if a.ends_with(&format!(" {scale}")) { number } else { &b };
    let by = match verdict.shift.unwrap_or_default() {
        more if more >= 1.0 => format!("{:.1}×", more + 1.0),
        shift => change(shift),
    };
    let ends = interval(verdict).map_or_else(String::new, |ends| format!("; {ends}"));
    format!("{b} vs {a} per {} ({by}{ends}).", unit(comparison.question))
}

/// How many runs decided, if they are few, and what the change comes from.
fn runs_and_lead(comparison: &Comparison) -> String {
    let verdict = &comparison.verdict;
    let runs = match (&verdict.method, comparison.sides.each_ref().map(|side| side.runs.len())) {
        (Some(Method::Ranks { .. }), _) => None,
        (_, [1, 1]) => Some("One run each".to_owned()),
        (_, [a, b]) => Some(format!("{a} and {b} runs")),
    };
    let matters = verdict.shift.is_some_and(|shift| shift.abs() > verdict.practical);
    let lead = comparison.lead().filter(|_| matters).map(|lead| self::lead(&lead, &comparison.programs));
    match (runs, lead) {
        (Some(runs), Some(lead)) => format!(" {runs}; {lead}."),
        (Some(runs), None) => format!(" {runs}."),
        (None, Some(lead)) => format!(" {}.", capital(&lead)),
        (None, None) => String::new(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `the cause is other programs in B (+16.3 ms), most of all python3 (+9.1 ms)`.
fn lead(lead: &Lead<'_>, programs: &Programs) -> String {
    let Lead { change_ns, most, side, steps, module, operator } = lead;
    let Some(first) = steps.first() else { return String::new() };
    let (side, by) = (["A", "B"][*side], self::change_ns(*change_ns));
    let of = |row: &Row, name: &str| format!(", most of all {name} ({})", self::change_ns(row.change_ns()));
    let program = |row: &Row| row.step.program().map(|id| one_line(programs.name(id)));
    match (program(first), first.step) {
        (Some(name), _) => {
            let intro = if *most { "the cause is" } else { "the largest change is" };
            match steps.len() {
                1 => format!("{intro} the program {name} in {side} ({by})"),
                _ => format!("{intro} other programs in {side} ({by}){}", of(first, &name)),
            }
        }
        (None, StepKind::Caused(_)) => {
            let intro = if *most { "the cause" } else { "the largest change" };
            format!("{intro} in {side}: {} ({by})", row(first, programs))
        }
        (None, kind) => {
            let intro = if *most { "the difference is in" } else { "the largest change is in" };
            let name = match kind {
                StepKind::Unexplained => "unexplained delays".to_owned(),
                StepKind::NotRecorded => "what is not recorded".to_owned(),
                _ => row(first, programs),
            };
            let module = module.and_then(|row| Some((row, format!("the module {}", row.module?.name()))));
            let operator = operator.map(|row| (row, one_line(&row.op)));
            let within: Vec<String> = [module, operator]
                .into_iter()
                .flatten()
                .map(|(row, name)| format!("{name} ({})", self::change_ns(row.change_ns())))
                .collect();
            match within.as_slice() {
                [] => format!("{intro} {name} ({by})"),
                most => format!("{intro} {name} ({by}), most of all in {}", most.join(" and in ")),
            }
        }
    }
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

fn interval(verdict: &Verdict) -> Option<String> {
    let (low, high) = verdict.interval?;
    let ends = format!("{} to {}", change(low), change(high));
    Some(match verdict.method {
        Some(Method::Ranks { coverage }) => format!("{ends}, exact rank interval, {:.1} %", coverage * 100.0),
        Some(Method::Spread { within, between, seen }) => {
            let of = if seen { "between the runs of one side" } else { "run-to-run variation assumed" };
            format!("{ends}: ±{} within the runs, ±{} {of}", share(within), share(between))
        }
        None => ends,
    })
}

#[must_use]
pub const fn thing(thing: Thing) -> &'static str {
    match thing {
        Thing::Weights => "weights of the model",
        Thing::Experts => "experts per token",
        Thing::Draft => "speculative decoding",
        Thing::Capture => "capture settings",
        Thing::ModelFile => "model file",
        Thing::EngineVersion => "engine version",
        Thing::EngineBuild => "engine build",
        Thing::CpuVariant => "CPU variant",
        Thing::Command => "command line",
        Thing::Threads => "threads",
        Thing::Affinity => "affinity",
        Thing::Environment => "environment",
        Thing::Quota => "CPU quota",
        Thing::KvCache => "KV cache type",
        Thing::Cells => "KV cells",
        Thing::Prompt => "position of the first compared call",
        Thing::Operators => "operators of the graph",
        Thing::Backends => "backends",
        Thing::Buffers => "buffers of the weights",
        Thing::Board => "board",
        Thing::Cpu => "CPU",
        Thing::Cpus => "CPUs online",
        Thing::Kernel => "kernel",
        Thing::Agent => "agent",
        Thing::Governor => "governor",
        Thing::ClockLimit => "clock limit",
        Thing::HugePages => "huge page policy",
        Thing::Clock => "clock",
        Thing::Temperature => "temperature",
        Thing::Ceiling => "peak rate",
        Thing::ProbeCost => "cost of a pair of probes",
        Thing::Losses => "losses of the recording",
    }
}

/// A thing and which one, if there are several.
#[must_use]
pub fn name(item: &Item) -> String {
    match &*item.key.which {
        "" => thing(item.key.thing).to_owned(),
        which => format!("{} ({})", thing(item.key.thing), one_line(which)),
    }
}

#[must_use]
pub fn value(of: Thing, value: &Value) -> String {
    match value {
        Value::Unknown => "unknown".to_owned(),
        Value::Texts(texts) if of == Thing::Weights || texts.len() > SHOWN => {
            format!("{} in total", texts.len())
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
        // The unit of a ceiling is in the name of its kind, the same on both sides.
        _ => count(n.max(0.0) as u64),
    }
}

/// The values of one side; a value that all runs share is named once.
fn side(item: &Item, side: usize) -> String {
    let mut texts: Vec<String> = item.values[side].iter().map(|v| value(item.key.thing, v)).collect();
    texts.dedup();
    texts.join(" / ")
}

/// How an item differs.
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
        Found::Unknown => " is unknown for some runs",
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

/// The names of the things with this result.
#[must_use]
pub fn names(gate: &[Item], found: Found) -> Vec<String> {
    let mut names: Vec<String> =
        gate.iter().filter(|i| i.found == found).map(|i| thing(i.key.thing).to_owned()).collect();
    names.dedup();
    names
}

#[must_use]
pub fn note(note: &Note, question: Question) -> String {
    let (unit, calls) = (unit(question), calls(question));
    match note {
        Note::DifferentWork => "The runs did not do the same work. They were compared on request.".to_owned(),
        Note::NoCommonPositions => {
            "No position has compared calls in all runs: use the same prompt, and generate at least a dozen tokens."
                .to_owned()
        }
        Note::Tail { mean, median } => format!(
            "Mean and median time per {unit} changed differently ({}, {}): some {calls} take much longer than most. The verdict is about the mean.",
            change(*mean),
            change(*median)
        ),
        Note::Disturbed { share: of, few } => {
            let effect = if *few {
                "This few runs cannot distinguish that from a difference."
            } else {
                "If it affects one side more than the other, it looks like a difference: check how much of the change it is."
            };
            format!("A thread waited for a CPU that others used, for up to {} of the time. {effect}", share(*of))
        }
        Note::Runs { mean, shift } => format!(
            "Some runs are far from the others of their side. The mean over the runs, which is the sum of the rows, changed by {}; the shift between runs is {}.",
            change(*mean),
            change(*shift)
        ),
        Note::Positions { mean } => format!(
            "The {calls} of A are at position {:.0} on average, those of B at {:.0}: a part of the difference is context growth.",
            mean[0], mean[1]
        ),
        Note::Sizes { mean } => format!(
            "The {calls} of A have {:.0} tokens on average, those of B {:.0}: a larger call takes less time per token.",
            mean[0], mean[1]
        ),
        Note::NotInTurn => "All runs of one side were made before those of the other: a change of temperature or load looks like a \
                            difference. Alternate the runs (A B B A)."
            .to_owned(),
        Note::NotTraced => format!("Some runs have too few {calls} with captured operators: the change by operator is unknown."),
        Note::RowsNeedRuns { least_p, rows } => format!(
            "No single one of {rows} rows can be conclusive: with this many runs the smallest possible p-value is {least_p:.3}. The rows show what was measured."
        ),
        Note::OtherContexts { calls } => {
            format!("{} calls of other contexts were ignored.", count(*calls))
        }
    }
}

#[must_use]
pub const fn note_code(note: &Note) -> &'static str {
    match note {
        Note::DifferentWork => "different_work",
        Note::NoCommonPositions => "no_common_positions",
        Note::Tail { .. } => "tail",
        Note::Disturbed { .. } => "disturbed",
        Note::Runs { .. } => "runs",
        Note::Positions { .. } => "positions",
        Note::Sizes { .. } => "sizes",
        Note::NotInTurn => "not_in_turn",
        Note::NotTraced => "not_traced",
        Note::RowsNeedRuns { .. } => "rows_need_runs",
        Note::OtherContexts { .. } => "other_contexts",
    }
}

/// The name of a row.
#[must_use]
pub fn row(row: &Row, programs: &Programs) -> String {
    match (row.level, row.module) {
        (Level::Module, Some(module)) => module.name().to_owned(),
        _ if row.op.is_empty() => step_name(row.step, programs),
        (Level::Step | Level::Module | Level::Operator, _) => one_line(&row.op),
        (Level::Tensor, _) => one_line(&format!("{} {}", row.op, row.tensor)),
    }
}

/// `, of 64, 128 tokens`.
fn sizes(sizes: &BTreeSet<u32>) -> String {
    let shown: Vec<String> = sizes.iter().take(SHOWN).map(u32::to_string).collect();
    let more = if sizes.len() > SHOWN { " and more" } else { "" };
    if sizes.is_empty() { String::new() } else { format!(" of {}{more} tokens", shown.join(", ")) }
}

/// Which calls were compared.
#[must_use]
pub fn selection(comparison: &Comparison) -> String {
    let chosen = &comparison.selection;
    let warm_up = match chosen.warm_up {
        0 => String::new(),
        n => format!(", without the first {n} of each run"),
    };
    let at = match chosen.positions {
        Some((first, last)) if first == last => format!(" at position {first}"),
        Some((first, last)) if first < last => format!(" at positions {first} to {last}"),
        _ => String::new(),
    };
    let traced = if chosen.traced { "completely traced " } else { "" };
    format!("Compared: {traced}{}{}{at}{warm_up}.", calls(comparison.question), sizes(&chosen.sizes))
}
