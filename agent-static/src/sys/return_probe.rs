//! Whether a seccomp filter ends a process at its first return probe.
//!
//! From Linux 6.11 on, a probed function on x86-64 returns through a special system call, uretprobe(2).
//! A filter with a list of allowed calls refuses it, and the process crashes. Later kernels (6.14, and
//! updates of those before it) do not pass this call to filters.

use nix::libc;

/// uretprobe(2) on x86-64.
const URETPROBE: libc::c_long = 335;

/// How the kernel answered the call in a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// It ran and ended the child, because no return probe had made it.
    Ran,
    /// It was refused, or there is no such call.
    Refused,
    /// The child could not be started or waited for.
    Unknown,
}

/// Whether return probes end filtered processes. Tried by two children that make the call, one of them
/// with a filter that refuses it.
#[must_use]
pub fn end_filtered_processes() -> bool {
    cfg!(target_arch = "x86_64") && judge(call(false), call(true))
}

/// `plain`: without a filter; `filtered`: with one.
fn judge(plain: Answer, filtered: Answer) -> bool {
    plain == Answer::Ran && filtered != Answer::Ran
}

fn call(filtered: bool) -> Answer {
    // SAFETY: The child only makes system calls and ends; it uses no memory of the parent but its stack.
    match unsafe { libc::fork() } {
        -1 => Answer::Unknown,
        0 => child(filtered),
        pid => {
            let mut status = 0;
            loop {
                // SAFETY: The kernel writes one number, which outlives the call.
                let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
                let again = waited == -1 && nix::errno::Errno::last() == nix::errno::Errno::EINTR;
                if waited == pid {
                    break;
                } else if !again {
                    return Answer::Unknown;
                }
            }
            match (libc::WIFSIGNALED(status), libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))) {
                (true, _) => Answer::Ran,
                (_, Some(0)) => Answer::Refused,
                _ => Answer::Unknown,
            }
        }
    }
}

/// Makes the call. Ends with 0 if it returns, with 1 if the filter could not be installed.
fn child(filtered: bool) -> ! {
    let of = |code: u32, k: u32, jf: u8| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
    // Load the number of the call; if it is this one, refuse it; else allow it.
    let mut filter = [
        of(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        of(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, URETPROBE as u32, 1),
        of(libc::BPF_RET | libc::BPF_K, refuse, 0),
        of(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: These calls change only this child, which ends here. The kernel reads the program, which
    // outlives the call. The child leaves no core file, and does not return into the parent's code.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        let ready = !filtered
            || libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0;
        if ready {
            // The default action, so that the signal ends the child.
            libc::signal(libc::SIGILL, libc::SIG_DFL);
            libc::syscall(URETPROBE);
        }
        libc::_exit(i32::from(!ready))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_call_that_is_there_and_is_filtered_ends_processes() {
        use Answer::{Ran, Refused, Unknown};
        assert!(judge(Ran, Refused));
        assert!(!judge(Ran, Ran), "the kernel does not filter it");
        assert!(!judge(Refused, Refused), "the kernel has no such call");
        assert!(judge(Ran, Unknown), "in doubt no process is ended");
        assert!(!judge(Unknown, Refused));
    }

    #[test]
    fn the_filter_refuses_the_call_where_the_kernel_asks_it() {
        // Linux 6.14 and later do not; before 6.11, and on other architectures, there is no such call.
        let answer = call(true);
        assert_ne!(answer, Answer::Unknown, "the filter was installed and the child waited for");
        assert_eq!(end_filtered_processes(), judge(call(false), answer) && cfg!(target_arch = "x86_64"));
    }
}
