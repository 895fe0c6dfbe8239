//! Starts the engine suspended: no instruction of it runs before the agent observes it.

use std::ffi::{CStr, CString, OsString};
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::prctl::set_no_new_privs;
use nix::sys::signal::SigSet;
use nix::sys::wait::waitpid;
use nix::unistd::{
    ForkResult, Gid, Pid, Uid, dup2_stderr, dup2_stdout, execvp, execvpe, fork, pipe2, read, setgroups,
    setresgid, setresuid, write,
};

use super::user::User;
use crate::error::{Diagnostic, Result};

/// Maximum number of supplementary groups that the engine gets.
const MAX_GROUPS: usize = 64;

/// A program that waits before its first instruction.
#[derive(Debug)]
pub struct Spawned {
    pub pid: Pid,
    go: OwnedFd,
    failed: OwnedFd,
}

/// Forks. The child waits for [`Spawned::release`], then runs `command` as `user`, if one is given.
/// Messages show the command as `shown`. The program cannot gain privileges: set-user-ID programs
/// have no effect. With `stdout_to_stderr`, its standard output goes to standard error, because
/// that of the agent carries the stream. `stderr` replaces its standard error.
///
/// # Errors
/// If the command is empty or contains a zero byte, or if fork(2) or pipe(2) fails.
pub fn spawn(
    command: &[OsString],
    shown: &str,
    stdout_to_stderr: bool,
    stderr: Option<&OwnedFd>,
    user: Option<&User>,
) -> Result<Spawned> {
    let tried = || format!("starting `{shown}`");
    let argv: Vec<CString> = command
        .iter()
        .map(|a| CString::new(a.as_bytes()))
        .collect::<std::result::Result<_, _>>()
        .map_err(|e| Diagnostic::new(tried(), e, "an argument must not contain a zero byte"))?;
    let program =
        argv.first().ok_or_else(|| Diagnostic::new(tried(), "no command given", "add it after `--`"))?;
    let os = |e: Errno| Diagnostic::new(tried(), e.desc(), "check `ulimit -u` and free memory");
    let environment = user.map(|user| variables(&user.environment()));
    let (go_read, go) = pipe2(OFlag::O_CLOEXEC).map_err(os)?;
    let (failed, failed_write) = pipe2(OFlag::O_CLOEXEC).map_err(os)?;
    // SAFETY: The agent has one thread, so the memory of the child is as consistent as that of the
    // parent. Before it becomes another program, the child only calls read, dup2, sigprocmask,
    // prctl, setgroups, setresgid, setresuid, execvp, write and _exit.
    match unsafe { fork() }.map_err(os)? {
        ForkResult::Parent { child } => Ok(Spawned { pid: child, go, failed }),
        ForkResult::Child => {
            drop(go);
            let mut byte = [0u8];
            let released = read(&go_read, &mut byte) == Ok(1);
            if released {
                // The agent blocks the signals that it reads from a signalfd. The engine must not
                // inherit that.
                let _ = SigSet::all().thread_unblock();
                if stdout_to_stderr {
                    let _ = dup2_stdout(std::io::stderr().as_fd());
                }
                if let Some(stderr) = stderr {
                    let _ = dup2_stderr(stderr);
                }
                let e = begin(program, &argv, user, environment.as_deref());
                let _ = write(failed_write.as_fd(), &(e as i32).to_ne_bytes());
            }
            // SAFETY: _exit is async-signal-safe and runs no handlers of the parent.
            unsafe { nix::libc::_exit(127) }
        }
    }
}

/// Executes the program. Returns the error if that fails.
fn begin(program: &CStr, argv: &[CString], user: Option<&User>, environment: Option<&[CString]>) -> Errno {
    if let Err(e) = become_user(user).and_then(|()| set_no_new_privs()) {
        return e;
    }
    let Err(e) = match environment {
        Some(environment) => execvpe(program, argv, environment),
        None => execvp(program, argv),
    };
    e
}

/// Permanent: the saved IDs change too.
fn become_user(user: Option<&User>) -> nix::Result<()> {
    let Some(user) = user else { return Ok(()) };
    let mut groups = [Gid::from_raw(0); MAX_GROUPS];
    let count = user.groups.len().min(MAX_GROUPS);
    for (to, from) in groups.iter_mut().zip(&user.groups) {
        *to = Gid::from_raw(*from);
    }
    setgroups(&groups[..count])?;
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    setresgid(gid, gid, gid)?;
    setresuid(uid, uid, uid)
}

/// Each as `NAME=value`. Text with a zero byte cannot be a variable, so it is skipped.
fn variables(all: &[(OsString, OsString)]) -> Vec<CString> {
    let text = |(name, value): &(OsString, OsString)| [name.as_bytes(), value.as_bytes()].join(&b'=');
    all.iter().filter_map(|variable| CString::new(text(variable)).ok()).collect()
}

/// Forks twice. Returns true in a copy of this process, which is reparented to the subreaper
/// (prctl(2), PR_SET_CHILD_SUBREAPER). For the test that kills thousands of agents: a copy has
/// already read the files of the engine.
///
/// # Errors
/// If fork(2) fails.
pub fn orphan() -> std::result::Result<bool, Errno> {
    // SAFETY: The caller has one thread, so the memory of the child is as consistent as that of the
    // parent.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => waitpid(child, None).map(|_| false),
        // SAFETY: As above.
        ForkResult::Child => match unsafe { fork() } {
            Ok(ForkResult::Child) => Ok(true),
            // SAFETY: _exit is async-signal-safe and runs no handlers of the parent.
            _ => unsafe { nix::libc::_exit(0) },
        },
    }
}

impl Spawned {
    /// Lets the program start.
    pub fn release(&self) {
        let _ = write(&self.go, &[1]);
    }

    /// Checks whether the program could be executed. Call it after the child has exited.
    ///
    /// # Errors
    /// The error of execvp(3).
    pub fn check(self, command: &str) -> Result<()> {
        let mut answer = [0u8; 4];
        let _ = nix::fcntl::fcntl(self.failed.as_fd(), nix::fcntl::FcntlArg::F_SETFL(OFlag::O_NONBLOCK));
        debug_assert!(self.failed.as_raw_fd() >= 0);
        let got = std::fs::File::from(self.failed).read(&mut answer).unwrap_or(0);
        if got == 4 {
            let errno = Errno::from_raw(i32::from_ne_bytes(answer));
            return Err(Diagnostic::new(
                format!("starting `{command}`"),
                errno.desc(),
                "check the path after `--`, its execute permission and its architecture; --user requires the agent to run as root",
            ));
        }
        Ok(())
    }
}
