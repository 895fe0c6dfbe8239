//! The timeline inside the report: the excerpt's slices as short arrays.
//!
//! Stage: view. From: tracks, the excerpt, stretches of threads. To: one JSON object (views/page/src/data/timeline.ts).

mod probes;
mod state;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use self::state::{State, States, Task};
use super::SCHEMA;
use profinfer_analysis::Analysis;
use profinfer_analysis::excerpt::Excerpt;
use profinfer_analysis::phase::Phase;
use profinfer_analysis::sched::shown::{MAX_SHOWN, Shown};
use profinfer_analysis::track::{Slice, Track, TrackKind};
use profinfer_trace::model::{Layer, Model, NodeIdx, SpanId, Text, ThreadId, TopologyId};

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
    scheduler: Scheduler,
    tasks: Vec<Task<'a>>,
    states: Vec<State>,
    labels: Vec<String>,
    tracks: Vec<Row>,
}

/// How much the tracks of states tell.
#[derive(Serialize)]
struct Scheduler {
    recorded: bool,
    left_out: usize,
    left_out_longest_ns: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Token,
    Graph,
    Thread,
    State,
    Probes,
}

#[derive(Serialize)]
struct Row {
    kind: Kind,
    process: u32,
    track: String,
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
    let excerpt = Excerpt::compute(model, analysis);
    let mut tables = Tables {
        model,
        texts: Vec::new(),
        text_ids: BTreeMap::new(),
        nodes: Vec::new(),
        node_ids: BTreeMap::new(),
    };
    let with_slices: Vec<_> =
        analysis.track.iter().zip(&excerpt.slices).filter(|(_, range)| !range.is_empty()).collect();
    let threads =
        if model.sched.recorded { threads(with_slices.iter().map(|(t, _)| *t)) } else { Vec::new() };
    let shown = Shown::compute(model, &threads, excerpt.start_ns, excerpt.end_ns, MAX_SHOWN);
    let mut states = States::new(model);
    let mut tracks = Vec::new();
    for (n, (track, range)) in with_slices.iter().enumerate() {
        let slices = track.order.range((*range).clone());
        tracks.push(row(&mut tables, analysis, track, slices, excerpt.start_ns));
        // What a thread did stands below all that it computed.
        if !with_slices[n + 1..].iter().any(|(later, _)| later.thread == track.thread)
            && let Some(at) = threads.iter().position(|t| *t == track.thread)
        {
            tracks.push(states.row(track, &shown.threads[at], excerpt.start_ns));
        }
    }
    let mut labels = Vec::new();
    tracks.extend(probes::rows(model, analysis, (excerpt.start_ns, excerpt.end_ns), &mut labels));
    let timeline = Timeline {
        schema: SCHEMA,
        start_ns: excerpt.start_ns.saturating_sub(model.session.start_ns),
        end_ns: excerpt.end_ns.saturating_sub(model.session.start_ns),
        calls: excerpt.calls,
        calls_total: model.llama_calls.len(),
        spans: excerpt.spans,
        spans_total: model.spans.len(),
        complete: excerpt.whole_calls,
        texts: tables.texts,
        nodes: tables.nodes,
        scheduler: Scheduler {
            recorded: model.sched.recorded,
            left_out: shown.left_out,
            left_out_longest_ns: shown.left_out_longest_ns,
        },
        tasks: states.tasks,
        states: states.rows,
        labels,
        tracks,
    };
    serde_json::to_writer(&mut *out, &timeline)?;
    out.write_all(b"\n")
}

/// The threads of some tracks, in order of first appearance.
fn threads<'a>(tracks: impl Iterator<Item = &'a Track>) -> Vec<ThreadId> {
    let mut threads = Vec::new();
    for track in tracks {
        if !threads.contains(&track.thread) {
            threads.push(track.thread);
        }
    }
    threads
}

fn row(
    tables: &mut Tables<'_>,
    analysis: &Analysis,
    track: &Track,
    slices: impl ExactSizeIterator<Item = Slice>,
    origin: u64,
) -> Row {
    let model = tables.model;
    let mut numbers = Vec::with_capacity(slices.len() * 4);
    for slice in slices {
        let (start, end) = slice.bounds(model);
        let (a, b) = match slice {
            Slice::Decode(d) => {
                let tokens = model.llama_calls.n_tokens[d.0 as usize];
                (phase_code(analysis.phases.llama_calls[d.0 as usize]), i64::from(tokens))
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
            Slice::Work(s) => (tables.node(s), cpu(model, s)),
            Slice::Barrier(s) => (-1, cpu(model, s)),
        };
        numbers.extend([number(start - origin), number(end - start), a, b]);
    }
    let kind = match track.kind {
        TrackKind::Token => Kind::Token,
        TrackKind::Graph => Kind::Graph,
        TrackKind::Thread => Kind::Thread,
    };
    Row { kind, process: track.process, track: track.track.clone(), slices: numbers }
}

/// -1 where it is not known.
fn cpu(model: &Model, span: SpanId) -> i64 {
    model.spans.cpu[span.0 as usize].map_or(-1, i64::from)
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
