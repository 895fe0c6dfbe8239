//! One ceiling, and its record.

use profinfer_wire::record::ceiling as wire;
pub use profinfer_wire::record::ceiling::CeilingKind;
use wire::{CurveEnd, doubt};

use super::curve::Point;
use super::load::Load;
use super::stats::{Spread, spread};
use crate::observe::counter::pmu;

/// Longest text of a record, bytes.
const TEXT: usize = 500;

/// One ceiling, see [`wire::Ceiling`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    pub kind: CeilingKind,
    /// Core type of its CPUs.
    pub core: String,
    /// CPUs, one thread each.
    pub cpus: Vec<u32>,
    /// Instructions or method of the measuring loop.
    pub how: String,
    /// Results by working set, the smallest first; empty if nothing was measured. Kinds that read
    /// no memory have one.
    pub points: Vec<Point>,
    /// For people: why nothing was measured, or why the results at the largest working set are
    /// doubtful.
    pub note: String,
    /// Who held the CPUs meanwhile; `None` if nothing was measured, or the kernel does not report it.
    pub load: Option<Load>,
}

impl Ceiling {
    /// From the values of the repetitions; without values, `note` has the reason. `bytes` is the
    /// working set, 0 for kinds that read no memory.
    #[must_use]
    pub fn new(
        kind: CeilingKind,
        core: &str,
        cpus: &[u32],
        how: &str,
        bytes: u64,
        values: Vec<u64>,
        note: &str,
    ) -> Self {
        let point = spread(values).map(|spread| Point { bytes, spread, doubts: 0, end: CurveEnd::Open });
        let curve = Self::curve(kind, core, cpus, how, point.into_iter().collect());
        Self { note: note.to_owned(), ..curve }
    }

    /// From the points of a curve.
    #[must_use]
    pub fn curve(kind: CeilingKind, core: &str, cpus: &[u32], how: &str, points: Vec<Point>) -> Self {
        let mut this = Self {
            kind,
            core: core.to_owned(),
            cpus: cpus.to_vec(),
            how: how.to_owned(),
            points,
            note: String::new(),
            load: None,
        };
        if this.points.last().is_some_and(|p| p.doubts & doubt::UNSTABLE != 0) {
            this.note_doubt("the repetitions differ too much: other programs used the machine");
        }
        this
    }

    /// Marks the results as doubtful, because this process, an engine, ran during the measurement.
    /// Has no effect if nothing was measured.
    #[must_use]
    pub fn with_engine(mut self, engine: Option<u32>) -> Self {
        let Some(pid) = engine.filter(|_| !self.points.is_empty()) else { return self };
        self.points.iter_mut().for_each(|p| p.doubts |= doubt::ENGINE_RAN);
        self.note_doubt(&format!("process {pid}, an engine, ran during the measurement"));
        self
    }

    /// Adds who held the CPUs. Has no effect if nothing was measured.
    #[must_use]
    pub fn with_load(mut self, load: Option<Load>) -> Self {
        self.load = load.filter(|_| !self.points.is_empty());
        self
    }

    fn note_doubt(&mut self, doubt: &str) {
        let between = if self.note.is_empty() { "" } else { "; " };
        self.note = format!("{}{between}{doubt}", self.note);
    }

    /// Results at the largest working set; `None` if nothing was measured.
    #[must_use]
    pub fn largest(&self) -> Option<&Point> {
        self.points.last()
    }

    /// Passes the records of its points to `to`, the smallest working set first.
    pub fn point_records(&self, to: &mut dyn FnMut(wire::CeilingPoint<'_>)) {
        let (core, how, cpus) = (cut(&self.core), cut(&self.how), pmu::list_of(&self.cpus));
        for p in &self.points {
            to(wire::CeilingPoint {
                kind: self.kind,
                core,
                cpus: &cpus,
                how,
                working_set_bytes: p.bytes,
                repeats: p.spread.repeats,
                median: p.spread.median,
                min: p.spread.min,
                max: p.spread.max,
                doubts: p.doubts,
                end: p.end,
            });
        }
    }

    /// The record of who held the CPUs; `None` if that is unknown.
    pub fn load_record<T>(&self, to: impl FnOnce(wire::CeilingLoad<'_>) -> T) -> Option<T> {
        let load = self.load.as_ref()?;
        let cpus = pmu::list_of(&self.cpus);
        Some(to(wire::CeilingLoad {
            kind: self.kind,
            cpus: &cpus,
            how: cut(&self.how),
            wall_ns: u64::try_from(load.wall.as_nanos()).unwrap_or(u64::MAX),
            others_ns: load.others_ns,
            pid: load.pid,
            name: cut(&load.name),
            pid_ns: load.pid_ns,
        }))
    }

    /// Passes its record to `to`: the results at the largest working set, which is all that older
    /// hosts know.
    pub fn record<T>(&self, to: impl FnOnce(wire::Ceiling<'_>) -> T) -> T {
        let none = Spread { repeats: 0, median: 0, min: 0, max: 0 };
        let Spread { repeats, median, min, max } = self.largest().map_or(none, |p| p.spread);
        let cpus = pmu::list_of(&self.cpus);
        to(wire::Ceiling {
            kind: self.kind,
            core: cut(&self.core),
            cpus: &cpus,
            how: cut(&self.how),
            repeats,
            median,
            min,
            max,
            note: cut(&self.note),
        })
    }

    /// Formats a value of its kind with three digits and a unit.
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

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT)]
}

/// Formats bytes: `256 KiB`, `2 MiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    match bytes {
        ..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
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
        Ceiling::new(CeilingKind::Read, "Cortex-A76", &[4, 5, 7], "ldp q", 4096, values, "")
    }

    fn point(bytes: u64, median: u64, doubts: u32, end: CurveEnd) -> Point {
        let spread = Spread { repeats: 7, median, min: median - 1, max: median + 1 };
        Point { bytes, spread, doubts, end }
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
        let none = ceiling(Vec::new());
        assert_eq!((of(&none).2, none.points.len()), (0, 0));
        assert_eq!(of(&none.with_engine(Some(7))).6, "");
        let long = Ceiling { note: "ü".repeat(3000), core: "x".repeat(3000), ..ceiling(vec![1]) };
        assert!(long.record(|r| r.note.len() <= TEXT && r.core.len() == TEXT));
        long.point_records(&mut |r| assert_eq!(r.core.len(), TEXT));
    }

    #[test]
    fn a_curve_has_a_record_for_each_point_and_one_of_the_largest() {
        let points = vec![point(1, 50, doubt::UNSTABLE, CurveEnd::Open), point(2, 20, 0, CurveEnd::Memory)];
        let curve = Ceiling::curve(CeilingKind::Read, "", &[0], "AVX2", points);
        let records = |c: &Ceiling| {
            let mut records = Vec::new();
            c.point_records(&mut |r| {
                records.push((r.working_set_bytes, r.repeats, r.min, r.median, r.max, r.doubts, r.end));
            });
            records
        };
        assert_eq!(
            records(&curve),
            [(1, 7, 49, 50, 51, doubt::UNSTABLE, CurveEnd::Open), (2, 7, 19, 20, 21, 0, CurveEnd::Memory)]
        );
        // The doubt of a smaller point does not apply to the largest one, which older hosts get.
        assert_eq!(curve.record(|r| (r.median, r.note.to_owned())), (20, String::new()));
        let doubts = |c: &Ceiling| c.points.iter().map(|p| p.doubts).collect::<Vec<_>>();
        let marked = curve.with_engine(Some(7));
        assert_eq!(doubts(&marked), [doubt::UNSTABLE | doubt::ENGINE_RAN, doubt::ENGINE_RAN]);
        assert!(marked.record(|r| !r.note.is_empty()));
        let worse = vec![point(2, 20, doubt::UNSTABLE, CurveEnd::Time)];
        let worse = Ceiling::curve(CeilingKind::Read, "", &[0], "AVX2", worse);
        assert!(worse.record(|r| !r.note.is_empty()), "older hosts recognize a doubt by its note only");
    }

    #[test]
    fn values_with_units() {
        let say = |kind, value| Ceiling { kind, ..ceiling(vec![]) }.say(value);
        assert_eq!(say(CeilingKind::Read, 18_449_000_000), "18.4 GB/s");
        assert_eq!(say(CeilingKind::Copy, 9_260_000_000), "9.26 GB/s");
        assert_eq!(say(CeilingKind::Int8, 1_234_000_000_000), "1234 GOP/s");
        assert_eq!(say(CeilingKind::Barrier, 612), "612 ns");
        assert_eq!(say(CeilingKind::WakeUp, 52_340), "52.3 µs");
        assert_eq!([size(256 << 10), size(1 << 20), size(1920 << 20)], ["256 KiB", "1 MiB", "1920 MiB"]);
    }
}
