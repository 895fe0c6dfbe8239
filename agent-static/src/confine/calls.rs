//! System calls that the kernel refuses to the agent (seccomp).
//!
//! The list has calls that no session makes and that an attacker needs: starting programs, modules,
//! mounts, other users, connections, kernel images. They return EPERM. A list of allowed calls
//! would break a session on the first kernel or libc that uses an unexpected call.

use std::cell::Cell;

use nix::libc::{self, c_long};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

/// Refused when the agent has no program to start.
const ALWAYS: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_process_vm_writev,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_mknodat,
    libc::SYS_symlinkat,
    libc::SYS_linkat,
    libc::SYS_open_by_handle_at,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];
/// Also refused after the setup of the only session, which mounts tracefs.
const ATTACHED: &[c_long] =
    &[libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick, libc::SYS_open_tree];

thread_local! {
    /// The lists that are in effect for this thread.
    static DONE: Cell<(bool, bool)> = const { Cell::new((false, false)) };
}

/// Applies the lists to the calling thread and the threads that it creates.
///
/// # Errors
/// If the kernel does not apply them.
pub fn refuse(attached: bool) -> Result<(), String> {
    let why = |e: &dyn std::fmt::Display| format!("refusing system calls (seccomp): {e}");
    // Filters add up, and the kernel runs each at every call, so none is added twice.
    let (always, attached) = DONE.with(|done| {
        let (always, already) = done.get();
        done.set((true, already || attached));
        (!always, attached && !already)
    });
    let lists = [(always, ALWAYS), (attached, ATTACHED)];
    let calls: Vec<c_long> =
        lists.iter().filter(|(wanted, _)| *wanted).flat_map(|(_, l)| l.iter().copied()).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|e| why(&e))?;
    let rules = calls.into_iter().map(|call| (call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).map_err(|e| why(&e))?;
    let program: BpfProgram = filter.try_into().map_err(|e: seccompiler::BackendError| why(&e))?;
    apply_filter(&program).map_err(|e| why(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_confined_begins_no_program() {
        let thread = std::thread::spawn(|| {
            let refused = refuse(false);
            let Ok(()) = refused else { return profinfer_skip::skip(format!("{refused:?}")) };
            assert!(crate::sys::privilege::filtered());
            let answer = |e: std::io::Result<()>| e.err().and_then(|e| e.raw_os_error());
            assert_eq!(answer(std::process::Command::new("true").status().map(drop)), Some(libc::EPERM));
            assert_eq!(answer(std::net::TcpStream::connect("127.0.0.1:9").map(drop)), Some(libc::EPERM));
            // Everything else still works.
            assert!(std::fs::read("/proc/self/comm").is_ok());
            assert!(std::thread::spawn(|| 1).join().is_ok());
            assert_eq!(refuse(true), Ok(()));
        });
        assert!(thread.join().is_ok());
        // Other threads are not affected.
        assert!(std::process::Command::new("true").status().is_ok());
    }
}
