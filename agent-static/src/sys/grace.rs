//! Waiting for programs of the kernel that are running.

use nix::libc;

/// MEMBARRIER_CMD_GLOBAL of include/uapi/linux/membarrier.h
const GLOBAL: libc::c_int = 1;

/// Returns when each BPF program that was running has ended: membarrier(2) waits for a grace period of RCU, and
/// programs run inside of one. Without effect where the kernel refuses (`nohz_full`).
pub fn programs_ended() {
    // SAFETY: membarrier takes numbers only.
    let _ = unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) };
}
