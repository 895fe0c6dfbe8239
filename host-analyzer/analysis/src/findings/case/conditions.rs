//! Conditions of the decoding process, and of the system.

use super::Case;
use crate::results::fact::process::Process;

impl<'a> Case<'a> {
    /// The decoding process.
    pub(in crate::findings) fn process(&self) -> Option<&'a Process> {
        self.analysis.conditions.process(self.pid)
    }

    /// The CPUs on which the engine may run, as far as known: those of all threads, because each
    /// thread may be bound to a different CPU.
    pub(in crate::findings) fn cpus(&self) -> Option<Vec<u16>> {
        let process = self.process()?;
        let own = |tid: u32| self.model.threads.iter().any(|(_, t)| (t.tid, t.pid) == (tid, self.pid));
        let threads = self.analysis.conditions.threads.iter().filter(|t| own(t.tid));
        let mut cpus = process.affinity.value()?.clone();
        cpus.extend(threads.filter_map(|t| t.affinity.value()).flatten());
        cpus.sort_unstable();
        cpus.dedup();
        if let Some(set) = process.cgroup.cpuset.value().filter(|set| !set.is_empty()) {
            cpus.retain(|cpu| set.contains(cpu));
        }
        // An affinity mask may name CPUs that do not exist.
        let online = |cpu: &u16| {
            self.analysis.conditions.cpu(*cpu).is_some_and(|c| c.online.value().copied().unwrap_or(true))
        };
        if cpus.iter().any(online) {
            cpus.retain(online);
        }
        Some(cpus)
    }

    /// Mean bits per weight, over the weights that decode graphs read; `None` if their types are
    /// unknown.
    pub(in crate::findings) fn bits_per_weight(&self) -> Option<f64> {
        let weights: u64 = self.analysis.weight.iter().filter(|w| w.pid == self.pid).map(|w| w.bytes).sum();
        let mut names = std::collections::BTreeSet::new();
        let mut elements = 0_f64;
        for topology in self.model.topologies.rows.iter().filter(|t| t.pid == self.pid) {
            for node in topology
                .nodes
                .iter()
                .filter(|n| n.role == profinfer_trace::model::Role::Weight && n.bytes > 0)
            {
                if names.insert(node.name) {
                    elements += node.ne.iter().map(|n| *n as f64).product::<f64>();
                }
            }
        }
        (elements > 0.0 && weights > 0).then(|| weights as f64 * 8.0 / elements)
    }
}
