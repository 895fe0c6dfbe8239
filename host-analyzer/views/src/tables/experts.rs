//! One row per expert that a router selected for a token.

use std::collections::HashMap;
use std::ops::Range;

use super::column::Part;
use super::{Table, maybe_u32s, texts, u32s};
use profinfer_analysis::Analysis;
use profinfer_analysis::expert::layers_of;
use profinfer_analysis::phase::{Phase, Phases};
use profinfer_trace::model::expert::SKIPPED;
use profinfer_trace::model::{Model, NodeIdx, TopologyId};

pub(super) struct Experts<'a> {
    model: &'a Model,
    phases: &'a Phases,
    phase_names: Vec<&'static str>,
    names: Vec<&'a str>,
    places: HashMap<(TopologyId, NodeIdx), Place>,
}

/// The columns that depend on the node only.
#[derive(Debug, Clone, Copy)]
struct Place {
    layer: Option<u32>,
    pid: u32,
    /// Position in `names`.
    name: u32,
}

const NOWHERE: Place = Place { layer: None, pid: 0, name: 0 };

impl<'a> Experts<'a> {
    pub(super) fn new(model: &'a Model, analysis: &'a Analysis) -> Self {
        let phase_names = Phase::ALL.iter().map(|p| p.name()).collect();
        let mut names = vec![""];
        let mut places = HashMap::new();
        let (e, layers) = (&model.experts, layers_of(model));
        for (call, node) in e.graph_call.iter().zip(&e.node) {
            let Some(id) = model.graph_calls.topology[call.0 as usize] else { continue };
            places.entry((id, *node)).or_insert_with(|| {
                let topology = model.topologies.get(id);
                names.push(model.texts.get(topology.node(*node).name));
                let name = u32::try_from(names.len() - 1).unwrap_or(0);
                Place { layer: layers.get(&(id, *node)).copied(), pid: topology.pid, name }
            });
        }
        Self { model, phases: &analysis.phases, phase_names, names, places }
    }

    /// The nodes of some rows; the rows of one selection are adjacent.
    fn places(&self, rows: Range<usize>) -> Vec<Place> {
        let e = &self.model.experts;
        let mut last = (None, NOWHERE);
        rows.map(|row| {
            let key = (e.graph_call[row], e.node[row]);
            if last.0 != Some(key) {
                let topology = self.model.graph_calls.topology[key.0.0 as usize];
                let place = topology.and_then(|s| self.places.get(&(s, key.1))).copied().unwrap_or(NOWHERE);
                last = (Some(key), place);
            }
            last.1
        })
        .collect()
    }
}

impl Table for Experts<'_> {
    fn len(&self) -> usize {
        self.model.experts.len()
    }

    fn rows(&self, rows: Range<usize>) -> Part {
        let e = &self.model.experts;
        let places = self.places(rows.clone());
        let len = rows.len();
        let rows = || rows.clone();
        let call = |i: usize| e.graph_call[i].0 as usize;
        let phase = |i: usize| self.phases.graph_calls[call(i)].index() as u32;
        Part::new(
            len,
            [
                (
                    "call",
                    maybe_u32s(rows().map(|i| self.model.graph_calls.decode[call(i)].map(|d| d.0))),
                    true,
                ),
                ("graph_call", u32s(rows().map(|i| e.graph_call[i].0)), false),
                ("phase", texts(rows().map(phase), &self.phase_names), false),
                ("pid", u32s(places.iter().map(|p| p.pid)), false),
                ("layer", maybe_u32s(places.iter().map(|p| p.layer)), true),
                ("node", u32s(rows().map(|i| e.node[i].0)), false),
                ("name", texts(places.iter().map(|p| p.name), &self.names), false),
                ("token", u32s(rows().map(|i| e.token[i])), false),
                ("rank", u32s(rows().map(|i| e.rank[i])), false),
                ("expert", maybe_u32s(rows().map(|i| Some(e.expert[i]).filter(|e| *e != SKIPPED))), true),
            ],
        )
    }
}
