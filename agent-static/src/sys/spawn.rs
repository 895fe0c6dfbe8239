//! Starts the engine so that nothing of it runs before the agent watches it.

use std::ffi::CString;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::signal::SigSet;
use nix::unistd::{ForkResult, Pid, dup2_stdout, execvp, fork, pipe2, read, write};

use crate::error::{Diagnostic, Result};

/// A program that waits, before its first instruction, to be let go.
#[derive(Debug)]
pub struct Spawned {
    /// Its process id.
    pub pid: Pid,
    go: OwnedFd,
    failed: OwnedFd,
}

/// Forks; the child waits for [`Spawned::release`] and then runs `command`. With `stdout_to_stderr` the
/// program's standard output goes where its standard error goes, because the agent's own carries the stream.
///
/// # Errors
/// When the command is empty or holds a zero byte, or fork(2) or pipe(2) fail.
pub fn spawn(command: &[std::ffi::OsString], stdout_to_stderr: bool) -> Result<Spawned> {
    let shown = || command.join(std::ffi::OsStr::new(" ")).to_string_lossy().into_owned();
    let tried = || format!("starting `{}`", shown());
    let argv: Vec<CString> = command
        .iter()
        .map(|a| CString::new(a.as_bytes()))
        .collect::<std::result::Result<_, _>>()
        .map_err(|e| Diagnostic::new(tried(), e, "an argument must not contain a zero byte"))?;
    let program =
        argv.first().ok_or_else(|| Diagnostic::new(tried(), "no command given", "write it after `--`"))?;
    let os = |e: Errno| Diagnostic::new(tried(), e.desc(), "check `ulimit -u` and free memory");
    let (go_read, go) = pipe2(OFlag::O_CLOEXEC).map_err(os)?;
    let (failed, failed_write) = pipe2(OFlag::O_CLOEXEC).map_err(os)?;
    // SAFETY: The agent has one thread, so the child's memory is as consistent as the parent's was; the
    // child only calls read, dup2, sigprocmask, execvp, write and _exit before it becomes another program.
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
                let Err(e) = execvp(program, &argv);
                let _ = write(failed_write.as_fd(), &(e as i32).to_ne_bytes());
            }
            // SAFETY: _exit is async-signal-safe and runs no handlers of the parent's memory.
            unsafe { nix::libc::_exit(127) }
        }
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
                "check the path after `--`, its execute permission and its architecture",
            ));
        }
        Ok(())
    }
}
