//! The system and its CPUs.

use super::reading::{Course, Reading, Rise};
use super::table::Table;
use profinfer_trace::model::FactScope;

/// The whole system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct System {
    /// Options of the kernel's command line that matter here, for example `numa=fake=8`.
    pub kernel_options: Reading<Vec<String>>,
    /// Where the kernel lets a task be preempted: `none`, `voluntary`, `lazy`, `full` or `rt`.
    pub preemption: Reading<String>,
    /// The kernel gives functions of BPF programs stacks per CPU, where they use more than 48 bytes.
    pub private_stacks: Reading<bool>,
    /// Size of a page, bytes.
    pub page_size_bytes: Reading<u64>,
    /// NUMA nodes.
    pub numa_nodes: Reading<u64>,
    /// Policy for transparent huge pages: `always`, `madvise` or `never`.
    pub hugepages_policy: Reading<String>,
    /// Who virtualises this machine, as far as the kernel tells.
    pub hypervisor: Reading<String>,
    /// Memory that the kernel has, bytes.
    pub memory_total_bytes: Reading<u64>,
    /// Memory that programs could get without swapping, bytes.
    pub memory_available_bytes: Reading<Course>,
    /// Swap space, bytes.
    pub swap_total_bytes: Reading<u64>,
    /// Free swap space, bytes.
    pub swap_free_bytes: Reading<Course>,
    /// Clock of the memory's controller, Hz.
    pub ddr_frequency_hz: Reading<Course>,
    /// Its highest clock as it is set, Hz.
    pub ddr_frequency_max_hz: Reading<u64>,
    /// Who chooses it.
    pub ddr_governor: Reading<String>,
    /// Instructions of the CPUs by which builds of GGML differ, as the kernel calls them.
    pub cpu_features: Reading<Vec<String>>,
    /// How often the kernel did not run one of the agent's programs of the scheduler level, because another program or a map was in use
    /// on that CPU: what it would have told is not known.
    pub sched_missed: Reading<u64>,
}

impl System {
    pub(super) fn new(table: &Table<'_>) -> Self {
        let scope = FactScope::System;
        Self {
            kernel_options: table.words(scope, "kernel.cmdline"),
            preemption: table.text(scope, "kernel.preemption"),
            private_stacks: table.number(scope, "kernel.private_stacks").map(|n| n != 0),
            page_size_bytes: table.number(scope, "page.size"),
            numa_nodes: table.number(scope, "numa.nodes"),
            hugepages_policy: table.text(scope, "hugepages.policy"),
            hypervisor: table.text(scope, "hypervisor"),
            memory_total_bytes: table.number(scope, "memory.total"),
            memory_available_bytes: table.course(scope, "memory.available"),
            swap_total_bytes: table.number(scope, "swap.total"),
            swap_free_bytes: table.course(scope, "swap.free"),
            ddr_frequency_hz: table.course(scope, "ddr.frequency"),
            ddr_frequency_max_hz: table.number(scope, "ddr.frequency.max"),
            ddr_governor: table.text(scope, "ddr.governor"),
            cpu_features: table.words(scope, "cpu.features"),
            sched_missed: table.number(scope, "agent.sched_missed"),
        }
    }
}

/// One CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Its number.
    pub cpu: u16,
    /// Whether it was online at last.
    pub online: Reading<bool>,
    /// Core type: the main ID register in hex on Arm (`0x414fd0b1`), the model's name elsewhere.
    pub core: Reading<String>,
    /// How fast it is, 1024 for the fastest, as the scheduler reckons.
    pub capacity: Reading<u64>,
    /// Who chooses its clock.
    pub governor: Reading<String>,
    /// Highest clock of the hardware, Hz.
    pub frequency_max_hz: Reading<u64>,
    /// Lowest clock that the governor may choose, Hz.
    pub frequency_min_hz: Reading<u64>,
    /// Highest clock that the governor may choose, Hz. Thermal limits change it on some systems.
    pub frequency_limit_hz: Reading<Course>,
    /// Time for which a hypervisor ran something else while this CPU wanted to run, ns; in steps of 10 ms on most systems.
    pub steal_ns: Reading<Rise>,
}

impl Cpu {
    pub(super) fn new(table: &Table<'_>, cpu: u16) -> Self {
        let scope = FactScope::Cpu(cpu);
        Self {
            cpu,
            online: table.number(scope, "cpu.online").map(|n| n != 0),
            core: table.text(scope, "cpu.core"),
            capacity: table.number(scope, "cpu.capacity"),
            governor: table.text(scope, "cpu.governor"),
            frequency_max_hz: table.number(scope, "cpu.frequency.max"),
            frequency_min_hz: table.number(scope, "cpu.frequency.min"),
            frequency_limit_hz: table.course(scope, "cpu.frequency.limit"),
            steal_ns: table.rise(scope, "cpu.steal_ns"),
        }
    }

    /// The lowest limit in the session was below what the hardware can do.
    #[must_use]
    pub fn limited(&self) -> Option<bool> {
        Some(self.frequency_limit_hz.value()?.min < *self.frequency_max_hz.value()?)
    }
}
