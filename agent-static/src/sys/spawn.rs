//! Starts the engine so that nothing of it runs before the agent watches it.

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

/// Most groups of a user that it has in the engine too.
const MAX_GROUPS: usize = 64;

/// A program that waits, before its first instruction, to be let go.
#[derive(Debug)]
pub struct Spawned {
    /// Its process id.
    pub pid: Pid,
    go: OwnedFd,
    failed: OwnedFd,
}

/// Forks; the child waits for [`Spawned::release`] and then runs `command`, which messages call `shown`, as `user` if one is given. It can gain no privileges that it
/// does not begin with (set-user-id programs give none). With `stdout_to_stderr` the program's standard output goes where its standard
/// error would go, because the agent's own carries the stream; `stderr` is what its standard error becomes.
///
/// # Errors
/// When the command is empty or holds a zero byte, or fork(2) or pipe(2) fail.
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
        argv.first().ok_or_else(|| Diagnostic::new(tried(), "no command given", "write it after `--`"))?;
    let os = |e: Errno| Diagnostic::new(tried(), e.desc(), "check `ulimit -u` and free memory");
    let environment = user.map(|user| variables(&user.environment()));
    let (go_read, go) = pipe2(OFlag::O_CLOEXEC).map_err(os)?;
    let (failed, failed_write) = pipe2(OFlag::O_CLOEXEC).map_err(os)?;
    // SAFETY: The agent has one thread, so the child's memory is as consistent as the parent's was; the
    // child only calls read, dup2, sigprocmask, prctl, setgroups, setresgid, setresuid, execvp, write and _exit before it becomes another
    // program.
    match unsafe { fork() }.map_err(os)? {
        ForkResult::Parent { child } => Ok(Spawned { pid: child, go, failed }),
        ForkResult::Child => {
            drop(go);
            let mut byte = [0u8];
            let released = read(&go_read, &mut byte) == Ok(1);
            if released {
                // The agent blocks the signals that it reads from a signalfd; the engine shall not.
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
            // SAFETY: _exit is async-signal-safe and runs no handlers of the parent's memory.
            unsafe { nix::libc::_exit(127) }
        }
    }
}

/// Becomes the program; what the system answered where it cannot.
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

/// For good: the saved ids change too.
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

/// `NAME=value` each. What has a zero byte cannot be a variable, and came from none.
fn variables(all: &[(OsString, OsString)]) -> Vec<CString> {
    let text = |(name, value): &(OsString, OsString)| [name.as_bytes(), value.as_bytes()].join(&b'=');
    all.iter().filter_map(|variable| CString::new(text(variable)).ok()).collect()
}

/// Goes on twice: true in a copy of this process, whose parent is whoever collects orphans (prctl(2), PR_SET_CHILD_SUBREAPER). For the test
/// that kills thousands of agents: a copy has read the engine's files already.
///
/// # Errors
/// When fork(2) fails.
pub fn orphan() -> std::result::Result<bool, Errno> {
    // SAFETY: The caller has one thread, so the child's memory is as consistent as the parent's.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => waitpid(child, None).map(|_| false),
        // SAFETY: As above.
        ForkResult::Child => match unsafe { fork() } {
            Ok(ForkResult::Child) => Ok(true),
            // SAFETY: _exit is async-signal-safe and runs no handlers of the parent's memory.
            _ => unsafe { nix::libc::_exit(0) },
        },
    }
}

impl Spawned {
    /// Lets the program begin.
    pub fn release(&self) {
        let _ = write(&self.go, &[1]);
    }

    /// Whether the program could not be begun; call it when the child has exited.
    ///
    /// # Errors
    /// The diagnostic to show, with what execvp(3) answered.
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
                "check the path after `--`, its execute permission and its architecture; --user needs an agent that runs as root",
            ));
        }
        Ok(())
    }
}
