//! Conditions: configuration of the system and of the engine's processes while the session ran.
//!
//! Stage: analysis. From: facts, and the `llama_decode` calls for what happened in decode. To:
//! [`Conditions`]. Promises: a value that was not read is absent with the agent's reason, never 0.
//! The rise of a counter is the difference of readings, never an extrapolation.

mod decode;
pub(crate) mod list;
pub mod process;
pub mod reading;
pub mod system;
mod table;

use crate::shared::phase::Phases;
use process::{Process, Thread};
use profinfer_trace::model::{FactScope, FactValue, Model};
use system::{Cpu, System};
use table::Table;

/// Time between two readings of a fact, ns: the agent reads once a second.
pub(crate) const READING_NS: u64 = 1_000_000_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    pub system: System,
    /// By number.
    pub cpus: Vec<Cpu>,
    /// Traced processes, by id.
    pub processes: Vec<Process>,
    /// Threads that computed, by id; the first 64.
    pub threads: Vec<Thread>,
    pub absent: Vec<Absent>,
}

/// A fact that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// Set for a fact of a process.
    pub pid: Option<u32>,
    /// Set for a fact of a thread.
    pub tid: Option<u32>,
    /// Set for a fact of a CPU.
    pub cpu: Option<u16>,
    /// Name of the fact.
    pub name: String,
    /// Reason reported by the agent.
    pub why: String,
}

impl Conditions {
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases) -> Self {
        let table = Table::new(model, phases);
        let mut conditions = Self { system: System::new(&table), ..Self::default() };
        for scope in table.scopes() {
            match scope {
                FactScope::System => {}
                FactScope::Cpu(cpu) => conditions.cpus.push(Cpu::new(&table, cpu)),
                FactScope::Process(pid) => conditions.processes.push(Process::new(&table, pid)),
                FactScope::Thread(tid) => conditions.threads.push(Thread::compute(&table, model, tid)),
            }
        }
        conditions.absent = absent(model, &table);
        conditions
    }

    #[must_use]
    pub fn process(&self, pid: u32) -> Option<&Process> {
        self.processes.iter().find(|p| p.pid == pid)
    }

    #[must_use]
    pub fn cpu(&self, cpu: u16) -> Option<&Cpu> {
        self.cpus.iter().find(|c| c.cpu == cpu)
    }

    /// The CPUs on which an engine may run, as far as known: those of all threads, because each
    /// thread may be bound to a different CPU.
    #[must_use]
    pub fn cpus_of(&self, model: &Model, pid: u32) -> Option<Vec<u16>> {
        let process = self.process(pid)?;
        let own = |tid: u32| model.threads.iter().any(|(_, t)| (t.tid, t.pid) == (tid, pid));
        let threads = self.threads.iter().filter(|t| own(t.tid));
        let mut cpus = process.affinity.value()?.clone();
        cpus.extend(threads.filter_map(|t| t.affinity.value()).flatten());
        cpus.sort_unstable();
        cpus.dedup();
        if let Some(set) = process.cgroup.cpuset.value().filter(|set| !set.is_empty()) {
            cpus.retain(|cpu| set.contains(cpu));
        }
        self.keep_online(&mut cpus);
        Some(cpus)
    }

    /// The same with the CPUs that the engine could use earlier: it, or somebody else, bound it to
    /// fewer of them later. Where its own environment binds its threads, those of its control group.
    #[must_use]
    pub fn cpus_ever_of(&self, model: &Model, pid: u32) -> Option<Vec<u16>> {
        let mut cpus = self.cpus_of(model, pid)?;
        let process = self.process(pid)?;
        cpus.extend(process.affinity_ever.iter());
        if process.bound_by_variable().is_some_and(|bound| cpus.iter().all(|cpu| bound.contains(cpu))) {
            let group = process.cgroup.cpuset.value().filter(|set| !set.is_empty());
            cpus = group.cloned().unwrap_or_else(|| self.cpus.iter().map(|c| c.cpu).collect());
        }
        cpus.sort_unstable();
        cpus.dedup();
        self.keep_online(&mut cpus);
        Some(cpus)
    }

    /// An affinity mask may name CPUs that do not exist.
    fn keep_online(&self, cpus: &mut Vec<u16>) {
        let online = |cpu: &u16| self.cpu(*cpu).is_some_and(|c| c.online.value().copied().unwrap_or(true));
        if cpus.iter().any(online) {
            cpus.retain(online);
        }
    }

    #[must_use]
    pub fn thread(&self, tid: u32) -> Option<&Thread> {
        self.threads.iter().find(|t| t.tid == tid)
    }
}

fn absent(model: &Model, table: &Table<'_>) -> Vec<Absent> {
    let of = |(scope, name, value): (FactScope, &str, FactValue)| {
        let FactValue::Absent(why) = value else { return None };
        let (mut pid, mut tid, mut cpu) = (None, None, None);
        match scope {
            FactScope::System => {}
            FactScope::Process(id) => pid = Some(id),
            FactScope::Thread(id) => tid = Some(id),
            FactScope::Cpu(id) => cpu = Some(id),
        }
        Some(Absent { pid, tid, cpu, name: name.to_owned(), why: model.texts.get(why).to_owned() })
    };
    table.latest().filter_map(|(scope, name, fact)| of((scope, name, fact.value))).collect()
}
