//! The timeline inside the report: the excerpt's slices as short arrays.
//!
//! Stage: view. From: tracks, the excerpt. To: one JSON object, of which docs/output-schema.md tells.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::SCHEMA;
use crate::analyses::Analysis;
use crate::analyses::excerpt::Excerpt;
use crate::analyses::phase::Phase;
use crate::analyses::track::{Slice, Track, TrackKind};
use crate::model::{Layer, Model, NodeIdx, SpanId, Text, TopologyId};

#[derive(Serialize)]
struct Timeline<'a> {
    schema: u32,
    start_ns: u64,
    end_ns: u64,
    calls: usize,
    calls_total: usize,
    spans: usize,
    spans_total: usize,
    complete: bool,
    texts: Vec<&'a str>,
    nodes: Vec<Node>,
    tracks: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    kind: TrackKind,
    process: u32,
    track: &'a str,
    slices: Vec<i64>,
}

/// Name, operator, description, type, last tensor computed too, dimensions; all but the last are texts.
#[derive(Serialize)]
struct Node(usize, usize, usize, usize, Option<usize>, [u64; 4]);

/// Texts and nodes that slices refer to, in order of first use.
struct Tables<'a> {
    model: &'a Model,
    texts: Vec<&'a str>,
    text_ids: BTreeMap<Text, usize>,
    nodes: Vec<Node>,
    node_ids: BTreeMap<(TopologyId, NodeIdx, NodeIdx), usize>,
}

/// Writes the timeline of the excerpt.
///
/// # Errors
/// Those of `out`.
pub(super) fn report_timeline(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let excerpt = Excerpt::of(model, analysis);
    let mut tables = Tables {
        model,
        texts: Vec::new(),
        text_ids: BTreeMap::new(),
        nodes: Vec::new(),
        node_ids: BTreeMap::new(),
    };
    let tracks = analysis
        .track
        .iter()
        .zip(&excerpt.slices)
        .filter(|(_, range)| !range.is_empty())
        .map(|(track, range)| {
            row(&mut tables, analysis, track, &track.order[range.clone()], excerpt.start_ns)
        })
        .collect();
    let timeline = Timeline {
        schema: SCHEMA,
        start_ns: excerpt.start_ns.saturating_sub(model.session.start_ns),
        end_ns: excerpt.end_ns.saturating_sub(model.session.start_ns),
        calls: excerpt.calls,
        calls_total: model.decodes.len(),
        spans: excerpt.spans,
        spans_total: model.spans.len(),
        complete: excerpt.whole_calls,
        texts: tables.texts,
        nodes: tables.nodes,
        tracks,
    };
    serde_json::to_writer(&mut *out, &timeline)?;
    out.write_all(b"\n")
}

fn row<'a>(
    tables: &mut Tables<'a>,
    analysis: &Analysis,
    track: &'a Track,
    slices: &[Slice],
    origin: u64,
) -> Row<'a> {
    let model = tables.model;
    let mut numbers = Vec::with_capacity(slices.len() * 4);
    for slice in slices {
        let (start, end) = slice.bounds(model);
        let (a, b) = match *slice {
            Slice::Decode(d) => {
                let tokens = model.decodes.n_tokens[d.0 as usize];
                (phase_code(analysis.phases.decodes[d.0 as usize]), i64::from(tokens))
            }
            Slice::Graph(g) => {
                let i = g.0 as usize;
                // The scheduler's graphs have no backend, so the text tells the layer too.
                let backend = match model.graph_calls.layer[i] {
                    Layer::Scheduler => -1,
                    Layer::Backend => number(tables.text(model.graph_calls.backend[i])),
                };
                (i64::from(model.graph_calls.n_nodes[i]), backend)
            }
            Slice::Work(s) => (tables.node(s), i64::from(model.spans.cpu[s.0 as usize])),
            Slice::Barrier(s) => (-1, i64::from(model.spans.cpu[s.0 as usize])),
        };
        numbers.extend([number(start - origin), number(end - start), a, b]);
    }
    Row { kind: track.kind, process: track.process, track: &track.track, slices: numbers }
}

const fn phase_code(phase: Phase) -> i64 {
    match phase {
        Phase::Unknown => 0,
        Phase::Prefill => 1,
        Phase::Decode => 2,
        Phase::BatchDecode => 3,
        Phase::Draft => 4,
        Phase::WarmUp => 5,
    }
}

fn number<N: TryInto<i64>>(n: N) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

impl<'a> Tables<'a> {
    fn text(&mut self, text: Text) -> usize {
        *self.text_ids.entry(text).or_insert_with(|| {
            self.texts.push(self.model.texts.get(text));
            self.texts.len() - 1
        })
    }

    /// Row of a span's node; -1 when its graph call has no topology, which the model rules out.
    fn node(&mut self, SpanId(span): SpanId) -> i64 {
        let model: &'a Model = self.model;
        let spans = &model.spans;
        let i = span as usize;
        let Some(topology) = model.graph_calls.topology[spans.graph_call[i].0 as usize] else { return -1 };
        let key = (topology, spans.node[i], spans.last_node[i]);
        if let Some(id) = self.node_ids.get(&key) {
            return number(*id);
        }
        let topology = model.topologies.get(topology);
        let node = topology.node(spans.node[i]);
        let last = (spans.last_node[i] != spans.node[i]).then(|| topology.node(spans.last_node[i]).name);
        let row = Node(
            self.text(node.name),
            self.text(node.op),
            self.text(node.desc),
            self.text(node.dtype),
            last.map(|name| self.text(name)),
            node.ne,
        );
        self.nodes.push(row);
        let id = self.nodes.len() - 1;
        self.node_ids.insert(key, id);
        number(id)
    }
}
