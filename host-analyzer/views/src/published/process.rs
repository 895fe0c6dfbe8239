//! `conditions.processes` and `conditions.threads`.

use super::Publish;
use profinfer_analysis::fact;

fields! {
    fact::process::Process => ProcessFacts {
        pid, program, environment, variables, affinity, cgroup, rss_anonymous_bytes, rss_file_bytes,
        rss_shared_bytes, huge_anonymous_bytes, huge_file_bytes, major_faults, minor_faults,
        storage_read_bytes, file_reads, swapped_bytes, threads, nice, ended,
    } - { affinity_ever }
    fact::reading::FileRead => FileRead { file, bytes }
    fact::process::Variable => Variable { name, value }
    fact::process::Cgroup => Cgroup {
        path, version, quota, uclamp_max, periods, throttled_periods, throttled_ns, cpuset, memory_limit_bytes,
        memory_high_bytes, memory_high_events, memory_stalled_ns,
    }
    fact::process::Quota => Quota { quota_us, period_us, milli_cpus, level }
    fact::process::Thread => ThreadFacts { tid, affinity, policy, run_ns, run_delay_ns }
}
