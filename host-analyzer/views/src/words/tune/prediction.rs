//! What one recording says of other settings, for people.

use super::super::one_line;
use super::{cpus, figure};
use crate::words::{duration, read_from};
use profinfer_analysis::compare::DISTURBED;
use profinfer_analysis::tune::{Foreseen, Lacking, Prediction};

/// What a recording lacks for a prediction, and what to do.
#[must_use]
pub fn lacking(lacking: &Lacking) -> (String, String) {
    const BENCH: &str = "give --ceilings with a file that `profinfer-agent bench --out FILE` wrote on the board, or record with --bench";
    let (answer, help) = match lacking {
        Lacking::Ceilings => ("it has no ceilings of the board".to_owned(), BENCH),
        Lacking::Ceiling { kind, threads } => {
            let kind = kind.name();
            (
                format!(
                    "the setting that was recorded has {threads} threads, and no ceiling `{kind}` that is not doubtful was measured with as many"
                ),
                BENCH,
            )
        }
        Lacking::Settings => {
            ("ceilings are of one setting only, so there is no other to foresee".to_owned(), BENCH)
        }
        Lacking::Ends => (
            "it has no ends of operators, so that no wait is told from work".to_owned(),
            "record with both probes of an operator: without --probes start",
        ),
        Lacking::AllOperators => {
            ("a filter left operators out".to_owned(), "record all operators of all threads")
        }
        Lacking::Tokens { found, needed, warm_up } => (
            format!(
                "it has {found} decode tokens whose operators were captured, behind the first {warm_up}, and {needed} are needed"
            ),
            "record a run that generates more tokens, with the level `op`",
        ),
    };
    (answer, help.to_owned())
}

/// Its name, as `analyze tune --run` calls it: `t4@4-7`.
#[must_use]
pub fn name(setting: &Foreseen) -> String {
    format!("t{}@{}", setting.threads, cpus(&setting.cpus))
}

/// What is foreseen. `source` is the recording, when settings are to be tried next.
#[must_use]
pub fn foreseen(prediction: &Prediction, source: Option<&str>) -> Vec<String> {
    let settings = &prediction.settings;
    let speed = |i: usize| format!("{}: {} tokens/s", name(&settings[i]), range(&settings[i]));
    let best = (0..settings.len()).min_by(|a, b| settings[*a].token_ns.total_cmp(&settings[*b].token_ns));
    let mut said = Vec::new();
    let most = format!("{:.1}", prediction.practical * 100.0);
    match (prediction.choice, best) {
        (Some(choice), _) => said.push(format!(
            "Foreseen, not tried: take {}, within {most} % of the best of {} settings however the ceilings are read.",
            speed(choice),
            settings.len(),
        )),
        (None, Some(best)) => said.push(format!(
            "Foreseen, not tried: {} is likely the fastest of {} settings, but not sure.",
            speed(best),
            settings.len(),
        )),
        (None, None) => {}
    }
    let plausible: Vec<String> = settings.iter().filter(|s| s.plausible).map(name).collect();
    if let Some(source) = source {
        said.push(format!(
            "Try {}: analyze tune {} --run -- COMMAND",
            match &plausible[..] {
                [one] => format!("{one} against another one"),
                [first @ .., last] => format!("{} and {last}", first.join(", ")),
                [] => "some".to_owned(),
            },
            one_line(source),
        ));
    }
    said.push(match (prediction.cached, prediction.memory_share) {
        (true, _) => "The weights are read faster than memory can be: they lie in a cache, and the arithmetic is what scales.".to_owned(),
        (false, share) => format!(
            "{:.0} % of the operators' time is what their weights and KV cache take at the read ceiling{}; the rest scales with the arithmetic.",
            share * 100.0,
            prediction.read.as_ref().map(read_from).unwrap_or_default(),
        ),
    });
    let taken = prediction.makeup.taken_ns / prediction.makeup.token_ns.max(1.0);
    if taken > DISTURBED {
        said.push(format!(
            "Other tasks and interrupts took {:.0} % of the recorded token: a recording of a quiet machine says more.",
            taken * 100.0
        ));
    }
    said
}

/// Tokens per second, with the interval: `12.3 (11.0 to 14.0)`.
#[must_use]
pub fn range(setting: &Foreseen) -> String {
    let speed = |ns: f64| figure(1e9 / ns.max(1.0));
    format!("{} ({} to {})", speed(setting.token_ns), speed(setting.high_ns), speed(setting.low_ns))
}

/// How a foreseen setting stands.
#[must_use]
pub const fn standing_of(setting: &Foreseen) -> &'static str {
    match (setting.recorded, setting.plausible) {
        (true, true) => "recorded, try",
        (true, false) => "recorded",
        (false, true) => "try",
        (false, false) => "slower",
    }
}

/// What the recorded token is made of: a part, its time, and what it scales with.
#[must_use]
pub fn parts(prediction: &Prediction) -> Vec<(String, String, &'static str)> {
    let m = &prediction.makeup;
    let sum =
        |of: &dyn Fn(u64) -> bool| -> f64 { m.operators.iter().filter(|o| of(o.rows)).map(|o| o.ns).sum() };
    let rows = [
        ("operators that threads share", sum(&|rows| rows > 1), "memory or arithmetic of all threads"),
        ("operators of a single row", sum(&|rows| rows <= 1), "one thread"),
        ("between operators, barriers", m.between_ns, "barriers by threads"),
        ("sampling, application, graph", m.serial_ns, "one thread"),
        ("waiting for a late thread", m.waits_ns, "stays; gone with one thread"),
        ("other tasks, interrupts", m.taken_ns, "stays; gone where it is quiet"),
        ("all else", m.other_ns, "stays"),
    ];
    let share = |ns: f64| 100.0 * ns / m.token_ns.max(1.0);
    rows.into_iter()
        .filter(|(_, ns, _)| ns.abs() >= 0.5)
        .map(|(part, ns, scales)| {
            (part.to_owned(), format!("{} {:.1} %", duration(ns.max(0.0).round() as u64), share(ns)), scales)
        })
        .collect()
}
