//! Privileges of the calling thread: capabilities (capabilities(7)), no new privileges, filtered
//! system calls.

use std::io;

use nix::libc;

/// Capability sets, one bit per capability.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sets {
    /// The capabilities that the kernel checks.
    pub effective: u64,
    /// The capabilities that may become effective.
    pub permitted: u64,
}

// include/uapi/linux/capability.h
const VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Default)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// The sets of the calling thread.
///
/// # Errors
/// The error of capget(2).
pub fn sets() -> io::Result<Sets> {
    let mut header = Header { version: VERSION_3, pid: 0 };
    let mut data = [Data::default(), Data::default()];
    // SAFETY: The kernel writes two such structs for this version, and both outlive the call.
    let answer = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    let [low, high] = data;
    let both = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    Ok(Sets {
        effective: both(low.effective, high.effective),
        permitted: both(low.permitted, high.permitted),
    })
}

/// Sets the sets of the calling thread and the threads that it creates. A program inherits none.
///
/// # Errors
/// The error of capset(2): a capability that is not permitted cannot come back.
pub fn set(sets: Sets) -> io::Result<()> {
    let mut header = Header { version: VERSION_3, pid: 0 };
    let part = |shift: u32| Data {
        effective: (sets.effective >> shift) as u32,
        permitted: (sets.permitted >> shift) as u32,
        inheritable: 0,
    };
    let data = [part(0), part(32)];
    // SAFETY: The kernel reads two such structs for this version, and both outlive the call.
    let answer = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Runs `work` with capabilities that are permitted but not effective.
pub fn raised<T>(bits: u64, work: impl FnOnce() -> T) -> T {
    let before = sets().unwrap_or_default();
    let raise = bits & before.permitted & !before.effective != 0
        && set(Sets { effective: before.effective | bits & before.permitted, ..before }).is_ok();
    let done = work();
    if raise {
        // Lowering is always allowed.
        let _ = set(before);
    }
    done
}

/// Whether a capability is in the bounding set, so that a program could still gain it. `None` if
/// the kernel does not know it.
#[must_use]
pub fn bounding(capability: u32) -> Option<bool> {
    // SAFETY: This call takes no pointers.
    match unsafe { libc::prctl(libc::PR_CAPBSET_READ, libc::c_ulong::from(capability)) } {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Removes a capability from the bounding set.
///
/// # Errors
/// The error of prctl(2): it needs CAP_SETPCAP.
pub fn drop_bounding(capability: u32) -> io::Result<()> {
    // SAFETY: This call takes no pointers.
    match unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability)) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether a seccomp filter applies to the calling thread.
#[must_use]
pub fn filtered() -> bool {
    // SAFETY: This call takes no pointers.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP) == 2 }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn as_the_kernel_prints_them() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let of = |key: &str| {
            let line = status.lines().find_map(|l| l.strip_prefix(key)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        let sets = sets().unwrap();
        assert_eq!((sets.effective, sets.permitted), (of("CapEff:"), of("CapPrm:")));
        let bits = (0..64).filter(|n| bounding(*n) == Some(true)).fold(0u64, |bits, n| bits | 1 << n);
        assert_eq!(bits, of("CapBnd:"));
        // Setting the same sets is always allowed.
        set(sets).unwrap();
        assert_eq!(super::sets().unwrap(), sets);
    }
}
