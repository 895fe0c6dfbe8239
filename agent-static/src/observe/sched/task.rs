//! Identifies tasks that use CPUs which the engine wants, from /proc while they exist.
//!
//! Memory is limited to the tables. A query reads three small files. So each task is queried once,
//! and only some tasks per second: a machine that creates thousands of processes must not become
//! slow.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use crate::target::command::of_other;

pub const NAME: usize = crate::bpf::layout::types::limit::TASK_COMM.0 as usize;
/// Number of remembered tasks; a power of two.
const PLACES: usize = 1024;
/// Places that are examined for one task.
const NEAR: usize = 8;
/// Most queries per second.
const PER_SECOND: u32 = 100;
/// Longest program with its script, and longest group, that are sent.
const COMMAND: usize = 1000;
const GROUP: usize = 500;

/// A remembered task.
#[derive(Debug, Clone, Copy)]
struct Known {
    tid: u32,
    name: [u8; NAME],
    /// Its id on the wire, 0 for a free place.
    id: u32,
    queried: bool,
}

/// What /proc shows about a task.
#[derive(Debug)]
pub struct Facts {
    pub pid: u32,
    /// Its program and, for an interpreter, the script. Nothing else of another program's command
    /// line leaves the board.
    pub command: heapless::Vec<u8, COMMAND>,
    pub cgroup: heapless::Vec<u8, GROUP>,
}

/// A task that is to be sent.
#[derive(Debug)]
pub struct New {
    /// Its id on the wire.
    pub id: u32,
    /// `None` if /proc showed nothing.
    pub facts: Option<Facts>,
}

/// The tasks of a session.
#[derive(Debug)]
pub struct Tasks {
    places: Box<[Known]>,
    last: u32,
    second: Instant,
    queries: u32,
    /// /proc shows different ids than the tracepoints.
    blind: bool,
}

impl Tasks {
    /// Without tasks. `blind`: the ids are of another PID namespace than /proc.
    #[must_use]
    pub fn new(blind: bool) -> Self {
        let free = Known { tid: 0, name: [0; NAME], id: 0, queried: false };
        Self { places: vec![free; PLACES].into(), last: 0, second: Instant::now(), queries: 0, blind }
    }

    /// The id of a task, and a record to send first if it is new or more is known about it now.
    pub fn id(&mut self, tid: u32, name: &[u8; NAME]) -> (u32, Option<New>) {
        let home = home(tid, name);
        let near = (0..NEAR).map(|n| (home + n) % PLACES);
        let known = near.clone().find(|at| {
            let k = &self.places[*at];
            k.id != 0 && k.tid == tid && k.name == *name
        });
        // If all places are used, the first is replaced, and its task is sent again when it
        // returns.
        let at = known.unwrap_or_else(|| near.clone().find(|at| self.places[*at].id == 0).unwrap_or(home));
        if known.is_none() {
            self.last += 1;
            self.places[at] = Known { tid, name: *name, id: self.last, queried: false };
        }
        let id = self.places[at].id;
        if self.places[at].queried || (known.is_some() && !self.may_query()) {
            return (id, None);
        }
        let query = !self.blind && self.may_query();
        self.places[at].queried = query || self.blind;
        self.queries += u32::from(query);
        let facts = if query { facts(tid, name) } else { None };
        (id, Some(New { id, facts }))
    }

    fn may_query(&mut self) -> bool {
        if self.second.elapsed() >= Duration::from_secs(1) {
            (self.second, self.queries) = (Instant::now(), 0);
        }
        self.queries < PER_SECOND
    }
}

fn home(tid: u32, name: &[u8; NAME]) -> usize {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.iter().chain(&tid.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, fold);
    (hash >> 32) as usize % PLACES
}

/// The present name of a task; empty if it is gone.
#[must_use]
pub fn name_of(tid: u32) -> [u8; NAME] {
    let (mut buffer, mut name) = ([0; NAME + 1], [0; NAME]);
    let read = read(tid, "comm", &mut buffer).unwrap_or_default();
    let line = read.split(|b| *b == b'\n').next().unwrap_or_default();
    name.iter_mut().zip(line).for_each(|(to, from)| *to = *from);
    name
}

/// The text before the first zero byte.
#[must_use]
pub fn text(name: &[u8; NAME]) -> &[u8] {
    name.split(|b| *b == 0).next().unwrap_or_default()
}

/// `None` if the task is gone, or has become a different one.
fn facts(tid: u32, name: &[u8; NAME]) -> Option<Facts> {
    let mut status = [0; 1024];
    let status = read(tid, "status", &mut status)?;
    let mut lines = status.split(|b| *b == b'\n');
    // Names of kernel workers are longer here than in the scheduler.
    let now = lines.next()?.strip_prefix(b"Name:\t")?;
    if !now.starts_with(text(name)) {
        return None;
    }
    let pid = lines.find_map(|l| std::str::from_utf8(l.strip_prefix(b"Tgid:")?).ok()?.trim().parse().ok())?;
    let mut buffer = [0; COMMAND];
    let (program, script) = of_other(read(tid, "cmdline", &mut buffer).unwrap_or_default());
    // A program may have no command line: during an exec, or without arguments. It has an address space; a kernel thread does not.
    let unnamed = program.is_empty() && lines.any(|l| l.starts_with(b"VmSize:"));
    let program = if unnamed { text(name) } else { program };
    let mut command = heapless::Vec::new();
    // They are not longer than the buffer.
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

/// The group for the CPU controller: of its version 1 hierarchy, or else of version 2.
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

/// The first bytes of a task's file; `None` if it cannot be read, because tasks come and go.
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
    use std::os::unix::process::CommandExt;

    use super::*;

    fn name(text: &str) -> [u8; NAME] {
        let mut name = [0; NAME];
        name[..text.len()].copy_from_slice(text.as_bytes());
        name
    }

    #[test]
    fn a_program_without_a_command_line_is_no_kernel_thread() {
        let mut child =
            std::process::Command::new("cat").arg0("").stdin(std::process::Stdio::piped()).spawn().unwrap();
        // Until it has become the program.
        while name_of(child.id()) != name("cat") {
            std::thread::yield_now();
        }
        let found = facts(child.id(), &name("cat")).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((found.pid, found.command.as_slice()), (child.id(), &b"cat"[..]));
        // The kernel thread that creates the others; containers do not see it.
        let daemon = name("kthreadd");
        if name_of(2) == daemon {
            assert_eq!(facts(2, &daemon).unwrap().command.as_slice(), b"");
        }
    }

    #[test]
    fn a_task_is_sent_once_and_again_under_another_name() {
        let own = nix::unistd::gettid().as_raw().cast_unsigned();
        let comm = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
        let mut tasks = Tasks::new(false);
        let (id, new) = tasks.id(own, &name(comm.trim_end()));
        let facts = new.unwrap().facts.unwrap();
        assert_eq!((id, facts.pid), (1, std::process::id()));
        assert!(!facts.command.is_empty() && facts.cgroup.starts_with(b"/"));
        assert!(matches!(tasks.id(own, &name(comm.trim_end())), (1, None)));
        assert_eq!((text(&name_of(own)), name_of(u32::MAX)), (comm.trim_end().as_bytes(), [0; NAME]));
        // The task does not have this name (any more): nothing else is known about it.
        let (id, new) = tasks.id(own, &name("another"));
        assert!(id == 2 && new.unwrap().facts.is_none());
        assert!(matches!(tasks.id(own, &name("another")), (2, None)));
        let (_, new) = tasks.id(u32::MAX, &name("gone"));
        assert!(new.unwrap().facts.is_none());
    }

    #[test]
    fn many_tasks_need_bounded_memory_and_queries() {
        let mut tasks = Tasks::new(false);
        for tid in 1..=4000 {
            assert!(tasks.id(0x4000_0000 + tid, &name("storm")).1.is_some());
        }
        assert!(tasks.queries <= PER_SECOND);
        assert_eq!(tasks.places.len(), PLACES);
        // Tasks that were not queried are queried later.
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
