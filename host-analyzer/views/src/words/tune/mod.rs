//! The sentences about measured settings, and about estimates for others from one recording.

mod prediction;

use super::compare::change;
use super::one_line;
use profinfer_analysis::tune::{Setting, Standing, Tried, Tuning};

pub use prediction::{estimated, lacking, name, parts, range, standing_of};

/// The recommended setting, in one or more sentences.
#[must_use]
pub fn advice(tuning: &Tuning, settings: &[Setting]) -> Vec<String> {
    let (Some(fastest), Some(choice)) = (tuning.fastest, tuning.choice) else {
        return vec!["No setting has comparable decode tokens.".to_owned()];
    };
    let name = |i: usize| one_line(&settings[i].name);
    let speed = |i: usize| tuning.tried[i].as_ref().map_or_else(String::new, tokens_per_s);
    let most = change(tuning.choices.practical).trim_start_matches('+').to_owned();
    let mut sentences = Vec::new();
    if choice == fastest {
        sentences.push(format!(
            "Use {}: {}, the fastest of {}.",
            name(fastest),
            speed(fastest),
            settings.len()
        ));
    } else {
        let tried = tuning.tried[choice].as_ref();
        sentences.push(format!(
            "Use {}: {}, within {most} of the fastest ({}, {}){}.",
            name(choice),
            speed(choice),
            name(fastest),
            speed(fastest),
            tried.map_or_else(String::new, |t| format!(": a token takes {}", longer(t))),
        ));
    }
    if !tuning.open.is_empty() {
        let names: Vec<String> = tuning.open.iter().map(|i| name(*i)).collect();
        sentences.push(format!(
            "Inconclusive for {}: more rounds (--rounds) or longer runs are needed to decide.",
            names.join(" or ")
        ));
    }
    let other: Vec<String> = (0..settings.len())
        .filter(|i| tuning.tried[*i].as_ref().is_some_and(|t| t.standing == Standing::OtherWork))
        .map(name)
        .collect();
    if !other.is_empty() {
        sentences.push(format!(
            "{} did other work than the fastest setting and cannot be compared with it.",
            other.join(", ")
        ));
    }
    sentences
}

/// `12.3 t/s`.
#[must_use]
pub fn tokens_per_s(tried: &Tried) -> String {
    format!("{} t/s", figure(1e9 / tried.token_ns.max(1) as f64))
}

/// The additional time per token, with its interval: `+1.2 % (+0.4 % to +2.0 %)`.
#[must_use]
pub fn longer(tried: &Tried) -> String {
    let Some(longer) = tried.longer else { return "–".to_owned() };
    match tried.interval {
        Some((low, high)) => format!("{} ({} to {})", change(longer), change(low), change(high)),
        None => change(longer),
    }
}

#[must_use]
pub const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Fastest => "fastest",
        Standing::AsFast => "as fast",
        Standing::Slower => "slower",
        Standing::Undecided => "inconclusive",
        Standing::OtherWork => "other work",
    }
}

/// A number with three digits.
#[must_use]
pub fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// CPUs as a list: `0,2-5`. They are in order.
#[must_use]
pub fn cpus(cpus: &[u16]) -> String {
    let next = |a: &u16, b: &u16| a.checked_add(1) == Some(*b);
    let range = |run: &[u16]| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run.iter().map(u16::to_string).collect(),
    };
    cpus.chunk_by(next).map(range).collect::<Vec<_>>().join(",")
}

/// The last run of a setting: `t2@0-1 12.3 t/s`.
#[must_use]
pub fn one_run(setting: &Setting, warm_up: usize) -> String {
    let last = setting.trials.last().and_then(|t| t.mean_ns(warm_up));
    let speed = last.map_or_else(|| "–".to_owned(), |ns| format!("{} t/s", figure(1e9 / ns)));
    format!("{} {speed}", one_line(&setting.name))
}

/// The setting whose runs are the fastest so far; empty before the first run.
#[must_use]
pub fn best_so_far(settings: &[Setting], warm_up: usize) -> String {
    let mean = |s: &Setting| {
        let runs: Vec<f64> = s.trials.iter().filter_map(|t| t.mean_ns(warm_up)).collect();
        (!runs.is_empty()).then(|| runs.iter().sum::<f64>() / runs.len() as f64)
    };
    let best = settings.iter().filter_map(|s| Some((s, mean(s)?))).min_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or_else(String::new, |(s, ns)| {
        format!("fastest so far: {} with {} t/s", one_line(&s.name), figure(1e9 / ns))
    })
}
