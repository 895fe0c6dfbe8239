//! Conditions of the decoding process, and of the system.

use super::Case;
use crate::findings::evidence::{Evidence, Place, Value};
use crate::results::fact::process::Process;

impl<'a> Case<'a> {
    /// The decoding process.
    pub(in crate::findings) fn process(&self) -> Option<&'a Process> {
        self.analysis.conditions.process(self.pid)
    }

    /// The CPUs on which the engine may run, as far as known.
    pub(in crate::findings) fn cpus(&self) -> Option<Vec<u16>> {
        self.analysis.conditions.cpus_of(self.model, self.pid)
    }

    /// The file of which the process read most, and how much of it; none if that was not recorded.
    pub(in crate::findings) fn most_read(&self) -> Vec<Evidence> {
        let most = self.process().and_then(|p| p.file_reads.first()).filter(|f| f.bytes.whole > 0);
        most.map_or_else(Vec::new, |most| {
            vec![
                Evidence::new("file", Value::Name(most.file.clone()), Place::Conditions),
                Evidence::new("read_of_it", Value::Bytes(most.bytes.whole), Place::Conditions),
            ]
        })
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
