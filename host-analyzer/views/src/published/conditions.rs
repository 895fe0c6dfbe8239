//! `conditions`: settings of the system.

use super::Publish;
use profinfer_analysis::fact;

fields! {
    fact::Conditions => Conditions { system, cpus, processes, threads, absent }
    fact::Absent => AbsentFact { pid, tid, cpu, name, why }
    fact::system::System => SystemFacts {
        kernel_options, preemption, private_stacks, page_size_bytes, numa_nodes, hugepages_policy,
        hypervisor, load_average_milli, memory_total_bytes, memory_available_bytes, swap_total_bytes,
        swap_free_bytes, ddr_frequency_hz, ddr_frequency_max_hz, ddr_governor, cpu_features, sched_missed,
        batch_hits,
    }
    fact::system::Cpu => CpuFacts {
        cpu, online, core, capacity, governor, frequency_max_hz, frequency_min_hz,
        frequency_limit_hz, steal_ns,
    }
    fact::reading::Course => Seen { first, last, min, max }
    fact::reading::Rise => Rise { decode, decode_ns } + { whole => total, whole_ns => total_ns }
}
