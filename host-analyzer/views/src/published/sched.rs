//! `sched`: scheduler states of the engine's threads.

use super::Publish;
use profinfer_analysis::sched;

fields! {
    sched::Sched => Sched {
        recorded, interrupts_recorded, threads, interference, left_out, cpu_use_recorded,
        interrupts,
    } + { cpu_holders => cpu_use }
    sched::ThreadTimes => SchedThread {
        tid, pid, name, runs, preemptions, migrations, prefill, decode,
    } + { whole => total }
    sched::StateTimes => StateTimes {
        running_ns, preempted_ns, woken_ns, sleeping_ns, blocked_ns, stopped_ns, unknown_ns,
    }
    sched::Interference => Interferer {
        tid, pid, name, command, cgroup, engine, idle, turns, time_ns, prefill_ns, decode_ns,
        preempted_ns, woken_ns, cpus, threads,
    } - { agent }
    sched::OnCpu => OnCpu { cpu, turns, time_ns }
    sched::Waiter => Waiter { tid, preempted_ns, woken_ns }
    sched::CpuHolders => CpuUse { cpu, rest_tasks, rest_ns } + { holders => tasks }
    sched::Holder => CpuHolder {
        tid, pid, name, command, cgroup, engine, agent, busy_ns, prefill_ns, decode_ns,
    }
    sched::LeftOut => LeftOut { tasks, time_ns }
    sched::Interrupt => Interrupt { kind, name, count, time_ns, prefill_ns, decode_ns, longest_ns }
}
