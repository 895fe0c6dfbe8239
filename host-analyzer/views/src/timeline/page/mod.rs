//! The timeline inside the report: the slices of the excerpt as short arrays.
//!
//! Stage: view. From: the walk over the excerpt. To: one JSON object; docs/output-schema.md
//! describes it.

mod excerpt;
mod nodes;
mod state;

use std::io::{self, Write};

use serde::Serialize;

use self::nodes::{Node, Nodes};
use self::state::{State, States, Task};
use super::item::Item;
use super::label::Value;
use super::probes;
use super::row::{self, Content};
use super::walk::{self, TimelineSink};
use crate::SCHEMA;
use profinfer_analysis::Analysis;
use profinfer_analysis::duty::stretches::What;
use profinfer_analysis::excerpt::Excerpt;
use profinfer_analysis::phase::Phase;
use profinfer_analysis::sched::shown::MAX_SHOWN;
use profinfer_analysis::track::{Slice, TrackKind};
use profinfer_trace::model::{Layer, Model, SpanId};

/// Numbers of a slice.
const STRIDE: usize = 4;

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
    parts: Vec<Part>,
    texts: Vec<&'a str>,
    nodes: Vec<Node>,
    scheduler: Scheduler,
    tasks: Vec<Task<'a>>,
    states: Vec<State>,
    labels: Vec<String>,
    tracks: Vec<Row>,
}

/// A window that has slices; there are none between the windows.
#[derive(Serialize)]
struct Part {
    start_ns: u64,
    end_ns: u64,
    long_token: bool,
}

/// How complete the rows of states are.
#[derive(Serialize)]
struct Scheduler {
    recorded: bool,
    left_out: usize,
    left_out_longest_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
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

/// Writes rows of the page.
struct Page<'a> {
    analysis: &'a Analysis,
    /// Start of the first window.
    origin_ns: u64,
    nodes: Nodes<'a>,
    states: States<'a>,
    /// Texts of probes and steps.
    labels: Vec<String>,
    rows: Vec<Row>,
    /// Position after the last row to which the current window added.
    next: usize,
}

/// Writes the timeline of the excerpt.
///
/// # Errors
/// Those of `out`.
pub(crate) fn page(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let parts = Excerpt::parts(model, analysis);
    let mut page = Page {
        analysis,
        origin_ns: parts.first().map_or(0, |p| p.start_ns),
        nodes: Nodes::new(model),
        states: States::new(model),
        labels: Vec::new(),
        rows: Vec::new(),
        next: 0,
    };
    let mut scheduler = Scheduler { recorded: model.sched.recorded, left_out: 0, left_out_longest_ns: 0 };
    for part in &parts {
        let mut processes = excerpt::tracks(model, analysis, part);
        let shown = excerpt::add_states(model, part, MAX_SHOWN / parts.len(), &mut processes);
        scheduler.left_out += shown.left_out;
        scheduler.left_out_longest_ns = scheduler.left_out_longest_ns.max(shown.left_out_longest_ns);
        processes.extend(excerpt::probes(model, analysis, part));
        page.next = 0;
        walk::by_row(model, &processes, &[], &mut page)?;
    }
    let since = |at: u64| at.saturating_sub(model.session.start_ns);
    let timeline = Timeline {
        schema: SCHEMA,
        start_ns: since(page.origin_ns),
        end_ns: since(parts.last().map_or(0, |p| p.end_ns)),
        calls: parts.iter().map(|p| p.calls).sum(),
        calls_total: model.llama_calls.len(),
        spans: parts.iter().map(|p| p.spans).sum(),
        spans_total: model.spans.len(),
        complete: parts.iter().all(|p| p.whole_calls),
        parts: parts
            .iter()
            .map(|p| Part { start_ns: since(p.start_ns), end_ns: since(p.end_ns), long_token: p.long_token })
            .collect(),
        texts: page.nodes.texts,
        nodes: page.nodes.rows,
        scheduler,
        tasks: page.states.tasks,
        states: page.states.rows,
        labels: page.labels,
        tracks: page.rows,
    };
    serde_json::to_writer(&mut *out, &timeline)?;
    out.write_all(b"\n")
}

impl TimelineSink for Page<'_> {
    type Track = Row;

    fn track(&mut self, row: &row::Row<'_>) -> io::Result<Row> {
        let (kind, slices) = match &row.content {
            Content::Slices(track, range) => {
                let kind = match track.kind {
                    TrackKind::Token => Kind::Token,
                    TrackKind::Graph => Kind::Graph,
                    TrackKind::Thread => Kind::Thread,
                };
                (kind, range.len())
            }
            Content::States(pieces) => (Kind::State, pieces.len()),
            Content::Probes(stretches) => (Kind::Probes, stretches.len()),
        };
        let slices = Vec::with_capacity(slices * STRIDE);
        Ok(Row { kind, process: row.process, track: row.name.clone(), slices })
    }

    /// Four numbers: start, which may be before the window, length, and two by the kind of row.
    fn begin(&mut self, row: &mut Row, item: Item<'_>, _: u64) -> io::Result<()> {
        let model = self.nodes.model;
        let (start, end) = item.bounds(model);
        let (a, b) = match item {
            Item::Slice(Slice::Decode(d)) => {
                let tokens = model.llama_calls.n_tokens[d.0 as usize];
                (phase_code(self.analysis.phases.llama_calls[d.0 as usize]), i64::from(tokens))
            }
            Item::Slice(Slice::Graph(g)) => {
                let i = g.0 as usize;
                // The scheduler's graphs have no backend, so the text also distinguishes the layers.
                let backend = match model.graph_calls.layer[i] {
                    Layer::Scheduler => -1,
                    Layer::Backend => number(self.nodes.text(model.graph_calls.backend[i])),
                };
                (i64::from(model.graph_calls.n_nodes[i]), backend)
            }
            Item::Slice(Slice::Work(s)) => (self.nodes.row(s), cpu(model, s)),
            Item::Slice(Slice::Barrier(s)) => (-1, cpu(model, s)),
            Item::State(piece) => (number(self.states.row(piece.state, piece.task(model))), piece.cpu.into()),
            Item::Probes(stretch) => {
                let code = match stretch.what {
                    What::On(_) => 0,
                    What::PuttingIn(_) | What::TakingOut(_) => 1,
                    What::Step(_) => 2,
                };
                (number(self.text(stretch.what)), code)
            }
        };
        let length = number(end - start);
        let start = number(start).saturating_sub(number(self.origin_ns));
        row.slices.extend([start, length, a, b]);
        Ok(())
    }

    /// Continues the row of an earlier window. What began before the last slice there is in it.
    fn track_ends(&mut self, row: Row) -> io::Result<()> {
        let same = |r: &Row| (r.kind, r.process, &r.track) == (row.kind, row.process, &row.track);
        if let Some(at) = self.rows.iter().skip(self.next).position(same) {
            let at = self.next + at;
            let all = &mut self.rows[at].slices;
            let last = all.chunks(STRIDE).last().map_or(i64::MIN, |slice| slice[0]);
            all.extend(row.slices.chunks(STRIDE).filter(|slice| slice[0] > last).flatten());
            self.next = at + 1;
        } else {
            self.rows.insert(self.next, row);
            self.next += 1;
        }
        Ok(())
    }
}

impl Page<'_> {
    /// The row of a text among the labels.
    fn text(&mut self, what: What) -> usize {
        let label = probes::label(self.analysis, what);
        let why = label.args.iter().map(|(_, value)| match value {
            Value::Text(text) => text.clone(),
            Value::Number(n) => n.to_string(),
        });
        let text = std::iter::once(label.name.clone()).chain(why).collect::<Vec<_>>().join(": ");
        self.labels.iter().position(|l| *l == text).unwrap_or_else(|| {
            self.labels.push(text);
            self.labels.len() - 1
        })
    }
}

/// -1 if it is unknown.
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
        Phase::Encode => 6,
    }
}

fn number<N: TryInto<i64>>(n: N) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}
