//! Which agent's the probes in a process are.

use crate::proc_file::text_of_process;

/// A process by its number and when it began, which together name it once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) pid: u64,
    /// Clock ticks since boot.
    pub(super) began: u64,
}

impl Owner {
    /// This agent.
    pub(super) fn own() -> Self {
        let pid = u64::from(std::process::id());
        Self { pid, began: began(pid).unwrap_or(0) }
    }

    /// Whether it still runs.
    pub(super) fn lives(self) -> bool {
        self.pid != 0 && began(self.pid) == Some(self.began)
    }
}

/// `PF_EXITING` of include/linux/sched.h, in field 9 of /proc/PID/stat: no instruction of it runs any more.
const EXITING: u32 = 4;

/// Field 22 of /proc/PID/stat; behind the name, which may hold anything, it is the 20th.
fn began(pid: u64) -> Option<u64> {
    let stat = text_of_process(&format!("/proc/{pid}/stat"))?;
    let rest = stat.get(stat.rfind(')')? + 1..)?;
    let mut fields = rest.split_whitespace();
    // One that has ended and was not collected owns nothing.
    fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    // Nor does one that only closes its files still: that takes the kernel seconds where there are many uprobes.
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
