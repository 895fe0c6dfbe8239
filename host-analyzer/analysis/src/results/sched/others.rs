//! CPU time of other programs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::holders::CpuHolders;

/// CPU time of all programs except the engine and the agent, on all CPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OtherPrograms {
    /// Sum, ns. With the tasks that are not listed by name.
    pub busy_ns: u64,
    /// Longest time first; at most `MAX_PROGRAMS`.
    pub programs: Vec<ProgramTime>,
}

/// CPU time of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramTime {
    pub program: String,
    pub busy_ns: u64,
}

/// Most programs that are listed.
const MAX_PROGRAMS: usize = 10;

pub(super) fn others(cpus: &[CpuHolders]) -> OtherPrograms {
    let mut programs: BTreeMap<&str, u64> = BTreeMap::new();
    let mut all = cpus.iter().map(|cpu| cpu.rest_ns).fold(0, u64::saturating_add);
    let holders = cpus.iter().flat_map(|cpu| &cpu.holders);
    for task in holders.filter(|task| !task.engine && task.agent != Some(true)) {
        let sum = programs.entry(task.program()).or_default();
        *sum = sum.saturating_add(task.busy_ns);
        all = all.saturating_add(task.busy_ns);
    }
    let named = |(program, busy_ns): (&str, u64)| ProgramTime { program: program.to_owned(), busy_ns };
    let mut programs: Vec<ProgramTime> = programs.into_iter().map(named).collect();
    programs.sort_by_key(|p| Reverse(p.busy_ns));
    programs.truncate(MAX_PROGRAMS);
    OtherPrograms { busy_ns: all, programs }
}

#[cfg(test)]
mod tests {
    use super::super::holders::Holder;
    use super::*;

    fn task(command: &str, busy_ns: u64, engine: bool, agent: Option<bool>) -> Holder {
        Holder {
            tid: 8,
            pid: 8,
            name: "x".into(),
            command: command.into(),
            cgroup: String::new(),
            engine,
            agent,
            busy_ns,
            prefill_ns: 0,
            decode_ns: 0,
        }
    }

    #[test]
    fn engine_and_agent_are_no_other_programs() {
        let first = vec![
            task("/bin/llama", 100, true, Some(false)),
            task("/bin/agent", 50, false, Some(true)),
            task("/bin/cc", 5, false, Some(false)),
        ];
        let second = vec![task("/usr/bin/cc", 6, false, None), task("/bin/make", 7, false, None)];
        let cpu = |cpu, holders, rest_ns| CpuHolders { cpu, holders, rest_tasks: 1, rest_ns };
        let found = others(&[cpu(0, first, 2), cpu(1, second, 3)]);
        let programs: Vec<_> = found.programs.iter().map(|p| (p.program.as_str(), p.busy_ns)).collect();
        assert_eq!((found.busy_ns, programs), (23, vec![("cc", 11), ("make", 7)]));
    }
}
