//! The causes that take time from an engine, and whom the scheduler level blames for them.

use profinfer_trace::model::{Model, Task};

/// What took time from the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A program outside of the engine had a CPU: row of [`Replay::culprits`](super::Replay::culprits).
    Program(CulpritId),
    /// The agent had a CPU.
    Agent,
    /// Threads of the engine shared a CPU although another CPU that they may use was free.
    Placement,
    /// The engine has more running threads than CPUs.
    TooManyThreads,
    /// Threads of the engine shared a CPU, and it is not recorded who had the others.
    SharedCpu,
    /// A thread of the engine that computed nothing at that time had a CPU: an idle team that
    /// spins, a thread that polls. Or an idle team made threads sleep at barriers.
    IdleTeam,
    /// A thread was runnable and its CPU idle: a quota was used up, or a hypervisor had the CPU.
    Throttled,
    /// A hypervisor had a CPU, by the counters of /proc/stat.
    Steal,
    /// A thread was runnable, and it is not recorded who had its CPU.
    UnknownHolder,
    /// An interrupt handler ran on the CPU of a thread.
    Interrupts,
    /// A thread slept at a barrier and had to be woken.
    WakeUp,
    /// A thread slept uninterruptibly inside an operator: page read from storage, kernel lock.
    Blocked,
    /// A thread slept voluntarily inside an operator.
    Asleep,
    /// A thread was stopped by a signal or a debugger, or frozen with its control group.
    Stopped,
    /// A program on another CPU shared memory, caches or the clock: row of [`Replay::culprits`](super::Replay::culprits).
    SharedMemory(CulpritId),
    /// The operators took longer than in the fastest part of the recording, all at once and for many calls: a lower
    /// clock, heat, or a user of the memory that was not recorded.
    LowerSpeed,
}

impl Cause {
    /// A thread of the engine lacked a CPU: others had it, or its own threads shared it.
    #[must_use]
    pub const fn takes_cpus(self) -> bool {
        match self {
            Self::Program(_)
            | Self::Agent
            | Self::Placement
            | Self::TooManyThreads
            | Self::SharedCpu
            | Self::IdleTeam
            | Self::Throttled
            | Self::Steal
            | Self::UnknownHolder
            | Self::Interrupts => true,
            Self::WakeUp
            | Self::Blocked
            | Self::Asleep
            | Self::Stopped
            | Self::SharedMemory(_)
            | Self::LowerSpeed => false,
        }
    }
}

/// Position in [`Replay::culprits`](super::Replay::culprits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CulpritId(pub u32);

/// A program that had CPUs of the engine, or others next to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Culprit {
    /// Thread id of its busiest task; 0 where it stands for many short tasks.
    pub tid: u32,
    /// Process; 0 where its tasks had exited before they were looked up, or are of many processes.
    pub pid: u32,
    pub name: String,
    /// Command line; empty for kernel threads and for tasks that had exited.
    pub command: String,
    /// Control group; empty when unknown.
    pub cgroup: String,
    /// It is another traced engine.
    pub engine: bool,
    /// Number of tasks that were grouped.
    pub tasks: u32,
    /// CPUs on which it held up the engine, or ran next to it, sorted.
    pub cpus: Vec<u16>,
}

impl Culprit {
    /// A thread of the kernel: it was looked up, and has no command line.
    #[must_use]
    pub const fn is_of_kernel(&self) -> bool {
        self.pid != 0 && self.command.is_empty()
    }

    /// The program of a task, without any of its tasks and CPUs yet.
    pub(super) fn of_task(model: &Model, task: &Task) -> Self {
        let text = |t| model.texts.get(t).to_owned();
        Self {
            tid: task.tid,
            pid: task.pid,
            name: text(task.name),
            command: text(task.command),
            cgroup: text(task.cgroup),
            engine: model.session.processes.iter().any(|p| p.pid == task.pid),
            tasks: 0,
            cpus: Vec::new(),
        }
    }

    /// It had this CPU.
    pub(super) fn had(&mut self, cpu: u16) {
        if let Err(at) = self.cpus.binary_search(&cpu) {
            self.cpus.insert(at, cpu);
        }
    }
}

/// Amounts by cause, in a short list: an operator has few causes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amounts(Vec<(Cause, u64)>);

impl Amounts {
    /// Adds `ns` to a cause.
    pub fn add(&mut self, cause: Cause, ns: u64) {
        if ns == 0 {
            return;
        }
        match self.0.iter_mut().find(|(c, _)| *c == cause) {
            Some((_, sum)) => *sum = sum.saturating_add(ns),
            None => self.0.push((cause, ns)),
        }
    }

    /// Removes a cause. Returns its time.
    pub(super) fn take(&mut self, cause: Cause) -> u64 {
        let ns = self.get(cause);
        self.0.retain(|(c, _)| *c != cause);
        ns
    }

    /// Gives the time of one cause to another.
    pub(super) fn rename(&mut self, from: Cause, to: Cause) {
        let ns = self.take(from);
        self.add(to, ns);
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        other.0.iter().for_each(|(cause, ns)| self.add(*cause, *ns));
    }

    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, ns)| sum.saturating_add(*ns))
    }

    #[must_use]
    pub fn get(&self, cause: Cause) -> u64 {
        self.0.iter().find(|(c, _)| *c == cause).map_or(0, |(_, ns)| *ns)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Cause, u64)> + '_ {
        self.0.iter().copied()
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Gives `ns` to the causes in proportion to these amounts, with the rest of rounding on the
    /// largest. Returns what no cause takes: all of it if there is none.
    pub(crate) fn share(&self, ns: u64, to: &mut Self) -> u64 {
        let total = self.total();
        if total == 0 {
            return ns;
        }
        let mut left = ns;
        for (cause, amount) in self.iter() {
            let part = u128::from(ns) * u128::from(amount) / u128::from(total);
            let part = u64::try_from(part).unwrap_or(u64::MAX).min(left);
            to.add(cause, part);
            left -= part;
        }
        if let Some((cause, _)) = self.iter().max_by_key(|(_, amount)| *amount) {
            to.add(cause, left);
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_in_proportion_and_sum_to_the_time() {
        let mut weights = Amounts::default();
        weights.add(Cause::Agent, 1);
        weights.add(Cause::Stopped, 2);
        let mut to = Amounts::default();
        assert_eq!(weights.share(100, &mut to), 0);
        assert_eq!((to.get(Cause::Agent), to.get(Cause::Stopped), to.total()), (33, 67, 100));
        assert_eq!(Amounts::default().share(7, &mut to), 7);
        assert_eq!(to.total(), 100);
    }
}
