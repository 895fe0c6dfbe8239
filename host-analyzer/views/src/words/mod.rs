//! Sentences, numbers and foreign text for people. Only this module turns results into prose.

pub mod accelerator;
pub mod budget;
pub mod capture;
pub mod compare;
pub mod conditions;
mod direct;
pub mod ending;
pub mod evidence;
pub mod experts;
pub mod findings;
pub mod heading;
pub mod health;
pub mod ladder;
pub mod predict;
pub mod timeline;
pub mod tokens;
pub mod tune;
pub mod watch;

use profinfer_analysis::ceiling::NoCeiling;
use profinfer_analysis::gauge::Note;
use profinfer_analysis::phase::Phase;
use profinfer_analysis::roof::Top;
use profinfer_trace::model::{CeilingLoad, CeilingSource, Doubt};

pub use crate::foreign::one_line;

/// A phase for people.
#[must_use]
pub const fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::BatchDecode => "batch decode",
        Phase::WarmUp => "warm-up",
        other => other.name(),
    }
}

/// The phases in the order in which they matter: the engine spends most of its time in decode.
pub(crate) const PHASES: [Phase; Phase::COUNT] = [
    Phase::Decode,
    Phase::BatchDecode,
    Phase::Prefill,
    Phase::Encode,
    Phase::Unknown,
    Phase::Draft,
    Phase::WarmUp,
];

/// Why a gauge has no values or no figures; empty when there is nothing to say.
#[must_use]
pub fn gauge_note(note: &Note) -> &str {
    match note {
        Note::Agent(text) => text,
        Note::CountedNothing => "it counted nothing; it does not work on this board",
    }
}

/// A number with separated thousands: `1,234,567`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number of things: `1 thread`, `1,234 threads`.
#[must_use]
pub fn counted(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A time with three significant digits and its unit: `12.3 µs`.
#[must_use]
pub fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        _ => scaled(ns as f64, 1_000.0, &["ns", "µs", "ms", "s"]),
    }
}

const SIZES: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// Tokens or texts per second: one decimal; two below one, where a single digit would hide most of a gain.
#[must_use]
pub fn per_s(value: f64) -> String {
    let decimals = if value < 0.995 { 2 } else { 1 };
    format!("{value:.decimals$}")
}

/// A size with three significant digits and its unit: `12.3 MiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        _ => scaled(bytes as f64, 1_024.0, &SIZES),
    }
}

/// The working set of a read ceiling, as a suffix: ` from 120 MiB`; empty without a curve.
#[must_use]
pub fn read_from(top: &Top) -> String {
    match (top.working_set_bytes, top.beyond) {
        (None, _) => String::new(),
        (Some(bytes), false) => format!(" from {}", size(bytes)),
        (Some(bytes), true) => format!(" from {}, the largest that was measured", size(bytes)),
    }
}

/// A day in UTC: `2026-11-26`.
#[must_use]
pub fn date(unix_ns: u64) -> String {
    // Howard Hinnant's days_from_civil, backwards: years begin on 1 March, eras have 400 years.
    let days = unix_ns / 86_400_000_000_000 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month < 3);
    format!("{year}-{month:02}-{day:02}")
}

/// Where a ceiling comes from.
#[must_use]
pub fn source(source: CeilingSource) -> String {
    match source {
        CeilingSource::Recording => "this session".to_owned(),
        CeilingSource::Given => "--ceilings".to_owned(),
        CeilingSource::Kept { unix_ns } => format!("kept, {}", date(unix_ns)),
        CeilingSource::Profile => "board profile".to_owned(),
        CeilingSource::BestSeen => "best seen".to_owned(),
    }
}

/// Why there is no ceiling for a number of threads.
#[must_use]
pub const fn no_ceiling(why: NoCeiling) -> &'static str {
    match why {
        NoCeiling::NotMeasured => "not measured (--bench)",
        NoCeiling::OtherThreads => "it was measured, but not with as many threads",
        NoCeiling::Doubtful(why) => doubt(why),
    }
}

/// Who held the CPUs during the measurement of a ceiling, if that may have lowered it.
#[must_use]
pub fn polluted(load: &CeilingLoad) -> String {
    let cpus = load.others_ns as f64 / load.wall_ns.max(1) as f64;
    let most = match load.pid {
        0 => String::new(),
        pid => format!(", most by {} ({pid})", one_line(&load.name)),
    };
    format!("others used {cpus:.1} CPUs during a measurement{most}: the figures may be too low")
}

/// Why a ceiling is doubtful.
#[must_use]
pub const fn doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::Unstable => "the repetitions differ too much; measure again on a quiet machine",
        Doubt::EngineRan => "an engine ran during the measurement; measure before it starts",
        Doubt::Noted => "the agent noted a doubt",
        Doubt::Unknown => "unknown doubt (reported by a newer agent)",
    }
}

/// A gauge's value with a unit for people: `1.80 GHz`, `46.2 °C`. `unit` is the unit's name in
/// summary.json.
#[must_use]
pub fn quantity(value: f64, unit: &str) -> String {
    const HERTZ: [&str; 5] = ["Hz", "kHz", "MHz", "GHz", "THz"];
    const WATTS: [&str; 5] = ["µW", "mW", "W", "kW", "MW"];
    match unit {
        "hertz" => scaled(value, 1_000.0, &HERTZ),
        "millidegrees" => format!("{:.1} °C", value / 1000.0),
        "percent" => format!("{value:.1} %"),
        "bytes" => scaled(value, 1_024.0, &SIZES),
        "bytes_per_s" => format!("{}/s", scaled(value, 1_024.0, &SIZES)),
        "microwatts" => scaled(value, 1_000.0, &WATTS),
        other => format!("{value} {other}"),
    }
}

/// A ceiling with three significant digits: `18.4 GB/s`, `1.23 TOP/s`, `612 ns`. `unit` is the
/// unit's name in summary.json. 1 GB/s is 10⁹ bytes per second, as memory makers and papers count.
#[must_use]
pub fn ceiling(value: u64, unit: &str) -> String {
    const BYTES: [&str; 5] = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"];
    const OPS: [&str; 5] = ["OP/s", "kOP/s", "MOP/s", "GOP/s", "TOP/s"];
    match unit {
        "bytes_per_s" => scaled(value as f64, 1_000.0, &BYTES),
        "ops_per_s" => scaled(value as f64, 1_000.0, &OPS),
        _ => duration(value),
    }
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    // 999.5 would be written as 1000.
    while value >= step.min(999.5) && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_below_one_have_two_decimals() {
        assert_eq!([0.0, 0.474, 0.994, 0.996, 12.34].map(per_s), ["0.00", "0.47", "0.99", "1.0", "12.3"]);
    }

    #[test]
    fn thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn three_digits_and_a_unit() {
        let got = [0, 999, 1_000, 9_994, 9_996, 99_949, 999_499, 999_500, 3_600_000_000_000].map(duration);
        let want =
            ["0 ns", "999 ns", "1.00 µs", "9.99 µs", "10.0 µs", "99.9 µs", "999 µs", "1.00 ms", "3600 s"];
        assert_eq!(got, want);
        assert_eq!(
            [1_023, 1_024, 1_022_976, 1_048_576].map(size),
            ["1023 B", "1.00 KiB", "999 KiB", "1.00 MiB"]
        );
    }

    #[test]
    fn quantities_of_gauges() {
        for (value, unit, text) in [
            (1.8e9, "hertz", "1.80 GHz"),
            (0.0, "hertz", "0.00 Hz"),
            (46_230.0, "millidegrees", "46.2 °C"),
            (-5_000.0, "millidegrees", "-5.0 °C"),
            (37.25, "percent", "37.2 %"),
            (12.5 * 1024.0 * 1024.0 * 1024.0, "bytes_per_s", "12.5 GiB/s"),
            (2_500_000.0, "microwatts", "2.50 W"),
        ] {
            assert_eq!(quantity(value, unit), text);
        }
    }

    #[test]
    fn ceilings() {
        assert_eq!(ceiling(18_449_000_000, "bytes_per_s"), "18.4 GB/s");
        assert_eq!(ceiling(1_234_000_000_000, "ops_per_s"), "1.23 TOP/s");
        assert_eq!(ceiling(612, "ns"), "612 ns");
        assert_eq!(ceiling(u64::MAX, "ops_per_s"), "18446744 TOP/s");
    }
}
