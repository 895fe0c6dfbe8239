//! Processes by number and by name.

use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

use super::command;
use crate::error::{Diagnostic, Result};
use crate::proc_file::{of_process, text_of_process};
use crate::sys::return_probe::end_filtered_processes;
use crate::sys::user::User;

/// Most generations between a process and the one that is followed.
const DEPTH: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Pid {
        pid: u32,
        /// Also the processes below it, running or started later.
        follow: bool,
    },
    /// All processes of this name, running or started later. A final `*` matches any suffix.
    Name {
        name: String,
        /// After all have ended, wait for the next one instead of ending the session.
        restarts: bool,
    },
    /// A program that the agent starts.
    Command {
        /// Program and arguments.
        command: Vec<std::ffi::OsString>,
        /// Redirect its standard output to standard error, because the agent's standard output
        /// carries the stream.
        stdout_to_stderr: bool,
        /// User to run as; `None` for the agent's user.
        user: Option<User>,
    },
}

impl Target {
    #[must_use]
    pub const fn starts_program(&self) -> bool {
        matches!(self, Self::Command { .. })
    }
}

/// Whether the process exists and is not a zombie.
#[must_use]
pub fn alive(pid: u32) -> bool {
    // Called all the time, so it does not allocate. The state is in the first bytes.
    let (mut path, mut stat) = (heapless::String::<32>::new(), [0; 128]);
    let read =
        write!(path, "/proc/{pid}/stat").is_ok().then(|| fs::File::open(path.as_str())?.read(&mut stat));
    let stat = &stat[..read.and_then(std::io::Result::ok).unwrap_or(0)];
    // The name is in parentheses and may contain any character, including `)`. It has at most 15
    // bytes.
    let state = stat.windows(2).rposition(|w| w == b") ").and_then(|at| stat.get(at + 2));
    state.is_some_and(|s| !matches!(s, b'Z' | b'X'))
}

/// Checks that `pid` can be traced at all.
///
/// # Errors
/// If there is no such process, or it is a kernel thread.
pub fn check(pid: u32) -> Result<()> {
    let tried = format!("checking process {pid}");
    if !alive(pid) {
        return Err(Diagnostic::new(
            tried,
            "there is no such process",
            "list processes with `ps`, or let the agent wait with --name",
        ));
    }
    match fs::metadata(format!("/proc/{pid}/exe")) {
        Ok(_) => Ok(()),
        Err(e) => Err(Diagnostic::new(
            tried,
            format!("its program cannot be read: {e}"),
            "run the agent as root; kernel threads have no program and cannot be traced",
        )),
    }
}

#[must_use]
pub fn name(pid: u32) -> String {
    first_line(format!("/proc/{pid}/comm"))
}

#[must_use]
pub fn thread_name(pid: u32, tid: u32) -> String {
    first_line(format!("/proc/{pid}/task/{tid}/comm"))
}

/// The harmless part of an engine's command line, arguments separated by spaces; empty if the
/// process has ended.
#[must_use]
pub fn command_line(pid: u32) -> String {
    command::of_engine(&of_process(&format!("/proc/{pid}/cmdline")).unwrap_or_default())
}

/// The harmless part of a command that is to be started. Messages that contain it may reach a host.
#[must_use]
pub fn shown(command: &[std::ffi::OsString]) -> String {
    let words: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
    command::of_engine(&words.join(&0))
}

/// The id of `pid` in its own PID namespace, if that is below this process's namespace.
#[must_use]
pub fn id_below(pid: u32) -> Option<u32> {
    // Lists the ids from the namespace of the reader's /proc down to the process's own.
    status_ids(&status(pid)?, "NSpid").skip(1).last()
}

/// `None` if the process has ended.
fn status(pid: u32) -> Option<String> {
    text_of_process(&format!("/proc/{pid}/status"))
}

/// The thread that traces the thread `tid`; 0: none.
#[must_use]
pub fn tracer(tid: i32) -> u32 {
    text_of_process(&format!("/proc/{tid}/status"))
        .and_then(|s| status_ids(&s, "TracerPid").next())
        .unwrap_or(0)
}

/// Whether a seccomp filter applies to the process.
#[must_use]
pub fn is_filtered(pid: u32) -> bool {
    // 1: strict, 2: a filter.
    status(pid).is_some_and(|s| status_ids(&s, "Seccomp").next().unwrap_or(0) != 0)
}

/// Why a return probe would end the process, if it would.
#[must_use]
pub fn ended_by_return_probes(pid: u32) -> Option<&'static str> {
    (is_filtered(pid) && end_filtered_processes()).then_some(
        "not attached: a seccomp filter applies to this process, and this kernel passes the system call that ends a \
         probed function to such filters, which would end the process. Use Linux 6.14 or an update of yours, or start \
         the engine without a filter (docker: --security-opt seccomp=unconfined)",
    )
}

/// The ids in a line of a status file.
fn status_ids<'a>(status: &'a str, name: &str) -> impl Iterator<Item = u32> + use<'a> {
    let line = status.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_default().split_whitespace().filter_map(|id| id.parse().ok())
}

/// Living child processes of all threads of `pid`.
#[must_use]
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    // Kernels without CONFIG_PROC_CHILDREN do not have this file.
    let lists: Vec<String> =
        tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok()).collect();
    if !lists.is_empty() {
        return lists.iter().flat_map(|l| l.split_whitespace()).filter_map(|id| id.parse().ok()).collect();
    }
    all().filter(|id| parent(*id) == Some(pid)).collect()
}

/// `None` if the process has ended.
fn parent(pid: u32) -> Option<u32> {
    status_ids(&status(pid)?, "PPid").next()
}

/// Whether `pid` is `root`, a child of it, a child of such a child, and so on. The kernel gives the
/// children of an ended process another parent, so they no longer belong to it.
#[must_use]
pub fn is_in_tree(pid: u32, root: u32) -> bool {
    // Ids can be reused between two reads, so the walk has a limit.
    std::iter::successors(Some(pid), |at| parent(*at)).take(DEPTH).any(|at| at == root)
}

/// The living processes below `root`, except the agent itself.
#[must_use]
pub fn below(root: u32) -> Vec<u32> {
    let own = std::process::id();
    let mut found: Vec<u32> = all().filter(|p| ![own, root].contains(p) && is_in_tree(*p, root)).collect();
    found.sort_unstable();
    found
}

/// Whether `pid` is a process of this name: its short name, or the file name of its first argument.
#[must_use]
pub fn has_name(pid: u32, wanted: &str) -> bool {
    let command = of_process(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let program = command.split(|b| matches!(b, b' ' | 0)).next().unwrap_or_default();
    let program = String::from_utf8_lossy(program.rsplit(|b| *b == b'/').next().unwrap_or_default());
    matches(&name(pid), wanted) || matches(&program, wanted)
}

/// All processes of this name except the agent itself.
#[must_use]
pub fn find(wanted: &str) -> Vec<u32> {
    let mut found: Vec<u32> =
        all().filter(|pid| *pid != std::process::id() && has_name(*pid, wanted)).collect();
    found.sort_unstable();
    found
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// Empty if the process has ended.
fn first_line(path: String) -> String {
    let text = text_of_process(&path).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// The kernel keeps 15 bytes of a process name, so only the first 15 bytes of a longer name are
/// compared.
#[must_use]
pub fn matches(name: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == wanted || (name.len() == 15 && wanted.starts_with(name)),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert!(matches("llama-cli", "llama-cli"));
        assert!(matches("llama-cli", "llama*"));
        assert!(!matches("llama-cli", "llama"));
        assert!(matches("llama-speculati", "llama-speculative-simple"));
        assert!(!matches("llama-spec", "llama-speculative-simple"));
    }

    #[test]
    fn ids_in_a_status_file() {
        let status = "Name:\tPPid: 9\nTgid:\t40\nPPid:\t7\nNSpid:\t40\t12\t1\nNSpgid:\t5\t6\n";
        let ids = |name| status_ids(status, name).collect::<Vec<_>>();
        assert_eq!((ids("PPid"), ids("NSpid"), ids("NStgid")), (vec![7], vec![40, 12, 1], vec![]));
        assert_eq!(status_ids("NSpid:\tx -1 4294967296", "NSpid").next(), None);
    }

    #[test]
    fn children_of_this_process() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(children(std::process::id()).contains(&child.id()));
        assert_eq!(id_below(child.id()), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn the_processes_below_a_process() {
        // The shell waits for its child, so the tree has three generations.
        let mut shell = std::process::Command::new("sh").args(["-c", "sleep 60; true"]).spawn().unwrap();
        let own = std::process::id();
        let begun = std::time::Instant::now();
        let sleep = loop {
            if let [sleep] = children(shell.id())[..]
                && name(sleep) == "sleep"
            {
                break sleep;
            }
            assert!(begun.elapsed().as_secs() < 10);
        };
        assert_eq!(below(shell.id()), [sleep]);
        assert!([own, shell.id()].iter().all(|root| is_in_tree(sleep, *root)));
        assert!(below(own).contains(&sleep) && !below(own).contains(&own));
        assert!(!is_in_tree(own, shell.id()) && !is_in_tree(u32::MAX, own));
        shell.kill().unwrap();
        shell.wait().unwrap();
        // Its parent has ended.
        assert!(!is_in_tree(sleep, own));
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(sleep.cast_signed()), nix::sys::signal::SIGKILL)
            .unwrap();
    }

    #[test]
    fn this_process_is_alive_and_checkable() {
        let own = std::process::id();
        assert!(alive(own));
        assert_eq!((check(own), tracer(own.cast_signed())), (Ok(()), 0));
        assert!(!find(&name(own)).contains(&own), "the agent does not trace itself");
        assert!(check(u32::MAX).unwrap_err().answer.contains("no such process"));
        assert!(check(2).is_err(), "a kernel thread");
    }
}
