//! The agent that owns the probes in a process.

use crate::proc_file::text_of_process;

/// A process by id and start time, which together are unique.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) pid: u64,
    /// Clock ticks since boot.
    pub(super) began: u64,
}

impl Owner {
    pub(super) fn own() -> Self {
        let pid = u64::from(std::process::id());
        Self { pid, began: began(pid).unwrap_or(0) }
    }

    /// Whether the process still runs.
    pub(super) fn lives(self) -> bool {
        self.pid != 0 && began(self.pid) == Some(self.began)
    }
}

/// `PF_EXITING` of include/linux/sched.h, in field 9 of /proc/PID/stat: the process executes no
/// more instructions.
const EXITING: u32 = 4;

/// Field 22 of /proc/PID/stat. Counted after the name, which may contain anything, it is the 20th.
fn began(pid: u64) -> Option<u64> {
    let stat = text_of_process(&format!("/proc/{pid}/stat"))?;
    let rest = stat.get(stat.rfind(')')? + 1..)?;
    let mut fields = rest.split_whitespace();
    // A zombie owns nothing.
    fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    // Neither does a process that is only closing its files: that takes the kernel seconds if there
    // are many uprobes.
    let flags: u32 = fields.nth(5)?.parse().ok()?;
    if flags & EXITING != 0 {
        return None;
    }
    fields.nth(12)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_agent_lives_and_an_earlier_one_of_its_number_does_not() {
        let own = Owner::own();
        assert!(own.began > 0 && own.lives());
        assert!(!Owner { began: own.began + 1, ..own }.lives());
        assert!(!Owner::default().lives());
    }
}
