//! Register sets of a stopped thread, by ptrace(2): `NT_…` of include/uapi/linux/elf.h.

use std::io;

use nix::libc;

/// Reads the set `kind` into `to`, truncated to its length. Returns the number of bytes from the
/// kernel.
///
/// # Errors
/// The error of the kernel: EINVAL if the processor has no such registers.
pub fn read(tid: i32, kind: i32, to: &mut [u64]) -> io::Result<usize> {
    let mut part = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: size_of_val(to) };
    request(libc::PTRACE_GETREGSET, tid, kind, &mut part)?;
    Ok(part.iov_len)
}

/// Writes the set `kind`.
///
/// # Errors
/// The error of the kernel.
pub fn write(tid: i32, kind: i32, from: &mut [u64]) -> io::Result<()> {
    let mut part = libc::iovec { iov_base: from.as_mut_ptr().cast(), iov_len: size_of_val(from) };
    request(libc::PTRACE_SETREGSET, tid, kind, &mut part)
}

fn request(request: libc::c_int, tid: i32, kind: i32, part: &mut libc::iovec) -> io::Result<()> {
    // SAFETY: The kernel reads or writes at most `iov_len` bytes at `iov_base`, a slice that is
    // borrowed for the call. It writes `part`, which outlives the call.
    let answer = unsafe { libc::ptrace(request as _, tid, kind as usize, std::ptr::from_mut(part)) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
