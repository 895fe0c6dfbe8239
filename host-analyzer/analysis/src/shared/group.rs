//! Groups of graph calls that repeat the same work: one phase of one context.
//!
//! Stage: analysis, shared by `op` and `dag`. From: graph calls. To: a [`Group`] for every call
//! whose topology is known. A context that several backends compute, or that has several splits,
//! has one group per split, distinguished by [`Group::split`].

use std::collections::HashMap;

use super::phase::{Phase, Phases};
use profinfer_trace::model::{Backend, GraphCallId, Layer, Model};

/// Position in [`Groups::rows`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    pub phase: Phase,
    pub pid: u32,
    /// Address of the context; 0 for a graph outside of `llama_decode` calls.
    pub context: u64,
    /// Position of the call among the backend calls of one scheduler call, from 0.
    pub split: u32,
    pub backend: Backend,
}

/// Groups, in order of their first call.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// By [`GroupId`].
    pub rows: Vec<Group>,
    /// By row of the graph calls; `None` where the topology is unknown.
    pub of_call: Vec<Option<GroupId>>,
}

impl Groups {
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases) -> Self {
        let calls = &model.graph_calls;
        let mut ids: HashMap<Group, GroupId> = HashMap::new();
        let mut rows = Vec::new();
        let splits = splits(model);
        let of_call = (0..calls.len())
            .map(|i| {
                let topology = calls.topology[i]?;
                let group = Group {
                    phase: phases.graph_calls[i],
                    pid: model.topologies.get(topology).pid,
                    context: calls.decode[i].map_or(0, |d| model.llama_calls.context[d.0 as usize]),
                    split: splits[i],
                    backend: calls.backend[i],
                };
                Some(*ids.entry(group).or_insert_with(|| {
                    rows.push(group);
                    GroupId(u32::try_from(rows.len() - 1).unwrap_or(u32::MAX))
                }))
            })
            .collect();
        Self { rows, of_call }
    }

    #[must_use]
    pub fn get(&self, id: GroupId) -> Group {
        self.rows[id.0 as usize]
    }
}

/// Position of each backend call among those of its scheduler call.
fn splits(model: &Model) -> Vec<u32> {
    let calls = &model.graph_calls;
    let mut seen = vec![0_u32; calls.len()];
    (0..calls.len())
        .map(|i| match (calls.layer[i], calls.parent[i]) {
            (Layer::Backend, Some(GraphCallId(parent))) => {
                let split = seen[parent as usize];
                seen[parent as usize] += 1;
                split
            }
            _ => 0,
        })
        .collect()
}

/// The address of a context in hex, as views show it; `None` for 0.
pub(crate) fn context_name(address: u64) -> Option<String> {
    (address != 0).then(|| format!("{address:#x}"))
}
