//! ptrace(2) of single threads: what `nix` does not know (real-time signals, restartable sequences).

use std::io;

use nix::libc;

/// How a stopped thread is let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// It goes on, still traced.
    On,
    /// It goes on to its next system call or the end of this one.
    ToSystemCall,
    /// It is not traced any more.
    Free,
}

/// What waitpid(2) says of one thread, without waiting; `None`: nothing yet.
///
/// # Errors
/// What the kernel answers: ECHILD where the thread is gone.
pub fn poll(tid: i32) -> io::Result<Option<i32>> {
    let mut status = 0;
    // SAFETY: The kernel writes one int, which outlives the call.
    match unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL | libc::WNOHANG) } {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Some(status)),
    }
}

/// Lets a stopped thread go, with a signal unless it is 0.
///
/// # Errors
/// What the kernel answers: ESRCH where the thread is gone or not stopped.
pub fn go(tid: i32, how: Go, signal: i32) -> io::Result<()> {
    let request = match how {
        Go::On => libc::PTRACE_CONT,
        Go::ToSystemCall => libc::PTRACE_SYSCALL,
        Go::Free => libc::PTRACE_DETACH,
    };
    // SAFETY: These requests take no pointers: the last argument is the signal's number.
    let answer = unsafe { libc::ptrace(request, tid, 0usize, signal as usize) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Sends a signal to one thread. A thread that is gone needs none.
pub fn signal_thread(pid: u32, tid: i32, signal: i32) {
    // SAFETY: The call takes three numbers.
    let _ = unsafe { libc::syscall(libc::SYS_tgkill, pid, tid, signal) };
}

/// Marks stops at system calls, so that they are not taken for a SIGTRAP; `also` stays set.
///
/// # Errors
/// As [`go`].
pub fn mark_system_calls(tid: i32, mark: bool, also: i32) -> io::Result<()> {
    let options = also | if mark { libc::PTRACE_O_TRACESYSGOOD } else { 0 };
    // SAFETY: This request takes no pointers: the last argument is a set of bits.
    let answer = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, tid, 0usize, options as usize) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Address of the thread's `struct rseq`; 0: it registered none, or the kernel has none. `None`: the kernel cannot tell
/// (before Linux 5.13).
#[must_use]
pub fn restartable(tid: i32) -> Option<u64> {
    /// include/uapi/linux/ptrace.h.
    const GET_RSEQ_CONFIGURATION: libc::c_uint = 0x420f;
    /// `struct ptrace_rseq_configuration`: pointer, size, signature, flags, padding.
    #[repr(C)]
    #[derive(Default)]
    struct Configuration {
        pointer: u64,
        rest: [u32; 4],
    }
    let mut configuration = Configuration::default();
    // SAFETY: The kernel writes at most as many bytes as it is told in the third argument, which outlive the call.
    let answer = unsafe {
        libc::ptrace(GET_RSEQ_CONFIGURATION as _, tid, size_of::<Configuration>(), &raw mut configuration)
    };
    (answer > 0).then_some(configuration.pointer)
}
