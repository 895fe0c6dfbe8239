//! Which ceiling holds for an engine that ran on certain CPUs.
//!
//! Stage: analysis. From: the ceilings of the model. To: [`Ceilings`], which answers questions. Promises: what was not measured,
//! or with another number of threads, fits nothing; a ceiling of other CPUs than asked for says so.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::model::{self, CeilingKind, CeilingUnit, Model};

/// One ceiling, as the views show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ceiling {
    /// What was measured: `read`, `copy`, `int8`, `f32`, `f16`, `barrier` or `wake-up`.
    #[serde(serialize_with = "kind_name")]
    pub kind: CeilingKind,
    /// `bytes_per_s`, `ops_per_s` or `ns`.
    pub unit: &'static str,
    /// Core types of the CPUs; `None` when not known.
    pub core: Option<String>,
    /// Number of threads, each on one of the CPUs.
    pub threads: usize,
    /// The CPUs.
    pub cpus: Vec<u16>,
    /// What the measuring loop used.
    pub how: String,
    /// Repetitions, 0 if it was not measured.
    pub repeats: u32,
    /// Median of the repetitions; this and the next two are `None` when it was not measured.
    pub median: Option<u64>,
    /// Least.
    pub min: Option<u64>,
    /// Most.
    pub max: Option<u64>,
    /// Why it was not measured, or what makes it doubtful; empty when nothing does.
    pub note: String,
}

/// All ceilings, in the agent's order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Ceilings {
    /// The ceilings.
    pub all: Vec<Ceiling>,
    /// Core type of each CPU, where a ceiling on CPUs of a single type tells it.
    #[serde(skip)]
    cores: BTreeMap<u16, String>,
}

/// How well a ceiling fits the CPUs that were asked for, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It was measured on these very CPUs.
    SameCpus,
    /// On as many CPUs of the same core types.
    SameCores,
    /// On as many others.
    AsMany,
}

/// A ceiling for certain CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fitting<'a> {
    /// The ceiling.
    pub ceiling: &'a Ceiling,
    /// Its median, in the unit of its kind; not 0.
    pub value: u64,
    /// How well it fits.
    pub fit: Fit,
}

impl Ceilings {
    /// The ceilings of a model.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let mut cores = BTreeMap::new();
        for c in model.ceilings.iter().filter(|c| !c.core.is_empty() && !c.core.contains('+')) {
            for cpu in &c.cpus {
                cores.entry(*cpu).or_insert_with(|| c.core.clone());
            }
        }
        Self { all: model.ceilings.iter().map(ceiling).collect(), cores }
    }

    /// The ceiling of a kind for so many threads on these CPUs, which may be more than there are threads: on the same CPUs, else on as
    /// many of the same core types, else on those that have most of these CPUs among them. Of several ways to compute, the fastest. One
    /// of another number of threads fits nothing, nor does one whose figures are doubtful.
    #[must_use]
    pub fn on(&self, kind: CeilingKind, threads: usize, cpus: &[u16]) -> Option<Fitting<'_>> {
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
        // One without any CPU was measured nowhere.
        let fits = |c: &&Ceiling| c.kind == kind && c.threads == threads && threads > 0 && c.note.is_empty();
        let of_kind = self.all.iter().filter(fits);
        let measured = of_kind.filter_map(|c| Some((c, c.median.filter(|m| *m > 0)?)));
        measured.map(|(ceiling, value)| Fitting { ceiling, value, fit: fit(ceiling) }).min_by_key(|f| {
            let value = if higher { u64::MAX - f.value } else { f.value };
            (f.fit, std::cmp::Reverse(shared(f.ceiling)), value)
        })
    }

    /// Core type of each of these CPUs, in order of types; `None` when one is not known.
    fn cores_of(&self, cpus: &[u16]) -> Option<Vec<&str>> {
        let mut cores: Vec<&str> =
            cpus.iter().map(|cpu| self.cores.get(cpu).map(String::as_str)).collect::<Option<_>>()?;
        cores.sort_unstable();
        Some(cores)
    }
}

fn ceiling(c: &model::Ceiling) -> Ceiling {
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
    }
}

fn kind_name<S: Serializer>(kind: &CeilingKind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.name())
}
