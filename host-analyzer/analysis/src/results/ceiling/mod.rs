//! Lookup of the ceiling that applies to an engine on certain CPUs.
//!
//! Stage: analysis. From: the ceilings of the model. To: [`Ceilings`]. Promises: a ceiling that was
//! not measured, was measured with another number of threads, or is doubtful never matches. A
//! ceiling measured on other CPUs than requested is marked so.
//!
//! The read ceiling is a curve over the working set. An engine reads the same bytes for each token,
//! so its ceiling is the point with the same number of bytes.
//!
//! Between two points, the time of reading all bytes once is interpolated, so each additional byte
//! costs the same. Near the size of a cache, two neighbouring points differ by a factor of two, and
//! the next larger point would show up to twice the utilisation.
//!
//! Below the smallest and above the largest point, that point applies. An unstable point is
//! skipped, and the curve connects its neighbours. Between two adjacent unstable points there is no
//! answer.

pub mod limit;

use std::collections::BTreeMap;

use profinfer_trace::model::{
    self, CeilingKind, CeilingLoad, CeilingPoint, CeilingSource, CeilingUnit, CurveEnd, Doubt, Model,
};

/// One ceiling, as the views show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    /// `read`, `copy`, `int8`, `f32`, `f16`, `barrier` or `wake-up`.
    pub kind: CeilingKind,
    /// `bytes_per_s`, `ops_per_s` or `ns`.
    pub unit: &'static str,
    /// Core types of the CPUs; `None` when unknown.
    pub core: Option<String>,
    /// Number of threads, each pinned to one of the CPUs.
    pub threads: usize,
    pub cpus: Vec<u16>,
    /// Instructions of the measuring loop.
    pub how: String,
    /// 0 if it was not measured.
    pub repeats: u32,
    /// Median of the repetitions. This and the next two are `None` when it was not measured.
    pub median: Option<u64>,
    pub min: Option<u64>,
    pub max: Option<u64>,
    /// For people: why it was not measured, or what makes it doubtful; empty otherwise.
    pub note: String,
    /// The working set of these figures. `None` for kinds that read no memory, and in recordings of
    /// older agents.
    pub working_set_bytes: Option<u64>,
    pub doubts: Vec<Doubt>,
    /// Why the curve has no larger working set; `None` for a ceiling without a curve.
    pub end: Option<CurveEnd>,
    /// Points of a curve, smallest working set first. The last one has the figures above.
    pub points: Vec<Point>,
    /// Who held the CPUs meanwhile; `None` for agents that do not send it.
    pub load: Option<CeilingLoad>,
    /// Others held CPUs meanwhile, so the figures may be too low.
    pub polluted: bool,
    pub source: CeilingSource,
}

/// A point of a curve, as the views show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Bytes that all threads together read repeatedly.
    pub working_set_bytes: u64,
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    pub min: u64,
    pub max: u64,
    pub doubts: Vec<Doubt>,
}

/// All ceilings, in the agent's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ceilings {
    pub all: Vec<Ceiling>,
    /// Core type of each CPU, where a ceiling on CPUs of a single type shows it.
    cores: BTreeMap<u16, String>,
}

/// How well a ceiling matches the requested CPUs, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Measured on exactly these CPUs.
    SameCpus,
    /// Measured on as many CPUs of the same core types.
    SameCores,
    /// Measured on as many other CPUs.
    AsMany,
}

/// Why there is no ceiling of a kind for a number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoCeiling {
    /// No ceiling of this kind was measured.
    NotMeasured,
    /// Only with other numbers of threads.
    OtherThreads,
    /// It was measured, but something makes the figures doubtful.
    Doubtful(Doubt),
}

impl NoCeiling {
    /// Name in summary.json.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotMeasured => "not_measured",
            Self::OtherThreads => "other_threads",
            Self::Doubtful(doubt) => doubt.name(),
        }
    }
}

/// A ceiling that matches certain CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fitting<'a> {
    pub ceiling: &'a Ceiling,
    /// Its median at the working set, in the unit of its kind; not 0.
    pub value: u64,
    /// Smallest and largest repetition there.
    pub range: (u64, u64),
    pub fit: Fit,
    /// Position on its curve; `None` where there is no curve.
    pub at: Option<At>,
}

/// A position on a read curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// Working set of the figure, bytes.
    pub working_set_bytes: u64,
    /// More bytes are read than were measured, so the figure is that of the largest working set.
    pub beyond: bool,
}

impl Ceilings {
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let mut cores = BTreeMap::new();
        for c in model.ceilings.iter().filter(|c| !c.core.is_empty() && !c.core.contains('+')) {
            for cpu in &c.cpus {
                cores.entry(*cpu).or_insert_with(|| c.core.clone());
            }
        }
        Self { all: model.ceilings.iter().map(ceiling).collect(), cores }
    }

    /// The ceiling of a kind for `threads` threads on these CPUs, of which there may be more than
    /// threads. It prefers a ceiling measured on the same CPUs, then on as many CPUs of the same
    /// core types, then one of this session over one of another time (but the faster one if others
    /// held the CPUs in this session), then those that share most CPUs with these. Among several
    /// ways to compute, it takes the fastest. A ceiling with another number of threads or with
    /// doubtful figures never matches.
    ///
    /// `reads` is the number of bytes that all threads together read repeatedly; without it, more
    /// than any cache holds.
    #[must_use]
    pub fn on(
        &self,
        kind: CeilingKind,
        threads: usize,
        cpus: &[u16],
        reads: Option<u64>,
    ) -> Option<Fitting<'_>> {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        let cores = self.cores_of(&cpus);
        let fit = |c: &Ceiling| {
            if c.cpus.len() == cpus.len() && c.cpus.iter().all(|cpu| cpus.contains(cpu)) {
                Fit::SameCpus
            } else if cores.is_some() && cores == self.cores_of(&c.cpus) {
                Fit::SameCores
            } else {
                Fit::AsMany
            }
        };
        let shared = |c: &Ceiling| c.cpus.iter().filter(|cpu| cpus.contains(cpu)).count();
        let higher = kind.unit() != CeilingUnit::Nanoseconds;
        // A ceiling without CPUs was not measured.
        let fits = |c: &&Ceiling| c.kind == kind && c.threads == threads && threads > 0;
        let measured = self.all.iter().filter(fits).filter_map(|c| Some((c, c.figure(reads)?)));
        let known = measured.filter(|(_, figure)| figure.value > 0);
        known
            .map(|(ceiling, Figure { value, range, at })| Fitting {
                ceiling,
                value,
                range,
                fit: fit(ceiling),
                at,
            })
            .min_by_key(|f| {
                let value = if higher { u64::MAX - f.value } else { f.value };
                let kept = f.ceiling.polluted || matches!(f.ceiling.source, CeilingSource::Kept { .. });
                (f.fit, kept, std::cmp::Reverse(shared(f.ceiling)), value)
            })
    }

    /// Why there is no ceiling of a kind for so many threads.
    #[must_use]
    pub fn lack(&self, kind: CeilingKind, threads: usize) -> NoCeiling {
        let measured = || self.all.iter().filter(|c| c.kind == kind && c.median.is_some_and(|m| m > 0));
        let doubt =
            |c: &Ceiling| c.doubts.iter().chain(c.points.iter().flat_map(|p| &p.doubts)).next().copied();
        match measured().find(|c| c.threads == threads) {
            Some(c) => doubt(c).map_or(NoCeiling::OtherThreads, NoCeiling::Doubtful),
            None if measured().next().is_some() => NoCeiling::OtherThreads,
            None => NoCeiling::NotMeasured,
        }
    }

    /// Core type of each of these CPUs, sorted; `None` when one is unknown.
    fn cores_of(&self, cpus: &[u16]) -> Option<Vec<&str>> {
        let mut cores: Vec<&str> =
            cpus.iter().map(|cpu| self.cores.get(cpu).map(String::as_str)).collect::<Option<_>>()?;
        cores.sort_unstable();
        Some(cores)
    }
}

impl Ceiling {
    /// Its figure for this many bytes; `None` where it is doubtful or was not measured.
    fn figure(&self, reads: Option<u64>) -> Option<Figure> {
        let Some(largest) = self.points.last() else {
            let range = (self.min?, self.max?);
            return self.doubts.is_empty().then_some(Figure { value: self.median?, range, at: None });
        };
        let at = |point: &Point, beyond| {
            let at = At { working_set_bytes: point.working_set_bytes, beyond };
            let range = (point.min, point.max);
            point.doubts.is_empty().then_some(Figure { value: point.median, range, at: Some(at) })
        };
        let Some(bytes) = reads.filter(|bytes| *bytes <= largest.working_set_bytes) else {
            return at(largest, reads.is_some());
        };
        let above = self.points.partition_point(|p| p.working_set_bytes < bytes);
        let stable = |i: usize| self.points.get(i).filter(|p| p.doubts.is_empty());
        let Some(below) = above.checked_sub(1) else { return at(&self.points[0], false) };
        if let Some(same) = stable(above).filter(|p| p.working_set_bytes == bytes) {
            return at(same, false);
        }
        let pair = |below: Option<usize>, above| Some((stable(below?)?, stable(above)?));
        let around = pair(Some(below), above)
            .or_else(|| pair(below.checked_sub(1), above))
            .or_else(|| pair(Some(below), above + 1));
        let (from, to) = around?;
        let of = |rate: fn(&Point) -> u64| between(from, to, bytes, rate);
        let at = At { working_set_bytes: bytes, beyond: false };
        Some(Figure { value: of(|p| p.median), range: (of(|p| p.min), of(|p| p.max)), at: Some(at) })
    }
}

/// A ceiling at a working set.
struct Figure {
    value: u64,
    range: (u64, u64),
    at: Option<At>,
}

/// The read rate for `bytes` between two working sets: the time of reading all bytes once is
/// interpolated linearly between the times of these two.
fn between(from: &Point, to: &Point, bytes: u64, rate: fn(&Point) -> u64) -> u64 {
    let time = |p: &Point| p.working_set_bytes as f64 / rate(p).max(1) as f64;
    let part =
        (bytes - from.working_set_bytes) as f64 / (to.working_set_bytes - from.working_set_bytes) as f64;
    (bytes as f64 / (time(from) + part * (time(to) - time(from)))).round() as u64
}

fn ceiling(c: &model::Ceiling) -> Ceiling {
    // Ceilings that read no memory have one point, equal to the figures.
    let curve: &[CeilingPoint] = match c.points.first() {
        Some(point) if point.working_set_bytes > 0 => &c.points,
        _ => &[],
    };
    let figure = |value: u64| c.measured().then_some(value);
    Ceiling {
        kind: c.kind,
        unit: match c.kind.unit() {
            CeilingUnit::BytesPerSecond => "bytes_per_s",
            CeilingUnit::OpsPerSecond => "ops_per_s",
            CeilingUnit::Nanoseconds => "ns",
        },
        core: Some(c.core.clone()).filter(|core| !core.is_empty()),
        threads: c.cpus.len(),
        cpus: c.cpus.clone(),
        how: c.how.clone(),
        repeats: c.repeats,
        median: figure(c.median),
        min: figure(c.min),
        max: figure(c.max),
        note: c.note.clone(),
        working_set_bytes: curve.last().map(|p| p.working_set_bytes),
        doubts: c.doubts().to_vec(),
        end: curve.last().map(|p| p.end),
        points: curve.iter().map(point).collect(),
        load: c.load.clone(),
        polluted: c.polluted(),
        source: c.source,
    }
}

fn point(p: &CeilingPoint) -> Point {
    Point {
        working_set_bytes: p.working_set_bytes,
        repeats: p.repeats,
        median: p.median,
        min: p.min,
        max: p.max,
        doubts: p.doubts.clone(),
    }
}
