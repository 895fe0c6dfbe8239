//! The tracepoints of the scheduler level.

/// Each tracepoint has its own program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracepoint {
    Switch,
    Waking,
    Wakeup,
    WakeupNew,
    Migrate,
    Irq,
    IrqExit,
    Softirq,
    SoftirqExit,
    PageAdd,
}

impl Tracepoint {
    /// All tracepoints, required ones first.
    pub const ALL: [Self; 10] = [
        Self::Switch,
        Self::Waking,
        Self::Wakeup,
        Self::WakeupNew,
        Self::Migrate,
        Self::Irq,
        Self::IrqExit,
        Self::Softirq,
        Self::SoftirqExit,
        Self::PageAdd,
    ];

    /// Name in the kernel, with its group.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Switch => "sched:sched_switch",
            Self::Waking => "sched:sched_waking",
            Self::Wakeup => "sched:sched_wakeup",
            Self::WakeupNew => "sched:sched_wakeup_new",
            Self::Migrate => "sched:sched_migrate_task",
            Self::Irq => "irq:irq_handler_entry",
            Self::IrqExit => "irq:irq_handler_exit",
            Self::Softirq => "irq:softirq_entry",
            Self::SoftirqExit => "irq:softirq_exit",
            Self::PageAdd => "filemap:mm_filemap_add_to_page_cache",
        }
    }

    /// Whether the level needs this tracepoint to report anything about threads.
    #[must_use]
    pub const fn needed(self) -> bool {
        matches!(self, Self::Switch | Self::Waking | Self::Wakeup | Self::WakeupNew | Self::Migrate)
    }
}
