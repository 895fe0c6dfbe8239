//! The start of an engine: what the kernel counts between exec and the first call.
//!
//! ```text
//! exec stop ─▶ sample every 50 ms ─▶ engine's code mapped: sample ─▶ first call: last sample
//! ```
//! A sample is sent at once and not kept. `smaps_rollup` is not read: the kernel walks all page
//! tables for it while page faults of the engine wait. `statm` has the same sums as counters.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::unistd::SysconfVar;
use profinfer_wire::record::Record;
use profinfer_wire::record::start_up::{StartUp, moment};

use super::fact::read::{Open, configured, field, number, stat, ticks, words};
use crate::clock;
use crate::link::emit::Emitter;
use crate::link::output::Weight;

/// Time between two samples.
const PERIOD: Duration = Duration::from_millis(50);
/// Samples after which the period doubles: a process may load for hours, or never compute.
const PER_PERIOD: u32 = 256;
/// Most processes that are sampled at once.
const MAX_PROCESSES: usize = 8;

/// The processes that are starting.
#[derive(Debug, Default)]
pub struct StartUps {
    rows: Vec<Starting>,
}

#[derive(Debug)]
struct Starting {
    pid: u32,
    exec_ns: u64,
    files: Files,
    due: Instant,
    period: Duration,
    samples: u32,
    held_ns: u64,
    loaded: bool,
}

/// Open files, so that a sample allocates nothing.
#[derive(Debug)]
struct Files {
    process: Option<Open>,
    thread: Option<Open>,
    schedstat: Option<Open>,
    io: Option<Open>,
    statm: Option<Open>,
}

impl StartUps {
    /// Begins with a process that called exec at `exec_ns`.
    pub fn begin(&mut self, pid: u32, exec_ns: u64, emit: &mut Emitter) {
        self.rows.retain(|r| r.pid != pid);
        if self.rows.len() >= MAX_PROCESSES {
            return;
        }
        let mut row = Starting {
            pid,
            exec_ns,
            files: Files::open(Path::new("/"), pid),
            due: Instant::now() + PERIOD,
            period: PERIOD,
            samples: 0,
            held_ns: 0,
            loaded: false,
        };
        if row.sample(moment::SAMPLE, emit) {
            self.rows.push(row);
        }
    }

    /// Samples the processes that are due. Those that have ended are dropped.
    pub fn step(&mut self, emit: &mut Emitter) {
        let now = Instant::now();
        self.rows.retain_mut(|row| {
            if row.due > now {
                return true;
            }
            row.samples += 1;
            if row.samples % PER_PERIOD == 0 {
                row.period *= 2;
            }
            row.due = now + row.period;
            row.sample(moment::SAMPLE, emit)
        });
    }

    /// The agent held a process at a stop.
    pub fn held(&mut self, pid: u32, time: Duration) {
        if let Some(row) = self.rows.iter_mut().find(|r| r.pid == pid) {
            row.held_ns = row.held_ns.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// The code of the engine is mapped in a process.
    pub fn loaded(&mut self, pid: u32, emit: &mut Emitter) {
        if let Some(row) = self.rows.iter_mut().find(|r| r.pid == pid && !r.loaded) {
            row.loaded = true;
            row.sample(moment::ENGINE_LOADED, emit);
        }
    }

    /// A process began or ended a part of its loading.
    pub fn moment(&mut self, pid: u32, moment: u8, emit: &mut Emitter) {
        if let Some(row) = self.rows.iter_mut().find(|r| r.pid == pid) {
            row.sample(moment, emit);
        }
    }

    /// The first call of a process is about to begin.
    pub fn called(&mut self, pid: u32, emit: &mut Emitter) {
        if let Some(at) = self.rows.iter().position(|r| r.pid == pid) {
            self.rows.swap_remove(at).sample(moment::FIRST_CALL, emit);
        }
    }
}

impl Starting {
    /// False if the process has ended.
    fn sample(&mut self, moment: u8, emit: &mut Emitter) -> bool {
        let record = StartUp {
            pid: self.pid,
            at_ns: clock::monotonic_ns(),
            exec_ns: self.exec_ns,
            moment,
            held_ns: self.held_ns,
            ..self.files.read()
        };
        let known = record.process_ns.is_some();
        if known {
            // The two that others are compared with must arrive.
            let weight = if moment == moment::SAMPLE { Weight::Droppable } else { Weight::Essential };
            emit.emit(&Record::StartUp(record), weight);
        }
        known
    }
}

impl Files {
    fn open(root: &Path, pid: u32) -> Self {
        let open = |path: String| Open::new(root, &path).ok();
        Self {
            process: open(format!("/proc/{pid}/stat")),
            thread: open(format!("/proc/{pid}/task/{pid}/stat")),
            schedstat: open(format!("/proc/{pid}/task/{pid}/schedstat")),
            io: open(format!("/proc/{pid}/io")),
            statm: open(format!("/proc/{pid}/statm")),
        }
    }

    fn read(&self) -> StartUp {
        let mut buffer = [0; 1024];
        let mut record = StartUp::default();
        if let Some(text) = text(self.process.as_ref(), &mut buffer) {
            let [minor, major, user, system] = [7, 9, 11, 12].map(|nth| stat(text, nth).and_then(number));
            (record.minor_faults, record.major_faults) = (minor, major);
            record.process_ns = user.zip(system).map(|(u, s)| ticks(u.saturating_add(s)));
        }
        if let Some(text) = text(self.thread.as_ref(), &mut buffer) {
            [record.user_ns, record.system_ns] =
                [11, 12].map(|nth| stat(text, nth).and_then(number).map(ticks));
        }
        if let Some(text) = text(self.schedstat.as_ref(), &mut buffer) {
            let mut numbers = words(text).map(number);
            record.run_ns = numbers.next().flatten();
            record.wait_ns = numbers.next().flatten();
        }
        if let Some(text) = text(self.io.as_ref(), &mut buffer) {
            record.read_bytes = field(text, "read_bytes:").and_then(number);
        }
        if let Some(text) = text(self.statm.as_ref(), &mut buffer) {
            let mut numbers = words(text).map(number);
            record.resident_bytes = numbers.nth(1).flatten().map(pages);
            record.file_bytes = numbers.next().flatten().map(pages);
        }
        record
    }
}

fn text<'b>(file: Option<&Open>, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    file?.read(buffer).ok().filter(|text| !text.is_empty())
}

/// Bytes of pages.
fn pages(n: u64) -> u64 {
    n.saturating_mul(configured(SysconfVar::PAGE_SIZE, 4096))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_this_process() {
        let files = Files::open(Path::new("/"), std::process::id());
        let before = files.read();
        let begun = Instant::now();
        let mut sum = 0_u64;
        while begun.elapsed() < Duration::from_millis(30) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let after = files.read();
        assert!(after.process_ns >= before.process_ns && before.process_ns.is_some());
        assert!(after.minor_faults.is_some_and(|n| n > 0));
        assert!(after.resident_bytes >= after.file_bytes && after.file_bytes.is_some());
        assert!(after.user_ns.is_some() && after.system_ns.is_some());
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_counts() {
        assert_eq!(Files::open(Path::new("/"), 4_194_305).read(), StartUp::default());
    }
}
