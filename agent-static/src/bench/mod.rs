//! Ceilings: what this board can do at best, measured on the CPUs that an engine would use.
//!
//! ```text
//! cpus ─▶ core_type ─▶ sets ─▶ for each set: read, copy, arithmetic, barrier, wakeup ─▶ stats ─▶ Ceiling
//!                      cache ─▶ arena ┘          └── crew (pinned threads), sys/bench (the loops)
//! ```
//! All memory is freed at the end, and nothing has another priority than the agent.

mod arena;
mod arithmetic;
mod barrier;
mod cache;
pub mod ceiling;
mod check;
mod core_type;
pub mod cpus;
mod crew;
mod memory;
mod schedule;
mod sets;
mod spin;
pub mod stats;
pub mod table;
mod wakeup;

use std::path::Path;
use std::time::Duration;

use crate::error::Result;
use arena::Arena;
use ceiling::Ceiling;
use schedule::{Job, Schedule, Work};

/// How long all measurements together take if nobody says otherwise; what else a run needs brings it to 15 s at most.
pub const BUDGET: Duration = Duration::from_secs(10);
/// What a budget may be.
const BUDGETS: std::ops::RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_secs(600);

/// What to measure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// CPUs, `0-3,6`; empty for all that this process may run on.
    pub cpus: String,
    /// Numbers of threads, `1,2,4`; empty for the usual ones.
    pub threads: String,
    /// How long all measurements together may take; zero for [`BUDGET`].
    pub budget: Duration,
    /// What makes all measurements doubtful, for example an engine that runs already; empty when nothing does.
    pub doubt: String,
}

/// Measures. `each` gets every ceiling as soon as it is known, its number and the number of all; it ends the run by
/// answering false.
///
/// # Errors
/// When the options name CPUs or threads that cannot be had, or there is no memory.
pub fn run(options: &Options, each: &mut dyn FnMut(&Ceiling, usize, usize) -> bool) -> Result<()> {
    let root = Path::new("/");
    let schedule = Schedule::of(options, root)?;
    let cpus = schedule.cpus();
    let told = cache::last_bytes(&root.join("sys"), &cpus);
    let threads = schedule.jobs.iter().map(|j| j.cpus.len()).max().unwrap_or(1);
    let mut arena = Arena::new(threads, told.unwrap_or(cache::ASSUMED_BYTES), arena::available(root))?;
    let mut notes = vec![arena.note().to_owned()];
    if told.is_none() {
        notes.push(format!(
            "the kernel tells no size of caches: {} MB were assumed",
            cache::ASSUMED_BYTES >> 20
        ));
    }
    let budget = if options.budget.is_zero() { BUDGET } else { options.budget };
    let unit = schedule.unit(budget.clamp(*BUDGETS.start(), *BUDGETS.end()));
    for (number, job) in (1..).zip(&schedule.jobs) {
        let about_memory = matches!(job.work, Work::Read(_) | Work::Copy);
        let doubts = if about_memory { notes.as_slice() } else { &[] }.iter().chain([&options.doubt]);
        let ceiling = measure(job, &mut arena, unit)?.doubted(doubts);
        if !each(&ceiling, number, schedule.jobs.len()) {
            break;
        }
    }
    Ok(())
}

fn measure(job: &Job, arena: &mut Arena, unit: Duration) -> Result<Ceiling> {
    const WRONG: &str = "the measuring loop computes wrong results on this machine, so it was not measured";
    let pace = schedule::pace(unit * job.work.units());
    let mut how = job.work.how();
    let (values, note) = match &job.work {
        Work::Read(reader) if check::reads(*reader)? => (memory::read(*reader, arena, &job.cpus, pace)?, ""),
        Work::Copy if check::all_copy()? => {
            let (copier, rates) = memory::copy(arena, &job.cpus, pace)?;
            how = copier.how;
            (rates, "")
        }
        Work::Arithmetic(loop_) if check::multiplies(loop_) => {
            (arithmetic::measure(loop_, &job.cpus, pace)?, "")
        }
        Work::Read(_) | Work::Copy | Work::Arithmetic(_) => (Vec::new(), WRONG),
        Work::Barrier => (barrier::measure(&job.cpus, pace)?, ""),
        Work::WakeUp(pair) => (wakeup::measure(*pair, unit * job.work.units())?, ""),
        Work::Impossible(_, why) => (Vec::new(), *why),
    };
    Ok(Ceiling::new(job.work.kind(), &job.core, &job.cpus, how, values, note))
}
