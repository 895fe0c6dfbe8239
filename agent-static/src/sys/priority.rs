//! The nice value of the calling thread.

use std::io;

use nix::libc;

#[must_use]
pub fn nice() -> i32 {
    // SAFETY: getpriority takes no pointers. -1 is a valid result, and the call cannot fail for the
    // caller itself.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

///
/// # Errors
/// The error of setpriority(2): a lower value needs CAP_SYS_NICE.
pub fn set_nice(value: i32) -> io::Result<()> {
    // SAFETY: setpriority takes no pointers.
    let answer = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
