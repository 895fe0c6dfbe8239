//! Who held the CPUs during a measurement, from /proc.
//!
//! A neighbour lowers a result in two ways: on the CPUs of the loop it takes time, on any other CPU
//! it takes memory bandwidth. So all CPUs of the machine count.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::{SysconfVar, sysconf};

/// Unit of /proc if sysconf does not report it, ns.
const TICK_NS: u64 = 10_000_000;
/// Busy times in the first line of /proc/stat: user, nice, system, interrupts, soft interrupts,
/// stolen. Idle and I/O wait are between them; times of guests are in user and nice already.
const BUSY: [usize; 6] = [0, 1, 2, 5, 6, 7];

/// Who held the CPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    pub wall: Duration,
    /// CPU time of everything except this process, ns.
    pub others_ns: u64,
    /// The process with most of it; 0 if none had a tick.
    pub pid: u32,
    pub name: String,
    pub pid_ns: u64,
}

/// CPU times at one moment.
#[derive(Debug)]
struct Moment {
    at: Instant,
    /// All CPUs, ns; `None` if the kernel does not report it.
    busy_ns: Option<u64>,
    own_ns: u64,
}

/// Watches from one measurement to the next.
#[derive(Debug)]
pub(super) struct Watch {
    proc: PathBuf,
    tick_ns: u64,
    since: Moment,
    /// CPU time of each process at that moment, ticks.
    processes: HashMap<u32, u64>,
}

impl Watch {
    /// Begins; `root` is `/`.
    pub(super) fn new(root: &Path) -> Self {
        let proc = root.join("proc");
        let per_s = sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|t| u64::try_from(t).ok());
        let tick_ns = per_s.and_then(|per_s| 1_000_000_000_u64.checked_div(per_s)).unwrap_or(TICK_NS);
        let processes = processes(&proc).map(|(pid, _, ticks)| (pid, ticks)).collect();
        let since = Moment::now(&proc, tick_ns);
        Self { proc, tick_ns, since, processes }
    }

    /// The load since the last call; `None` if the kernel does not report it.
    pub(super) fn lap(&mut self) -> Option<Load> {
        let end = Moment::now(&self.proc, self.tick_ns);
        let busy = end.busy_ns.zip(self.since.busy_ns).map(|(now, then)| now.saturating_sub(then));
        let own = end.own_ns.saturating_sub(self.since.own_ns);
        let load = busy.map(|busy| Load {
            wall: end.at.saturating_duration_since(self.since.at),
            others_ns: busy.saturating_sub(own),
            ..Load::default()
        });
        let mut holder = (0, String::new(), 0);
        let mut now = HashMap::new();
        for (pid, name, ticks) in processes(&self.proc) {
            let used = ticks.saturating_sub(self.processes.get(&pid).copied().unwrap_or(0));
            if used > holder.2 && pid != std::process::id() {
                holder = (pid, name, used);
            }
            now.insert(pid, ticks);
        }
        self.processes = now;
        // After the processes, so that reading them counts for no measurement.
        self.since = Moment::now(&self.proc, self.tick_ns);
        let (pid, name, ticks) = holder;
        load.map(|load| Load { pid, name, pid_ns: ticks.saturating_mul(self.tick_ns), ..load })
    }
}

impl Moment {
    fn now(proc: &Path, tick_ns: u64) -> Self {
        let own = getrusage(UsageWho::RUSAGE_SELF)
            .map_or(0, |u| u.user_time().num_nanoseconds().saturating_add(u.system_time().num_nanoseconds()));
        let stat = fs::read_to_string(proc.join("stat")).unwrap_or_default();
        Self { at: Instant::now(), busy_ns: busy(&stat, tick_ns), own_ns: u64::try_from(own).unwrap_or(0) }
    }
}

/// Busy time of all CPUs, ns.
fn busy(stat: &str, tick_ns: u64) -> Option<u64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<u64> = line.split_ascii_whitespace().map_while(|w| w.parse().ok()).collect();
    // Kernels before 2.6.11 have no stolen time.
    let ticks = BUSY.iter().filter_map(|i| times.get(*i)).fold(0_u64, |sum, t| sum.saturating_add(*t));
    (times.len() > 3).then(|| ticks.saturating_mul(tick_ns))
}

/// Processes with name and CPU time in ticks. A process that ends meanwhile is left out.
fn processes(proc: &Path) -> impl Iterator<Item = (u32, String, u64)> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read(entry.path().join("stat")).ok()?;
        let (name, ticks) = process(&String::from_utf8_lossy(&stat))?;
        Some((pid, name, ticks))
    })
}

/// Name and CPU time in ticks, from /proc/PID/stat. A name may contain `)`.
fn process(stat: &str) -> Option<(String, u64)> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1;
    let mut times = after.split_ascii_whitespace().skip(11).map(str::parse);
    let mut next = || times.next()?.ok();
    let (user, system): (u64, u64) = (next()?, next()?);
    Some((name.to_owned(), user.saturating_add(system)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    fn stat(name: &str, user: u64, system: u64) -> String {
        format!("7 ({name}) R 1 7 7 0 -1 4194304 5 0 0 0 {user} {system} 0 0 20 0 1 0 100 0 0")
    }

    #[test]
    fn lines_of_the_kernel() {
        assert_eq!(busy("cpu  10 20 30 1000 2000 40 50 60 7 8\ncpu0 1 2 3\n", 10), Some(2100));
        assert_eq!(busy("cpu  10 20 30 1000\n", 1), Some(60));
        assert_eq!(busy("cpu  18446744073709551615 20 30 1000\n", 10), Some(u64::MAX));
        for wrong in ["", "cpu \n", "cpu0 1 2 3 4\n", "cpu  x\n"] {
            assert_eq!(busy(wrong, 1), None, "{wrong}");
        }
        assert_eq!(process(&stat("a) b (c", 3, 4)), Some(("a) b (c".to_owned(), 7)));
        assert_eq!(process("7 (x) R 1"), None);
        assert_eq!(process(""), None);
    }

    #[test]
    fn a_neighbour_is_seen_and_named() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: String| {
            let path = root.path().join("proc").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("stat", "cpu  1000 0 0 0 0 0 0 0\n".to_owned());
        write("7/stat", stat("idle", 500, 0));
        write("8/stat", stat("python3", 100, 10));
        let mut watch = Watch::new(root.path());
        // One second of CPU time.
        let ticks = 1_000_000_000 / watch.tick_ns;
        write("stat", format!("cpu  {} 0 0 0 0 0 0 0\n", 1000 + ticks));
        write("8/stat", stat("python3", 100 + ticks, 10));
        let load = watch.lap().unwrap();
        assert_eq!((load.pid, load.name.as_str(), load.pid_ns), (8, "python3", 1_000_000_000));
        // What this test itself used is subtracted.
        assert!((500_000_000..=1_000_000_000).contains(&load.others_ns), "{load:?}");
        let quiet = watch.lap().unwrap();
        assert_eq!((quiet.pid, quiet.others_ns), (0, 0));
        fs::remove_file(root.path().join("proc/stat")).unwrap();
        assert_eq!(watch.lap(), None);
    }
}
