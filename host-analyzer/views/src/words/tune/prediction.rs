//! The sentences of an estimate for other settings from one recording.

use super::super::one_line;
use super::{cpus, figure};
use crate::words::{counted, duration, no_ceiling, read_from};
use profinfer_analysis::ceiling::NoCeiling;
use profinfer_analysis::compare::DISTURBED;
use profinfer_analysis::tune::{EstimatedSetting, Lacking, Prediction};

/// What a recording lacks for an estimate, and what to do.
#[must_use]
pub fn lacking(lacking: &Lacking) -> (String, String) {
    const BENCH: &str = "pass --ceilings with a file from `profinfer-agent bench --out FILE` on the board, or record with --bench";
    const AGAIN: &str = "measure again while nothing else runs: `profinfer-agent bench --out FILE` on the board; the best of each measurement is kept";
    let (answer, help) = match lacking {
        Lacking::Ceilings => ("it has no measured peak rates of the board".to_owned(), BENCH),
        Lacking::Ceiling { kind, threads, why } => (
            format!(
                "the recorded setting has {threads} threads, but no reliable peak rate `{}` was measured for this many: {}",
                kind.name(),
                no_ceiling(*why),
            ),
            match why {
                NoCeiling::Doubtful(_) => AGAIN,
                NoCeiling::NotMeasured | NoCeiling::OtherThreads => BENCH,
            },
        ),
        Lacking::Settings => (
            "peak rates were measured for one setting only, so there is no other to estimate".to_owned(),
            BENCH,
        ),
        Lacking::DoubtfulSetting { kind, threads, why } => (
            format!(
                "reliable peak rates were measured for one setting only, so there is no other to estimate; `{}` of {}: {}",
                kind.name(),
                counted(u64::from(*threads), "thread"),
                no_ceiling(*why),
            ),
            AGAIN,
        ),
        Lacking::Ends => (
            "it has no ends of operators, so waits cannot be distinguished from work".to_owned(),
            "record both probes of an operator: without --probes start",
        ),
        Lacking::AllOperators => {
            ("a filter left operators out".to_owned(), "record all operators of all threads")
        }
        Lacking::Tokens { found, needed, warm_up } => (
            format!(
                "after the first {warm_up}, it has {found} decode tokens with captured operators; {needed} are needed"
            ),
            "record a run that generates more tokens with the level `op`, or capture all operators: --full",
        ),
    };
    (answer, help.to_owned())
}

/// The name of a setting, as in `analyze tune --run`: `t4@4-7`.
#[must_use]
pub fn name(setting: &EstimatedSetting) -> String {
    format!("t{}@{}", setting.threads, cpus(&setting.cpus))
}

/// The estimate. `source` is the recording, if settings are to be tried next.
#[must_use]
pub fn estimated(prediction: &Prediction, source: Option<&str>) -> Vec<String> {
    let settings = &prediction.settings;
    let speed = |i: usize| format!("{}: {} t/s", name(&settings[i]), range(&settings[i]));
    let best = (0..settings.len()).min_by(|a, b| settings[*a].token_ns.total_cmp(&settings[*b].token_ns));
    let mut sentences = Vec::new();
    let most = format!("{:.1}", prediction.practical * 100.0);
    match (prediction.choice, best) {
        (Some(choice), _) => sentences.push(format!(
            "Estimated, not measured: use {}, within {most} % of the best of {} settings for every way to read the measured peak rates.",
            speed(choice),
            settings.len(),
        )),
        (None, Some(best)) => sentences.push(format!(
            "Estimated, not measured: {} is likely the fastest of {} settings, but not certain.",
            speed(best),
            settings.len(),
        )),
        (None, None) => {}
    }
    let plausible: Vec<String> = settings.iter().filter(|s| s.plausible).map(name).collect();
    if let Some(source) = source {
        sentences.push(format!(
            "Try {}: analyze tune {} --run -- COMMAND",
            match &plausible[..] {
                [one] => format!("{one} against another setting"),
                [first @ .., last] => format!("{} and {last}", first.join(", ")),
                [] => "some".to_owned(),
            },
            one_line(source),
        ));
    }
    sentences.push(match (prediction.cached, prediction.memory_share) {
        (true, _) => "The weights are read faster than memory allows: they are in a cache, and time scales with the arithmetic.".to_owned(),
        (false, share) => format!(
            "Reading weights and KV cache at the peak read bandwidth{} takes {:.0} % of the operators' time; the rest scales with the arithmetic.",
            prediction.read.as_ref().map(read_from).unwrap_or_default(),
            share * 100.0,
        ),
    });
    let taken = prediction.makeup.taken_ns / prediction.makeup.token_ns.max(1.0);
    if taken > DISTURBED {
        sentences.push(format!(
            "Other tasks and interrupts took {:.0} % of the recorded token: a recording on a quiet machine is more accurate.",
            taken * 100.0
        ));
    }
    sentences
}

/// Tokens per second, with the interval: `12.3 (11.0 to 14.0)`.
#[must_use]
pub fn range(setting: &EstimatedSetting) -> String {
    let speed = |ns: f64| figure(1e9 / ns.max(1.0));
    format!("{} ({} to {})", speed(setting.token_ns), speed(setting.high_ns), speed(setting.low_ns))
}

/// The standing of an estimated setting.
#[must_use]
pub const fn standing_of(setting: &EstimatedSetting) -> &'static str {
    match (setting.recorded, setting.plausible) {
        (true, true) => "recorded, try",
        (true, false) => "recorded",
        (false, true) => "try",
        (false, false) => "slower",
    }
}

/// The parts of the recorded token's time: name, time, and what it scales with.
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
        ("other tasks, interrupts", m.taken_ns, "stays; gone on a quiet machine"),
        ("everything else", m.other_ns, "stays"),
    ];
    let share = |ns: f64| 100.0 * ns / m.token_ns.max(1.0);
    rows.into_iter()
        .filter(|(_, ns, _)| ns.abs() >= 0.5)
        .map(|(part, ns, scales)| {
            (part.to_owned(), format!("{} {:.1} %", duration(ns.max(0.0).round() as u64), share(ns)), scales)
        })
        .collect()
}
