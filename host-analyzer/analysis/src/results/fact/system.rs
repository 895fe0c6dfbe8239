//! The system and its CPUs.

use super::reading::{Course, Reading, Rise};
use super::table::Table;
use profinfer_trace::model::FactScope;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct System {
    /// Options of the kernel's command line that matter here, for example `numa=fake=8`.
    pub kernel_options: Reading<Vec<String>>,
    /// Preemption model: `none`, `voluntary`, `lazy`, `full` or `rt`.
    pub preemption: Reading<String>,
    /// The kernel gives functions of BPF programs per-CPU stacks where they use more than 48 bytes.
    pub private_stacks: Reading<bool>,
    pub page_size_bytes: Reading<u64>,
    pub numa_nodes: Reading<u64>,
    /// Policy for transparent huge pages: `always`, `madvise` or `never`.
    pub hugepages_policy: Reading<String>,
    /// Hypervisor, as far as the kernel reports one.
    pub hypervisor: Reading<String>,
    /// Load average of the minute before the session, thousandths.
    pub load_average_milli: Reading<u64>,
    /// Memory that the kernel has, bytes.
    pub memory_total_bytes: Reading<u64>,
    /// Memory that programs could get without swapping, bytes.
    pub memory_available_bytes: Reading<Course>,
    /// Swap space, bytes.
    pub swap_total_bytes: Reading<u64>,
    /// Free swap space, bytes.
    pub swap_free_bytes: Reading<Course>,
    /// Clock of the memory controller, Hz.
    pub ddr_frequency_hz: Reading<Course>,
    /// Highest configured clock of the memory controller, Hz.
    pub ddr_frequency_max_hz: Reading<u64>,
    /// Governor of the memory controller's clock.
    pub ddr_governor: Reading<String>,
    /// CPU features by which builds of GGML differ, in the kernel's names.
    pub cpu_features: Reading<Vec<String>>,
    /// How often the kernel skipped one of the agent's scheduler programs, because another program
    /// or a map was in use on that CPU. Their events are missing.
    pub sched_missed: Reading<u64>,
    /// Hits of the agent's probes on functions that fill a batch, take an output or edit the memory.
    pub batch_hits: Reading<u64>,
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
            load_average_milli: table.number(scope, "load.average"),
            memory_total_bytes: table.number(scope, "memory.total"),
            memory_available_bytes: table.course(scope, "memory.available"),
            swap_total_bytes: table.number(scope, "swap.total"),
            swap_free_bytes: table.course(scope, "swap.free"),
            ddr_frequency_hz: table.course(scope, "ddr.frequency"),
            ddr_frequency_max_hz: table.number(scope, "ddr.frequency.max"),
            ddr_governor: table.text(scope, "ddr.governor"),
            cpu_features: table.words(scope, "cpu.features"),
            sched_missed: table.number(scope, "agent.sched_missed"),
            batch_hits: table.number(scope, "agent.batch_hits"),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpu {
    pub cpu: u16,
    /// Whether it was online at the end.
    pub online: Reading<bool>,
    /// Core type: the main ID register in hex on Arm (`0x414fd0b1`), the model's name elsewhere.
    pub core: Reading<String>,
    /// Relative speed, 1024 for the fastest, by the kernel's scheduler.
    pub capacity: Reading<u64>,
    /// Governor of its clock.
    pub governor: Reading<String>,
    /// Highest clock of the hardware, Hz.
    pub frequency_max_hz: Reading<u64>,
    /// Lowest clock that the governor may choose, Hz.
    pub frequency_min_hz: Reading<u64>,
    /// Highest clock that the governor may choose, Hz. Thermal limits change it on some systems.
    pub frequency_limit_hz: Reading<Course>,
    /// Time for which a hypervisor ran something else while this CPU wanted to run, ns; in steps of
    /// 10 ms on most systems.
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

    /// The lowest limit in the session was below the clock that the hardware supports.
    #[must_use]
    pub fn limited(&self) -> Option<bool> {
        Some(self.frequency_limit_hz.value()?.min < *self.frequency_max_hz.value()?)
    }
}
