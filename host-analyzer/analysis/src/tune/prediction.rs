//! Recommended number of threads and CPUs, estimated from one recording and the ceilings of the
//! board.
//!
//! Stage: analysis. From: a mean token ([`Makeup`]), ceilings. To: [`Prediction`]. Promises: only
//! settings with measured ceilings are estimated. The estimate for the recorded setting equals the
//! recording. Unknowns widen the interval: every [`Case`] of them is computed, alike for all
//! settings. An estimate is never presented as a measurement.
//!
//! The time of an operator is split into the time of its bytes at the read ceiling, and the rest,
//! which is arithmetic, as in a roofline (Williams, Waterman and Patterson, "Roofline", CACM 52,
//! 2009). Each part scales with its own ceiling.
//!
//! Rows are divided as in ggml: each thread takes ceil(rows / threads) of them. Products with
//! weights are handed out in pieces of 64 rows if that makes at least four pieces per thread
//! (`ggml_compute_forward_mul_mat`).

use super::makeup::{Lacking, Makeup, Share};
use super::speeds::{Speed, Speeds};
use crate::Analysis;
use crate::results::ceiling::{Ceilings, Fit, NoCeiling};
use crate::results::roof::Top;
use crate::shared::phase::Phases;
use profinfer_trace::model::{CeilingKind, Model};

/// Rows of a piece of a product with a single token.
const PIECE: u64 = 64;
/// From this many pieces per thread on, they are handed out on demand.
const PIECES: u64 = 4;
/// Weights that are read faster than this multiple of the read ceiling are in a cache.
const CACHED: f64 = 1.05;
/// Effects that the model ignores, as a share of a token: a setting may be this much better than
/// estimated, and then still deserves a trial.
pub const UNMODELLED: f64 = 0.10;

/// What limits the operators that neither ceiling explains alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// Both, as far as the bytes explain the time.
    Both,
    /// The arithmetic, up to the memory bandwidth.
    Arithmetic,
    /// The memory.
    Memory,
}

/// Distribution of rows to threads on cores of several types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// As ggml does it.
    AsGgml,
    /// Always equal shares.
    Even,
    /// Always on demand.
    OnDemand,
}

/// One combination of assumptions about the unknowns.
#[derive(Debug, Clone, Copy)]
struct Case {
    bound: Bound,
    rows: Rows,
    /// Share of the change of the barrier's ceiling that the engine's barriers show.
    barriers: f64,
    /// Single-threaded work runs on the slowest of the CPUs.
    slow: bool,
    /// No other task takes the CPUs, although one did in the recording.
    quiet: bool,
}

/// The case of the curve: the assumption that is likely.
const LIKELY: Case =
    Case { bound: Bound::Both, rows: Rows::AsGgml, barriers: 1.0, slow: false, quiet: false };

/// An estimated setting.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimatedSetting {
    /// Threads, each on a separate CPU.
    pub threads: u32,
    pub cpus: Vec<u16>,
    /// Their core types, where known.
    pub core: Option<String>,
    /// Time per token without the probes' time, ns.
    pub token_ns: f64,
    /// Minimum over all cases, minus the variation of the recorded tokens, ns.
    pub low_ns: f64,
    pub high_ns: f64,
    /// Ceilings are of the recorded setting: as many threads, on the same CPUs or on cores of the
    /// same types.
    pub recorded: bool,
    /// In every case within the smallest difference that matters of the best one.
    pub sure: bool,
    /// In some case, and with the ignored effects, it may be: it deserves a trial.
    pub plausible: bool,
}

/// Estimates for other settings from one recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The recorded token.
    pub makeup: Makeup,
    /// Its weights are in a cache: they are read faster than from memory.
    pub cached: bool,
    /// Share of the operators' time that their bytes take at the read ceiling; 0 with weights in a
    /// cache.
    pub memory_share: f64,
    /// The read ceiling of the recorded setting, for the bytes that a token reads.
    pub read: Option<Top>,
    /// Fewest threads first.
    pub settings: Vec<EstimatedSetting>,
    /// The fewest threads that are in every case within the smallest difference that matters of the
    /// best; `None` where the cases differ.
    pub choice: Option<usize>,
    /// Smallest difference that matters, as a share.
    pub practical: f64,
}

impl Prediction {
    /// Estimates the settings.
    ///
    /// # Errors
    ///
    /// What the recording lacks.
    pub fn compute(model: &Model, practical: f64, warm_up: usize) -> Result<Self, Lacking> {
        Self::of(model, &Analysis::without_budget(model, &Phases::compute(model)), practical, warm_up)
    }

    /// The same from results of the recording, whose budget may be missing.
    pub(crate) fn of(
        model: &Model,
        analysis: &Analysis,
        practical: f64,
        warm_up: usize,
    ) -> Result<Self, Lacking> {
        let ceilings = &analysis.ceiling;
        if ceilings.all.iter().all(|c| c.median.is_none()) {
            return Err(Lacking::Ceilings);
        }
        let makeup = Makeup::compute(model, analysis, warm_up)?;
        let bytes: f64 = makeup.operators.iter().map(|o| o.bytes).sum();
        // A token of any setting reads the same bytes, all threads together.
        let reads = (bytes >= 1.0).then_some(bytes as u64);
        let now = Speeds::new(ceilings, makeup.threads, &makeup.cpus, reads)?;
        let (mut settings, doubtful) = settings(ceilings, reads);
        if settings.len() < 2 {
            return Err(doubtful.unwrap_or(Lacking::Settings));
        }
        settings.sort_by_key(|(s, _, then)| (then.threads, s.clone()));
        let work: f64 = makeup.operators.iter().map(|o| o.ns).sum();
        let memory_ns = bytes * 1e9 / now.speed(CeilingKind::Read).together;
        let cached = memory_ns > work * CACHED;
        let on = ceilings.on(CeilingKind::Read, makeup.threads as usize, &makeup.cpus, reads);
        let recorded = on.map(|f| sorted(&f.ceiling.cpus)).unwrap_or_default();
        let token = Token { makeup: &makeup, now: &now, recorded: &recorded, cached };

        let mut found: Vec<EstimatedSetting> =
            settings.iter().map(|(cpus, core, then)| token.predict(cpus, core.as_ref(), then)).collect();
        for case in cases() {
            let times: Vec<f64> = settings.iter().map(|(_, _, then)| token.ns(then, case)).collect();
            let best = times.iter().copied().fold(f64::INFINITY, f64::min);
            for (row, ns) in found.iter_mut().zip(times) {
                row.low_ns = row.low_ns.min(ns);
                row.high_ns = row.high_ns.max(ns);
                row.sure &= ns <= best * (1.0 + practical);
                row.plausible |= ns <= best * (1.0 + practical + UNMODELLED);
            }
        }
        let varies = makeup.half_ns.unwrap_or(0.0) / makeup.token_ns;
        for row in &mut found {
            row.low_ns *= 1.0 - varies;
            row.high_ns *= 1.0 + varies;
        }
        let least = |i: &usize| (found[*i].threads, found[*i].token_ns.round() as u64);
        let choice = (0..found.len()).filter(|i| found[*i].sure).min_by_key(least);
        let memory_share = if cached || work <= 0.0 { 0.0 } else { (memory_ns / work).min(1.0) };
        let read = on.map(Top::from);
        Ok(Self { cached, memory_share, read, settings: found, choice, practical, makeup })
    }
}

/// CPUs, core types and speeds of a setting.
type Setting = (Vec<u16>, Option<String>, Speeds);

/// Every set of CPUs with all required measurements, one thread per CPU; and a set that has a doubtful one.
fn settings(ceilings: &Ceilings, reads: Option<u64>) -> (Vec<Setting>, Option<Lacking>) {
    let mut found: Vec<Setting> = Vec::new();
    let mut doubtful = None;
    for c in ceilings.all.iter().filter(|c| c.kind == CeilingKind::Read && c.median.is_some()) {
        let cpus = sorted(&c.cpus);
        let Ok(threads) = u32::try_from(c.threads) else { continue };
        let own = |kind| ceilings.on(kind, c.threads, &cpus, reads).is_some_and(|f| f.fit == Fit::SameCpus);
        let lacks = [CeilingKind::Read, CeilingKind::Int8].into_iter().find(|kind| !own(*kind));
        if let Some(kind) = lacks {
            let why = ceilings.lack(kind, c.threads);
            if matches!(why, NoCeiling::Doubtful(_)) {
                doubtful = Some(Lacking::DoubtfulSetting { kind, threads, why });
            }
        }
        if cpus.len() != c.threads || lacks.is_some() || found.iter().any(|(other, ..)| *other == cpus) {
            continue;
        }
        if let Ok(speeds) = Speeds::new(ceilings, threads, &cpus, reads) {
            found.push((cpus, c.core.clone(), speeds));
        }
    }
    (found, doubtful)
}

fn sorted(cpus: &[u16]) -> Vec<u16> {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for bound in [Bound::Both, Bound::Arithmetic, Bound::Memory] {
        for rows in [Rows::AsGgml, Rows::Even, Rows::OnDemand] {
            for barriers in [0.0, 1.0, 2.0] {
                for (slow, quiet) in [(false, false), (false, true), (true, false), (true, true)] {
                    all.push(Case { bound, rows, barriers, slow, quiet });
                }
            }
        }
    }
    all
}

/// The recorded token with the speeds of its setting.
struct Token<'a> {
    makeup: &'a Makeup,
    now: &'a Speeds,
    /// The CPUs whose ceilings represent those that it ran on.
    recorded: &'a [u16],
    cached: bool,
}

impl Token<'_> {
    fn predict(&self, cpus: &[u16], core: Option<&String>, then: &Speeds) -> EstimatedSetting {
        let token_ns = self.ns(then, LIKELY);
        EstimatedSetting {
            threads: then.threads,
            cpus: cpus.to_vec(),
            core: core.cloned(),
            token_ns,
            low_ns: token_ns,
            high_ns: token_ns,
            recorded: self.recorded == cpus,
            sure: true,
            plausible: false,
        }
    }

    /// Time per token with another setting in one case, ns.
    fn ns(&self, then: &Speeds, case: Case) -> f64 {
        let m = self.makeup;
        let operators: f64 = m.operators.iter().map(|o| self.operator_ns(o, then, case)).sum();
        let alone = one(self.now.speed(CeilingKind::F32), case) / one(then.speed(CeilingKind::F32), case);
        // Time of the barriers within the present time between operators; at most all of it.
        let barrier = self.now.barrier_ns.min(m.between_ns / m.barriers.max(1.0));
        let later = (barrier + case.barriers * (then.barrier_ns - self.now.barrier_ns)).max(0.0);
        let between = (m.between_ns - m.barriers * barrier).max(0.0) * alone + m.barriers * later;
        let waits = if then.threads == 1 { 0.0 } else { m.waits_ns };
        let taken = if case.quiet { 0.0 } else { m.taken_ns };
        operators + between + m.serial_ns * alone + waits + taken + m.other_ns
    }

    fn operator_ns(&self, o: &Share, then: &Speeds, case: Case) -> f64 {
        let speed = |s: &Speeds, kind| match o.rows {
            0 | 1 => one(s.speed(kind), case),
            rows => divided(s, s.speed(kind), rows, o.product, case),
        };
        let ratio = |kind| speed(self.now, kind) / speed(then, kind);
        // The operator's time, and the time of its bytes at the ceiling.
        let full = |s: &Speeds| o.bytes * 1e9 / s.speed(CeilingKind::Read).together;
        let streams = !self.cached && o.ns > 0.0;
        let used = if streams { full(self.now) / o.ns } else { 0.0 };
        let memory = match case.bound {
            Bound::Memory if streams && o.bytes > 0.0 => 1.0,
            Bound::Arithmetic => 0.0,
            Bound::Both | Bound::Memory => used.min(1.0),
        };
        let ns = o.ns * (memory * ratio(CeilingKind::Read) + (1.0 - memory) * ratio(o.arithmetic));
        // No faster than the memory. An operator that is faster now has its bytes in a cache.
        if streams && used <= 1.0 { ns.max(full(then)) } else { ns }
    }
}

/// Single-threaded work.
const fn one(speed: Speed, case: Case) -> f64 {
    if case.slow { speed.slowest } else { speed.fastest }
}

/// Work of all threads on an operator with this many rows.
fn divided(s: &Speeds, speed: Speed, rows: u64, product: bool, case: Case) -> f64 {
    let threads = u64::from(s.threads);
    let pieces = product && rows.div_ceil(PIECE) >= PIECES * threads;
    let on_demand = match case.rows {
        Rows::AsGgml => pieces,
        Rows::Even => false,
        Rows::OnDemand => true,
    };
    if on_demand {
        return speed.together;
    }
    // The thread with most rows has ceil(rows / threads) of them.
    speed.even * rows as f64 / (rows.div_ceil(threads) * threads) as f64
}
