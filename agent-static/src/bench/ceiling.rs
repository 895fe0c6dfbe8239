//! One ceiling, and its record.

use profinfer_wire::record::ceiling as wire;
pub use profinfer_wire::record::ceiling::CeilingKind;

use super::stats::{Spread, spread};
use crate::counter::pmu;

/// Longest text of a record, bytes.
const TEXT: usize = 500;

/// One ceiling, see [`wire::Ceiling`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    /// What was measured.
    pub kind: CeilingKind,
    /// Core type of its CPUs.
    pub core: String,
    /// CPUs, a thread each.
    pub cpus: Vec<u32>,
    /// What the measuring loop used.
    pub how: String,
    /// The figures; `None` when nothing was measured.
    pub spread: Option<Spread>,
    /// Why nothing was measured, or what makes the figures doubtful.
    pub note: String,
}

impl Ceiling {
    /// From the values of the repetitions; without values, `note` says why.
    #[must_use]
    pub fn new(kind: CeilingKind, core: &str, cpus: &[u32], how: &str, values: Vec<u64>, note: &str) -> Self {
        let (core, how, note) = (core.to_owned(), how.to_owned(), note.to_owned());
        Self { kind, core, cpus: cpus.to_vec(), how, spread: spread(values), note }
    }

    /// With doubts about its figures. What was not measured has none.
    #[must_use]
    pub fn doubted<'a>(mut self, doubts: impl Iterator<Item = &'a String>) -> Self {
        for doubt in doubts.filter(|d| self.spread.is_some() && !d.is_empty()) {
            let between = if self.note.is_empty() { "" } else { "; " };
            self.note = format!("{}{between}{doubt}", self.note);
        }
        self
    }

    /// Gives its record to `to`.
    pub fn record<T>(&self, to: impl FnOnce(wire::Ceiling<'_>) -> T) -> T {
        let cut = |text: &str| text[..text.floor_char_boundary(TEXT)].to_owned();
        let none = Spread { repeats: 0, median: 0, min: 0, max: 0 };
        let Spread { repeats, median, min, max } = self.spread.unwrap_or(none);
        let (core, how, note, cpus) =
            (cut(&self.core), cut(&self.how), cut(&self.note), pmu::list_of(&self.cpus));
        to(wire::Ceiling {
            kind: self.kind,
            core: &core,
            cpus: &cpus,
            how: &how,
            repeats,
            median,
            min,
            max,
            note: &note,
        })
    }

    /// A value of its kind with three digits and a unit.
    #[must_use]
    pub fn say(&self, value: u64) -> String {
        let billions = |unit: &str| match value as f64 / 1e9 {
            v @ ..10.0 => format!("{v:.2} {unit}"),
            v @ ..100.0 => format!("{v:.1} {unit}"),
            v => format!("{v:.0} {unit}"),
        };
        match self.kind {
            CeilingKind::Read | CeilingKind::Copy => billions("GB/s"),
            CeilingKind::Int8 | CeilingKind::F32 | CeilingKind::F16 => billions("GOP/s"),
            CeilingKind::Barrier | CeilingKind::WakeUp if value < 10_000 => format!("{value} ns"),
            CeilingKind::Barrier | CeilingKind::WakeUp => format!("{:.1} µs", value as f64 / 1e3),
        }
    }
}

/// Name of a kind for people.
#[must_use]
pub const fn name(kind: CeilingKind) -> &'static str {
    match kind {
        CeilingKind::Read => "read",
        CeilingKind::Copy => "copy",
        CeilingKind::Int8 => "int8",
        CeilingKind::F32 => "f32",
        CeilingKind::F16 => "f16",
        CeilingKind::Barrier => "barrier",
        CeilingKind::WakeUp => "wake-up",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ceiling(values: Vec<u64>) -> Ceiling {
        Ceiling::new(CeilingKind::Read, "Cortex-A76", &[4, 5, 7], "ldp q", values, "")
    }

    #[test]
    fn its_record_has_the_same_figures() {
        let of = |c: &Ceiling| {
            c.record(|r| {
                (r.cpus.to_owned(), r.how.to_owned(), r.repeats, r.median, r.min, r.max, r.note.to_owned())
            })
        };
        let measured = ceiling(vec![30, 10, 20]);
        assert_eq!(of(&measured), ("4-5,7".into(), "ldp q".into(), 3, 20, 10, 30, String::new()));
        let doubts = [String::new(), "a".to_owned(), "b".to_owned()];
        assert_eq!(of(&measured.doubted(doubts.iter())).6, "a; b");
        let none = ceiling(Vec::new());
        assert_eq!(of(&none).2, 0);
        assert_eq!(of(&none.doubted(doubts.iter())).6, "");
        let long = Ceiling { note: "ü".repeat(3000), core: "x".repeat(3000), ..ceiling(vec![1]) };
        assert!(long.record(|r| r.note.len() <= TEXT && r.core.len() == TEXT));
    }

    #[test]
    fn values_in_words() {
        let say = |kind, value| Ceiling { kind, ..ceiling(vec![]) }.say(value);
        assert_eq!(say(CeilingKind::Read, 18_449_000_000), "18.4 GB/s");
        assert_eq!(say(CeilingKind::Copy, 9_260_000_000), "9.26 GB/s");
        assert_eq!(say(CeilingKind::Int8, 1_234_000_000_000), "1234 GOP/s");
        assert_eq!(say(CeilingKind::Barrier, 612), "612 ns");
        assert_eq!(say(CeilingKind::WakeUp, 52_340), "52.3 µs");
    }
}
