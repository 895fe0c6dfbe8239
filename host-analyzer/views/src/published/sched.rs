//! `sched`: scheduler states of the engine's threads.

use super::Publish;
use profinfer_analysis::sched;
use profinfer_schema as schema;

fields! {
    sched::Sched => Sched {
        recorded, interrupts_recorded, threads, interference, left_out, cpu_use_recorded,
        interrupts, other_programs,
    } + { cpu_holders => cpu_use }
    sched::ThreadTimes => SchedThread {
        tid, pid, name, runs, preemptions, migrations, prefill, decode,
    } + { whole => total }
    sched::StateTimes => StateTimes {
        running_ns, preempted_ns, woken_ns, sleeping_ns, blocked_ns, stopped_ns, unknown_ns,
    }
    sched::OnCpu => OnCpu { cpu, turns, time_ns }
    sched::Waiter => Waiter { tid, preempted_ns, woken_ns }
    sched::CpuHolders => CpuUse { cpu, rest_tasks, rest_ns } + { holders => tasks }
    sched::OtherPrograms => OtherPrograms { busy_ns, programs }
    sched::ProgramTime => ProgramTime { program, busy_ns }
    sched::LeftOut => LeftOut { tasks, time_ns }
    sched::Interrupt => Interrupt { kind, name, count, time_ns, prefill_ns, decode_ns, longest_ns }
}

impl Publish for sched::Interference {
    type Form = schema::Interferer;

    fn publish(&self) -> Self::Form {
        let Self {
            tid,
            pid,
            name,
            command,
            cgroup,
            engine,
            agent,
            idle,
            turns,
            time_ns,
            prefill_ns,
            decode_ns,
            preempted_ns,
            woken_ns,
            cpus,
            threads,
        } = self;
        schema::Interferer {
            tid: *tid,
            pid: *pid,
            name: name.publish(),
            program: self.program().publish(),
            command: command.publish(),
            cgroup: cgroup.publish(),
            engine: *engine,
            agent: *agent,
            idle: *idle,
            turns: *turns,
            time_ns: *time_ns,
            prefill_ns: *prefill_ns,
            decode_ns: *decode_ns,
            preempted_ns: *preempted_ns,
            woken_ns: *woken_ns,
            cpus: cpus.publish(),
            threads: threads.publish(),
        }
    }
}

impl Publish for sched::Holder {
    type Form = schema::CpuHolder;

    fn publish(&self) -> Self::Form {
        let Self { tid, pid, name, command, cgroup, engine, agent, busy_ns, prefill_ns, decode_ns } = self;
        schema::CpuHolder {
            tid: *tid,
            pid: *pid,
            name: name.publish(),
            program: self.program().publish(),
            command: command.publish(),
            cgroup: cgroup.publish(),
            engine: *engine,
            agent: *agent,
            busy_ns: *busy_ns,
            prefill_ns: *prefill_ns,
            decode_ns: *decode_ns,
        }
    }
}
