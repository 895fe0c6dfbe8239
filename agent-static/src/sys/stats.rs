//! Run-time statistics of BPF programs.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Enables the statistics until the descriptor is closed, also by the exit of the agent (Linux
/// 5.8).
///
/// # Errors
/// The error of bpf(BPF_ENABLE_STATS).
pub fn enable() -> io::Result<OwnedFd> {
    // SAFETY: bpf_enable_stats takes no pointers.
    let fd = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: The call above returned this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
