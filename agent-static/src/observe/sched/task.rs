//! Tasks that have CPUs which the engine wants: who they are, asked of /proc while they are there.
//!
//! Memory is that of the tables. Asking takes three small files, so it is done once for a task, and not for more than some
//! tasks a second: a machine that makes thousands of processes is not slowed down by being watched.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use crate::target::command::of_other;

/// Bytes of a name.
pub const NAME: usize = crate::bpf::layout::types::limit::TASK_COMM.0 as usize;
/// Tasks remembered; a power of two.
const PLACES: usize = 1024;
/// Places looked at for one task.
const NEAR: usize = 8;
/// Tasks that are asked for in a second.
const PER_SECOND: u32 = 100;
/// Longest program with its script, and longest group, that are told.
const COMMAND: usize = 1000;
const GROUP: usize = 500;

/// A remembered task.
#[derive(Debug, Clone, Copy)]
struct Known {
    tid: u32,
    name: [u8; NAME],
    /// Its number on the wire, 0 for a place that is free.
    id: u32,
    asked: bool,
}

/// What /proc tells of a task.
#[derive(Debug)]
pub struct Facts {
    /// Its process.
    pub pid: u32,
    /// Its program, and the script that this runs: nothing else of another program's command line leaves the board.
    pub command: heapless::Vec<u8, COMMAND>,
    /// Control group.
    pub cgroup: heapless::Vec<u8, GROUP>,
}

/// What is to be told of a task.
#[derive(Debug)]
pub struct New {
    /// Its number on the wire.
    pub id: u32,
    /// Where something could be found out.
    pub facts: Option<Facts>,
}

/// The tasks of a session.
#[derive(Debug)]
pub struct Tasks {
    places: Box<[Known]>,
    last: u32,
    second: Instant,
    asked: u32,
    /// /proc shows other numbers than the tracepoints.
    blind: bool,
}

impl Tasks {
    /// Without tasks; `blind` where the numbers are of another PID namespace than /proc.
    #[must_use]
    pub fn new(blind: bool) -> Self {
        let free = Known { tid: 0, name: [0; NAME], id: 0, asked: false };
        Self { places: vec![free; PLACES].into(), last: 0, second: Instant::now(), asked: 0, blind }
    }

    /// The number of a task, and what to tell of it first when it is new or more is known of it by now.
    pub fn id(&mut self, tid: u32, name: &[u8; NAME]) -> (u32, Option<New>) {
        let home = home(tid, name);
        let near = (0..NEAR).map(|n| (home + n) % PLACES);
        let known = near.clone().find(|at| {
            let k = &self.places[*at];
            k.id != 0 && k.tid == tid && k.name == *name
        });
        // Where all are taken, the first is forgotten, and told anew when it comes back.
        let at = known.unwrap_or_else(|| near.clone().find(|at| self.places[*at].id == 0).unwrap_or(home));
        if known.is_none() {
            self.last += 1;
            self.places[at] = Known { tid, name: *name, id: self.last, asked: false };
        }
        let id = self.places[at].id;
        if self.places[at].asked || (known.is_some() && !self.may_ask()) {
            return (id, None);
        }
        let asks = !self.blind && self.may_ask();
        self.places[at].asked = asks || self.blind;
        self.asked += u32::from(asks);
        let facts = if asks { facts(tid, name) } else { None };
        (id, Some(New { id, facts }))
    }

    fn may_ask(&mut self) -> bool {
        if self.second.elapsed() >= Duration::from_secs(1) {
            (self.second, self.asked) = (Instant::now(), 0);
        }
        self.asked < PER_SECOND
    }
}

fn home(tid: u32, name: &[u8; NAME]) -> usize {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.iter().chain(&tid.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, fold);
    (hash >> 32) as usize % PLACES
}

/// What there is before the first zero byte.
#[must_use]
pub fn text(name: &[u8; NAME]) -> &[u8] {
    name.split(|b| *b == 0).next().unwrap_or_default()
}

/// `None` when the task is gone, or has become another.
fn facts(tid: u32, name: &[u8; NAME]) -> Option<Facts> {
    let mut status = [0; 1024];
    let status = read(tid, "status", &mut status)?;
    let mut lines = status.split(|b| *b == b'\n');
    // Names of the kernel's workers are longer here than in the scheduler.
    let now = lines.next()?.strip_prefix(b"Name:\t")?;
    if !now.starts_with(text(name)) {
        return None;
    }
    let pid = lines.find_map(|l| std::str::from_utf8(l.strip_prefix(b"Tgid:")?).ok()?.trim().parse().ok())?;
    let mut buffer = [0; COMMAND];
    let (program, script) = of_other(read(tid, "cmdline", &mut buffer).unwrap_or_default());
    let mut command = heapless::Vec::new();
    // They have no more bytes than the buffer.
    let _ = command.extend_from_slice(program);
    if let Some(script) = script {
        let _ = command.push(b' ');
        let _ = command.extend_from_slice(script);
    }
    let mut buffer = [0; 2048];
    let groups = read(tid, "cgroup", &mut buffer).unwrap_or_default();
    let group = group(groups);
    let cgroup = heapless::Vec::from_slice(&group[..group.len().min(GROUP)]).unwrap_or_default();
    Some(Facts { pid, command, cgroup })
}

/// The group that has CPUs to give: of the first version's hierarchy for them, else the second version's.
fn group(text: &[u8]) -> &[u8] {
    let mut found: &[u8] = &[];
    for line in text.split(|b| *b == b'\n') {
        let mut parts = line.splitn(3, |b| *b == b':');
        let (Some(_), Some(of), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        if of.split(|b| *b == b',').any(|c| c == b"cpu") {
            return path;
        }
        if of.is_empty() {
            found = path;
        }
    }
    found
}

/// The first bytes of a file of a task, `None` when it cannot be read: tasks come and go.
fn read<'b>(tid: u32, file: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    let mut path = heapless::String::<32>::new();
    write!(path, "/proc/{tid}/{file}").ok()?;
    let mut opened = File::open(path.as_str()).ok()?;
    let len = opened.read(buffer).ok()?;
    buffer.get(..len)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    fn name(text: &str) -> [u8; NAME] {
        let mut name = [0; NAME];
        name[..text.len()].copy_from_slice(text.as_bytes());
        name
    }

    #[test]
    fn a_task_is_told_once_and_under_another_name_again() {
        let own = nix::unistd::gettid().as_raw().cast_unsigned();
        let comm = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
        let mut tasks = Tasks::new(false);
        let (id, new) = tasks.id(own, &name(comm.trim_end()));
        let facts = new.unwrap().facts.unwrap();
        assert_eq!((id, facts.pid), (1, std::process::id()));
        assert!(!facts.command.is_empty() && facts.cgroup.starts_with(b"/"));
        assert!(matches!(tasks.id(own, &name(comm.trim_end())), (1, None)));
        // It is not called so (any more): its name is all that is known.
        let (id, new) = tasks.id(own, &name("another"));
        assert!(id == 2 && new.unwrap().facts.is_none());
        assert!(matches!(tasks.id(own, &name("another")), (2, None)));
        let (_, new) = tasks.id(u32::MAX, &name("gone"));
        assert!(new.unwrap().facts.is_none());
    }

    #[test]
    fn a_storm_of_tasks_neither_grows_nor_is_asked_for_all() {
        let mut tasks = Tasks::new(false);
        for tid in 1..=4000 {
            assert!(tasks.id(0x4000_0000 + tid, &name("storm")).1.is_some());
        }
        assert!(tasks.asked <= PER_SECOND);
        assert_eq!(tasks.places.len(), PLACES);
        // What was not asked for is asked for later.
        tasks.second = Instant::now().checked_sub(Duration::from_secs(2)).unwrap();
        let later = tasks.id(0x4000_0000 + 3999, &name("storm"));
        assert!(later.1.is_some());
    }

    #[test]
    fn groups_of_both_versions() {
        let first = b"12:cpuset:/set\n5:cpu,cpuacct:/slice/a\n1:name=systemd:/s\n0::/v2\n";
        assert_eq!(group(first), b"/slice/a");
        assert_eq!(group(b"0::/user.slice/x:y\n"), b"/user.slice/x:y");
        assert_eq!(group(b"\xff\n:\n"), b"");
    }
}
