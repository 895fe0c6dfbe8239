//! The measurements in order, and their shares of the time.

use std::path::Path;
use std::time::Duration;

use super::ceiling::CeilingKind;
use super::core_type::{self, CoreType};
use super::sets::{self, Set};
use super::workers::Pace;
use super::{Options, barrier, cpus, wakeup};
use crate::error::{Diagnostic, Result};
use crate::sys::bench::{Arithmetic, Numbers, Reader, arithmetic, reader};

/// Repetitions of a measurement, in addition to the warm-up.
const REPEATS: u32 = 7;
/// Longest share of the time, so that a small machine does not use up a budget for a large one.
const MOST: Duration = Duration::from_millis(120);

#[derive(Debug, Clone)]
pub(super) enum Work {
    Read(Reader),
    Copy,
    Arithmetic(Arithmetic),
    Barrier,
    /// The thread on the first CPU wakes the one on the second.
    WakeUp([u32; 2]),
    /// Work for which this CPU lacks instructions, and which ones.
    Impossible(CeilingKind, &'static str),
}

impl Work {
    #[must_use]
    pub(super) const fn kind(&self) -> CeilingKind {
        match self {
            Self::Read(_) => CeilingKind::Read,
            Self::Copy => CeilingKind::Copy,
            Self::Arithmetic(a) => of_numbers(a.numbers),
            Self::Barrier => CeilingKind::Barrier,
            Self::WakeUp(_) => CeilingKind::WakeUp,
            Self::Impossible(kind, _) => *kind,
        }
    }

    /// Instructions or method of its loop, if known in advance.
    #[must_use]
    pub(super) const fn how(&self) -> &'static str {
        match self {
            Self::Read(reader) => reader.how,
            Self::Arithmetic(a) => a.how,
            Self::Barrier => barrier::HOW,
            Self::WakeUp(_) => wakeup::HOW,
            Self::Copy | Self::Impossible(..) => "",
        }
    }

    /// Share of the time. Reading has a curve of points, memory results vary most, and copying
    /// tries several loops.
    #[must_use]
    pub(super) const fn units(&self) -> u32 {
        match self {
            Self::Read(_) => 4,
            Self::Copy => 6,
            Self::Arithmetic(_) | Self::Barrier => 1,
            Self::WakeUp(_) => 2,
            Self::Impossible(..) => 0,
        }
    }
}

const fn of_numbers(numbers: Numbers) -> CeilingKind {
    match numbers {
        Numbers::Int8 => CeilingKind::Int8,
        Numbers::F32 => CeilingKind::F32,
        Numbers::F16 => CeilingKind::F16,
    }
}

/// Work on a set of CPUs.
#[derive(Debug, Clone)]
pub(super) struct Job {
    /// Core types of the CPUs.
    pub(super) core: String,
    pub(super) cpus: Vec<u32>,
    pub(super) work: Work,
}

#[derive(Debug, Clone)]
pub(super) struct Schedule {
    pub(super) jobs: Vec<Job>,
}

impl Schedule {
    /// The jobs for these options. `root` is `/`.
    ///
    /// # Errors If the options name unavailable CPUs or thread counts.
    pub(super) fn new(options: &Options, root: &Path) -> Result<Self> {
        let cpus = cpus::chosen(Some(&options.cpus), &root.join("sys"))?;
        let types = core_type::types(root, &cpus);
        let threads =
            Some(options.threads.as_str()).filter(|t| !t.is_empty()).map(cpus::parse_threads).transpose();
        let threads = threads.map_err(|e| {
            Diagnostic::new(
                format!("parsing the thread counts `{}`", options.threads),
                e,
                "write them like 1,2,4",
            )
        })?;
        let sets = sets::sets(&types, threads.as_deref())?;
        let loops = works(arithmetic());
        let mut jobs: Vec<Job> = sets.iter().flat_map(|set| of_set(set, &loops)).collect();
        jobs.extend(wake_ups(&types));
        Ok(Self { jobs })
    }

    #[cfg(test)]
    fn cpus(&self) -> Vec<u32> {
        let mut cpus: Vec<u32> = self.jobs.iter().flat_map(|j| j.cpus.iter().copied()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// Length of one share of the time.
    #[must_use]
    pub(super) fn unit(&self, budget: Duration) -> Duration {
        let units: u32 = self.jobs.iter().map(|j| j.work.units()).sum();
        (budget / units.max(1)).min(MOST)
    }
}

/// Warm-up and repetitions that take `length` together.
#[must_use]
pub(super) fn pace(length: Duration) -> Pace {
    Pace { window: length / (REPEATS + 1), repeats: REPEATS }
}

/// Arithmetic on every number type; impossible if there is no loop.
fn works(loops: Vec<Arithmetic>) -> Vec<Work> {
    let mut works: Vec<Work> = loops.into_iter().map(Work::Arithmetic).collect();
    for kind in [CeilingKind::Int8, CeilingKind::F32, CeilingKind::F16] {
        if !works.iter().any(|w| w.kind() == kind) {
            let why = "this CPU lacks the instructions that engines use for it (AVX2, FMA, F16C)";
            works.push(Work::Impossible(kind, why));
        }
    }
    works
}

fn of_set<'a>(set: &'a Set, loops: &'a [Work]) -> impl Iterator<Item = Job> + 'a {
    let memory = [Work::Read(reader()), Work::Copy];
    // A single thread waits for no other.
    let barrier = (set.cpus.len() > 1).then_some(Work::Barrier);
    let works = memory.into_iter().chain(loops.iter().cloned()).chain(barrier);
    works.map(|work| Job { core: set.core.clone(), cpus: set.cpus.clone(), work })
}

/// For each core type: a CPU that is woken from another one of its type, or else of another type,
/// or else from itself.
fn wake_ups(types: &[CoreType]) -> Vec<Job> {
    let of = |core: &CoreType| {
        let woken = *core.cpus.last()?;
        let others = types.iter().filter(|t| t.name != core.name);
        let (from, name) = std::iter::once(core)
            .chain(others)
            .find_map(|t| Some((*t.cpus.iter().find(|c| **c != woken)?, t.name.as_str())))
            .unwrap_or((woken, core.name.as_str()));
        let name = if name == core.name { name.to_owned() } else { format!("{}+{name}", core.name) };
        let mut cpus = vec![from, woken];
        cpus.sort_unstable();
        cpus.dedup();
        Some(Job { core: name, cpus, work: Work::WakeUp([from, woken]) })
    };
    types.iter().filter_map(of).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn long_and_short_budgets_are_shared_out() {
        let own = cpus::chosen(None, Path::new("/sys")).unwrap();
        let options = Options { cpus: own[0].to_string(), ..Options::default() };
        let schedule = Schedule::new(&options, Path::new("/")).unwrap();
        assert_eq!(schedule.cpus(), [own[0]]);
        assert_eq!(schedule.unit(Duration::from_secs(3600)), MOST);
        let units: u32 = schedule.jobs.iter().map(|j| j.work.units()).sum();
        assert!(units > 10 && schedule.unit(Duration::from_secs(1)) * units <= Duration::from_secs(1));
        let kinds: Vec<_> = schedule.jobs.iter().map(|j| j.work.kind()).collect();
        assert!(!kinds.contains(&CeilingKind::Barrier), "a single thread");
        for kind in [
            CeilingKind::Read,
            CeilingKind::Copy,
            CeilingKind::Int8,
            CeilingKind::F32,
            CeilingKind::F16,
            CeilingKind::WakeUp,
        ] {
            assert!(kinds.contains(&kind), "{kind:?}");
        }
        let wrong = Options { threads: "two".into(), ..Options::default() };
        assert!(Schedule::new(&wrong, Path::new("/")).unwrap_err().answer.contains("`two`"));
    }

    #[test]
    fn who_wakes_whom() {
        let core =
            |name: &str, cpus: &[u32]| CoreType { name: name.into(), cpus: cpus.to_vec(), capacity: 0 };
        let jobs = |types: &[CoreType]| {
            wake_ups(types)
                .into_iter()
                .map(|j| match j.work {
                    Work::WakeUp(pair) => (j.core, pair, j.cpus),
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(
            jobs(&[core("prime", &[7]), core("big", &[4, 5, 6])]),
            [("prime+big".to_owned(), [4, 7], vec![4, 7]), ("big".to_owned(), [4, 6], vec![4, 6])]
        );
        assert_eq!(jobs(&[core("one", &[0])]), [("one".to_owned(), [0, 0], vec![0])]);
    }
}
