//! The capabilities that a session needs, and why.

use std::io;

use crate::sys::privilege::{self, Sets};

const DAC_OVERRIDE: u32 = 1;
const DAC_READ_SEARCH: u32 = 2;
const KILL: u32 = 5;
const IPC_LOCK: u32 = 14;
const SYS_PTRACE: u32 = 19;
const ADMIN: u32 = 21;
const SYS_NICE: u32 = 23;
const SYS_RESOURCE: u32 = 24;
const SYSLOG: u32 = 34;
const PERFMON: u32 = 38;
const BPF: u32 = 39;
/// For the links in /proc/PID/map_files, since Linux 5.9.
pub const CHECKPOINT_RESTORE: u32 = 40;
const SETPCAP: u32 = 8;

const NAMES: [(u32, &str); 13] = [
    (DAC_OVERRIDE, "dac_override"),
    (DAC_READ_SEARCH, "dac_read_search"),
    (KILL, "kill"),
    (SETPCAP, "setpcap"),
    (IPC_LOCK, "ipc_lock"),
    (SYS_PTRACE, "sys_ptrace"),
    (ADMIN, "sys_admin"),
    (SYS_NICE, "sys_nice"),
    (SYS_RESOURCE, "sys_resource"),
    (SYSLOG, "syslog"),
    (PERFMON, "perfmon"),
    (BPF, "bpf"),
    (CHECKPOINT_RESTORE, "checkpoint_restore"),
];

/// For mounting tracefs, and for newer capabilities on older kernels.
pub const SYS_ADMIN: u64 = 1 << ADMIN;

/// Needed while probes and engines come and go: reading files and memory of an engine of any user
/// (`DAC_*`, `SYS_PTRACE`, `CHECKPOINT_RESTORE`), stopping its threads (`KILL`), attaching probes
/// (`PERFMON`), updating BPF maps (`BPF`).
pub const ATTACHED: u64 = 1 << DAC_OVERRIDE
    | 1 << DAC_READ_SEARCH
    | 1 << KILL
    | 1 << SYS_PTRACE
    | 1 << PERFMON
    | 1 << BPF
    | 1 << CHECKPOINT_RESTORE;

/// Needed in addition for the setup of a session: memory for the BPF maps, the priority of the
/// agent, kernel symbols, and dropping the rest.
pub const SESSION: u64 =
    ATTACHED | SYS_ADMIN | 1 << SYS_NICE | 1 << SYS_RESOURCE | 1 << IPC_LOCK | 1 << SYSLOG | 1 << SETPCAP;

/// Whether this process may load BPF programs and attach them, as far as its capabilities show it.
#[must_use]
pub fn may_trace() -> bool {
    let needed = 1 << BPF | 1 << PERFMON;
    privilege::sets().map_or(true, |sets| {
        let has = sets.effective | sets.permitted;
        has & SYS_ADMIN != 0 || has & needed == needed
    })
}

/// Drops all capabilities except `keep`, also from the bounding set. `at_hand` stays permitted, so
/// that [`privilege::raised`] can make it effective for a moment. Returns the remaining sets.
///
/// # Errors
/// The error of the kernel.
pub fn keep(keep: u64, at_hand: u64) -> io::Result<Sets> {
    let before = privilege::sets()?;
    // The bounding set first: that needs CAP_SETPCAP, which is dropped next. An agent that was
    // started without it has few capabilities anyway.
    if before.effective & 1 << SETPCAP != 0 {
        for capability in (0..64).filter(|c| keep & 1 << c == 0) {
            if privilege::bounding(capability) == Some(true) {
                privilege::drop_bounding(capability)?;
            }
        }
    }
    let kept = Sets { effective: before.effective & keep, permitted: before.permitted & (keep | at_hand) };
    privilege::set(kept)?;
    Ok(kept)
}

/// `kill, bpf`, followed by `; at hand: sys_admin` if a capability is permitted but not effective.
#[must_use]
pub fn words(sets: Sets) -> String {
    match sets.permitted & !sets.effective {
        0 => names(sets.effective),
        more => format!("{}; at hand: {}", names(sets.effective), names(more)),
    }
}

/// `kill, bpf`, or `none`.
#[must_use]
pub fn names(bits: u64) -> String {
    let known = NAMES.iter().filter(|(n, _)| bits & 1 << n != 0).map(|(_, name)| (*name).to_owned());
    let other = (0..64).filter(|n| bits & 1 << n != 0 && NAMES.iter().all(|(known, _)| known != n));
    let all: Vec<String> = known.chain(other.map(|n| format!("number {n}"))).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_up_does_not_come_back() {
        // In a separate thread.
        let kept = std::thread::spawn(|| {
            let before = privilege::sets().unwrap();
            let kept = keep(ATTACHED, 0).unwrap();
            let effective = before.effective & ATTACHED;
            assert_eq!(kept, Sets { effective, permitted: before.permitted & ATTACHED });
            assert_eq!(privilege::sets().unwrap(), kept);
            let more = Sets { effective: effective | SYS_ADMIN, permitted: kept.permitted | SYS_ADMIN };
            assert!(privilege::set(more).is_err());
            // The second call restores nothing.
            keep(SESSION, SYS_ADMIN).unwrap()
        });
        assert_eq!(kept.join().unwrap().permitted & !ATTACHED, 0);
    }

    #[test]
    fn what_is_at_hand_is_effective_for_a_moment() {
        let thread = std::thread::spawn(|| {
            let before = privilege::sets().unwrap();
            let kept = keep(0, before.permitted & SYS_ADMIN).unwrap();
            assert_eq!(kept.effective, 0);
            let within = privilege::raised(SYS_ADMIN, || privilege::sets().unwrap());
            assert_eq!(within.effective, before.permitted & SYS_ADMIN);
            assert_eq!(privilege::sets().unwrap(), kept);
        });
        assert!(thread.join().is_ok());
    }

    #[test]
    fn names_of_sets() {
        let sets = Sets { effective: 1 << KILL | 1 << BPF, permitted: SYS_ADMIN | 1 << KILL | 1 << BPF };
        assert_eq!(words(sets), "kill, bpf; at hand: sys_admin");
        assert_eq!(names(1 << KILL | 1 << BPF | 1 << 9), "kill, bpf, number 9");
        assert_eq!(names(0), "none");
    }
}
