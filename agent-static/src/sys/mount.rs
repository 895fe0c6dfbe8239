//! A file system mounted for this process only: it is attached to no folder, and vanishes with its
//! descriptor.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::libc;

// include/uapi/asm-generic/unistd.h; these numbers are the same on x86-64.
const SYS_FSOPEN: libc::c_long = 430;
const SYS_FSCONFIG: libc::c_long = 431;
const SYS_FSMOUNT: libc::c_long = 432;
// include/uapi/linux/mount.h
const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;

/// Mounts a file system of type `kind` without a mount point. Its files are below
/// `/proc/self/fd/N`, where N is the descriptor.
///
/// # Errors
/// The error of fsopen(2), fsconfig(2) or fsmount(2), which need Linux 5.2.
pub fn detached(kind: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: `kind` ends with a zero byte and outlives the call, which only reads it.
    let context = owned(unsafe { libc::syscall(SYS_FSOPEN, kind.as_ptr(), FSOPEN_CLOEXEC) })?;
    let (fd, none) = (context.as_raw_fd(), std::ptr::null::<libc::c_char>());
    // SAFETY: This command takes neither key nor value.
    let created = unsafe { libc::syscall(SYS_FSCONFIG, fd, FSCONFIG_CMD_CREATE, none, none, 0) };
    if created < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: The call takes no pointers.
    owned(unsafe { libc::syscall(SYS_FSMOUNT, fd, FSMOUNT_CLOEXEC, 0) })
}

fn owned(answer: libc::c_long) -> io::Result<OwnedFd> {
    match i32::try_from(answer) {
        // SAFETY: The call returned this descriptor to us alone.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}
