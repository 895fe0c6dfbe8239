//! Ceilings: the best performance of this board, measured on the CPUs that an engine would use.
//!
//! ```text
//! cpus ─▶ core_type ─▶ sets ─▶ for each set: read, copy, arithmetic, barrier, wakeup ─▶ stats ─▶ Ceiling
//!        cache, available ─▶ curve, arena ┘   └── workers (pinned threads), sys/bench (the loops)
//! ```
//! A neighbour that uses CPUs meanwhile lowers the results, so `load` records it.
//! All memory is freed at the end, and all threads have the agent's priority.

mod arena;
mod arithmetic;
mod available;
mod barrier;
mod cache;
pub mod ceiling;
mod check;
mod core_type;
pub mod cpus;
mod curve;
mod load;
mod memory;
mod schedule;
mod sets;
mod spin;
pub mod stats;
pub mod table;
mod wakeup;
mod workers;

use std::path::Path;
use std::time::{Duration, Instant};

use profinfer_wire::record::ceiling::CurveEnd;

use crate::error::Result;
use crate::sys::bench::Reader;
use arena::Arena;
use ceiling::{Ceiling, CeilingKind};
pub use curve::Point;
pub use load::Load;
use schedule::{Job, Schedule, Work};

/// Time for all measurements together, unless `--budget` is given. Filling memory and the first
/// pass over it make a run at most 1.5 times as long.
pub const BUDGET: Duration = Duration::from_secs(10);
/// Limits of the budget.
const BUDGETS: std::ops::RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_secs(600);
/// Filling memory may use this fraction of the budget in addition: 1/N. A slow board measures in
/// the part that it has filled by then.
const FILLING: u32 = 5;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// CPUs, `0-3,6`; empty for all that this process may run on.
    pub cpus: String,
    /// Thread counts, `1,2,4`; empty for the usual ones.
    pub threads: String,
    /// Time for all measurements together; zero for [`BUDGET`].
    pub budget: Duration,
    /// The process of a running engine, which makes all measurements doubtful.
    pub engine: Option<u32>,
}

/// Measures. `each` gets every ceiling as soon as it is known, with its number and the total
/// number. It returns false to stop the run.
///
/// # Errors
/// If the options name unavailable CPUs or thread counts, or there is no memory.
pub fn run(options: &Options, each: &mut dyn FnMut(&Ceiling, usize, usize) -> bool) -> Result<()> {
    let root = Path::new("/");
    let schedule = Schedule::new(options, root)?;
    let budget = if options.budget.is_zero() { BUDGET } else { options.budget };
    let budget = budget.clamp(*BUDGETS.start(), *BUDGETS.end());
    let unit = schedule.unit(budget);
    let tops = Tops { sysfs: &root.join("sys"), room: available::bytes(root, std::process::id()) };
    let most =
        schedule.jobs.iter().filter(|j| j.work.kind() == CeilingKind::Read).map(|j| tops.of(&j.cpus).0);
    let begun = Instant::now();
    let mut arena = Arena::new(most.max().unwrap_or(0), || begun.elapsed() >= budget / FILLING)?;
    let mut watch = load::Watch::new(root);
    for (number, job) in (1..).zip(&schedule.jobs) {
        let ceiling = measure(job, tops.of(&job.cpus), &mut arena, unit)?.with_engine(options.engine);
        let ceiling = ceiling.with_load(watch.lap());
        if !each(&ceiling, number, schedule.jobs.len()) {
            break;
        }
    }
    Ok(())
}

/// Largest working sets by CPUs.
struct Tops<'a> {
    /// `/sys`.
    sysfs: &'a Path,
    /// Usable bytes of memory.
    room: u64,
}

impl Tops<'_> {
    fn of(&self, cpus: &[u32]) -> (u64, CurveEnd) {
        curve::top(cache::last_bytes(self.sysfs, cpus), self.room)
    }
}

fn measure(job: &Job, (top, end): (u64, CurveEnd), arena: &mut Arena, unit: Duration) -> Result<Ceiling> {
    const WRONG: &str = "the measuring loop computes wrong results on this machine, so it was not measured";
    let length = unit * job.work.units();
    let pace = schedule::pace(length);
    let (kind, core, cpus, mut how) = (job.work.kind(), job.core.as_str(), &*job.cpus, job.work.how());
    // Memory that could not be filled in time is not read.
    let (top, end) = if arena.bytes() < top { (arena.bytes(), CurveEnd::Time) } else { (top, end) };
    let mut bytes = 0;
    let (values, note) = match &job.work {
        Work::Read(reader) if check::reads(*reader)? => {
            let points =
                read(*reader, arena, cpus, &curve::ladder(top, length, pace.windows()), end, length)?;
            return Ok(Ceiling::curve(kind, core, cpus, how, points));
        }
        Work::Copy if check::all_copy()? => {
            let (copier, rates) = memory::copy(arena, top, cpus, pace)?;
            (how, bytes) = (copier.how, top);
            (rates, "")
        }
        Work::Arithmetic(loop_) if check::multiplies(loop_) => (arithmetic::measure(loop_, cpus, pace)?, ""),
        Work::Read(_) | Work::Copy | Work::Arithmetic(_) => (Vec::new(), WRONG),
        Work::Barrier => (barrier::measure(cpus, pace)?, ""),
        Work::WakeUp(pair) => (wakeup::measure(*pair, length)?, ""),
        Work::Impossible(_, why) => (Vec::new(), *why),
    };
    Ok(Ceiling::new(kind, core, cpus, how, bytes, values, note))
}

/// The curve of one set of CPUs.
fn read(
    reader: Reader,
    arena: &mut Arena,
    cpus: &[u32],
    ladder: &[u64],
    end: CurveEnd,
    length: Duration,
) -> Result<Vec<Point>> {
    let pace = schedule::pace(length / u32::try_from(ladder.len()).unwrap_or(1).max(1));
    let begun = Instant::now();
    let mut measure = |bytes| memory::read(reader, arena, bytes, cpus, pace);
    curve::climb(ladder, end, length * curve::OVERTIME, &|| begun.elapsed(), &mut measure)
}
