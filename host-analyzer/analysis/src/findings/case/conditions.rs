//! Conditions of the decoding process, and of the system.

use std::collections::BTreeSet;

use super::Case;
use crate::findings::evidence::{Evidence, Place, Value};
use crate::results::fact::process::Process;
use profinfer_trace::model::{FactScope, FactValue, Role};

impl<'a> Case<'a> {
    /// The decoding process.
    pub(in crate::findings) fn process(&self) -> Option<&'a Process> {
        self.analysis.conditions.process(self.pid)
    }

    /// When its control group was first seen frozen, ns after the start of the session.
    pub(in crate::findings) fn first_frozen_ns(&self) -> Option<u64> {
        let name = self.model.texts.find("cgroup.frozen")?;
        let mut facts = self.model.facts.of(FactScope::Process(self.pid), name);
        let first = facts.find(|fact| fact.value == FactValue::Number(1))?;
        Some(first.at_ns.saturating_sub(self.model.session.start_ns))
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

    /// Mean bits per weight, over the weights of products and other operators that read all of them; not over
    /// tables of which a graph looks up rows. `None` if their types are unknown.
    pub(in crate::findings) fn bits_per_weight(&self) -> Option<f64> {
        let texts = &self.model.texts;
        let (mut names, mut bytes, mut elements) = (BTreeSet::new(), 0_f64, 0_f64);
        for topology in self.model.topologies.rows.iter().filter(|t| t.pid == self.pid) {
            let computed = topology.nodes[..topology.n_nodes as usize].iter();
            let reads = computed.filter(|n| texts.get(n.op) != "GET_ROWS").flat_map(|n| &n.src);
            for weight in reads.map(|(_, source)| topology.node(*source)) {
                if weight.role == Role::Weight && weight.bytes > 0 && names.insert(weight.name) {
                    bytes += weight.bytes as f64;
                    elements += weight.ne.iter().map(|n| *n as f64).product::<f64>();
                }
            }
        }
        (elements > 0.0).then(|| bytes * 8.0 / elements)
    }
}
