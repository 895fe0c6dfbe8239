//! What the kernel allows the calling thread: capabilities (capabilities(7)), no new privileges, system calls that are filtered.

use std::io;

use nix::libc;

/// Sets of capabilities, a bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sets {
    /// What is checked.
    pub effective: u64,
    /// What may be made effective.
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

/// Those of the calling thread.
///
/// # Errors
/// What capget(2) answers.
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

/// Sets those of the calling thread and of the threads that it makes from now on; nothing can be inherited by a program.
///
/// # Errors
/// What capset(2) answers: what is not permitted cannot come back.
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

/// Does something with a capability that is permitted and not effective.
pub fn raised<T>(bits: u64, work: impl FnOnce() -> T) -> T {
    let before = sets().unwrap_or_default();
    let raise = bits & before.permitted & !before.effective != 0
        && set(Sets { effective: before.effective | bits & before.permitted, ..before }).is_ok();
    let done = work();
    if raise {
        // To less is always allowed.
        let _ = set(before);
    }
    done
}

/// Whether a capability can still be had, also by beginning another program; `None` when the kernel does not know it.
#[must_use]
pub fn bounding(capability: u32) -> Option<bool> {
    // SAFETY: This call takes no pointers.
    match unsafe { libc::prctl(libc::PR_CAPBSET_READ, libc::c_ulong::from(capability)) } {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Takes a capability out of what can be had.
///
/// # Errors
/// What prctl(2) answers: CAP_SETPCAP is needed.
pub fn drop_bounding(capability: u32) -> io::Result<()> {
    // SAFETY: This call takes no pointers.
    match unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability)) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether system calls of the calling thread are filtered.
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
        // To the same is allowed to everybody.
        set(sets).unwrap();
        assert_eq!(super::sets().unwrap(), sets);
    }
}
