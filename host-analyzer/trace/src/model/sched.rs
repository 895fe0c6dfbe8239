//! What the kernel's scheduler did with the engine's threads, and the tasks on their CPUs.

use super::rows::rows;
use super::text::Text;
use super::thread::ThreadId;

/// The state of a thread of the engine, as the scheduler saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadState {
    /// It was on a CPU. A thread that spins at a barrier is running too.
    Running,
    /// It was runnable and switched out: another task ran there, or its cgroup's quota was used up.
    Preempted,
    /// It was woken and waited for a CPU.
    Woken,
    /// It slept, and a signal could wake it: futex, condition variable, timer.
    Sleeping,
    /// It slept, and a signal could not wake it: page read from disk, lock of the kernel.
    Blocked,
    /// It was stopped by a signal or a debugger.
    Stopped,
}

impl ThreadState {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Running, Self::Preempted, Self::Woken, Self::Sleeping, Self::Blocked, Self::Stopped];

    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Preempted => "preempted",
            Self::Woken => "woken",
            Self::Sleeping => "sleeping",
            Self::Blocked => "blocked",
            Self::Stopped => "stopped",
        }
    }
}

/// Columns, one row per interval in which a thread stayed in one state on one CPU. By thread, then
/// start. The intervals of a thread do not overlap. The state outside of them is unknown.
#[derive(Debug, Default, Clone)]
pub struct ThreadStates {
    /// Thread.
    pub thread: Vec<ThreadId>,
    /// Start, ns.
    pub start_ns: Vec<u64>,
    /// Length, ns.
    pub duration_ns: Vec<u64>,
    /// State.
    pub state: Vec<ThreadState>,
    /// CPU on which it ran, waited to run, or ran last.
    pub cpu: Vec<u16>,
}

rows!(ThreadStates, start_ns);

/// Position in [`Sched::tasks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// A task that was on a CPU: a thread of any process, or of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Thread id of the kernel; 0 for a CPU's idle task, [`OTHER_TASKS`] for all tasks that a window
    /// of [`CpuUse`] does not distinguish.
    pub tid: u32,
    /// Its process; 0 when it was gone before it could be looked up.
    pub pid: u32,
    /// Name, at most 15 bytes.
    pub name: Text,
    /// Command line; empty for kernel threads and for tasks that were gone.
    pub command: Text,
    /// Control group; empty when unknown.
    pub cgroup: Text,
}

/// Not a thread id of any kernel.
pub const OTHER_TASKS: u32 = u32::MAX;

/// Columns, one row per window of a CPU and task that had the CPU in it, whether or not a thread of
/// the engine wanted it. By CPU, then start; the windows of a CPU do not overlap. They have 10 ms
/// or more. There is no window where only threads of one engine and the idle task had the CPU, or
/// the others less than 50 µs: see [`ThreadStates`] for the engine's own time. Time of a window
/// that no row has is unknown.
#[derive(Debug, Default, Clone)]
pub struct CpuUse {
    /// CPU.
    pub cpu: Vec<u16>,
    /// Start of the window, ns.
    pub start_ns: Vec<u64>,
    /// Length of the window, ns.
    pub duration_ns: Vec<u64>,
    /// The task.
    pub task: Vec<TaskId>,
    /// Its time on the CPU in the window, ns.
    pub busy_ns: Vec<u64>,
}

rows!(CpuUse, start_ns);

/// Columns, one row per turn: a task on a CPU while a thread of the engine was preempted or woken
/// there. By CPU, then start; the turns of a CPU do not overlap.
#[derive(Debug, Default, Clone)]
pub struct Turns {
    /// CPU.
    pub cpu: Vec<u16>,
    /// Start, ns.
    pub start_ns: Vec<u64>,
    /// Length, ns.
    pub duration_ns: Vec<u64>,
    /// The task on the CPU.
    pub task: Vec<TaskId>,
}

rows!(Turns, start_ns);

/// What kind of interrupt ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterruptKind {
    /// A device's handler.
    Hard,
    /// A soft interrupt, by the kernel's name for it: `TIMER`, `NET_RX`.
    Soft,
}

/// Columns, one row per interrupt that ran on a CPU while a thread of the engine was on it. By CPU,
/// then start. A hard one may be inside a soft one.
#[derive(Debug, Default, Clone)]
pub struct Interrupts {
    /// CPU.
    pub cpu: Vec<u16>,
    /// Start, ns.
    pub start_ns: Vec<u64>,
    /// Length, ns.
    pub duration_ns: Vec<u64>,
    /// Kind.
    pub kind: Vec<InterruptKind>,
    /// Name of the handler or of the soft interrupt.
    pub name: Vec<Text>,
}

rows!(Interrupts, start_ns);

/// The scheduler level of a session. Empty tables mean nothing unless `recorded`.
#[derive(Debug, Default, Clone)]
pub struct Sched {
    /// The level was recorded.
    pub recorded: bool,
    /// Interrupts were recorded too.
    pub interrupts_recorded: bool,
    /// States of the engine's threads.
    pub states: ThreadStates,
    /// Tasks on the CPUs that they wanted.
    pub turns: Turns,
    /// Interrupts on the CPUs that they had.
    pub interrupts: Interrupts,
    /// The use of the CPUs was recorded. If not, which tasks had them is unknown.
    pub cpu_use_recorded: bool,
    /// Which tasks had the CPUs.
    pub cpu_use: CpuUse,
    /// Times in which windows of `cpu_use` may have ended that were lost, start and end in ns. In
    /// order; they do not overlap.
    pub cpu_use_gaps: Vec<(u64, u64)>,
    /// The tasks of `turns` and `cpu_use`.
    pub tasks: Vec<Task>,
}
