//! The timeline as text of ftrace: for SmartPerf-Host and other readers of hitrace and systrace that do not take Perfetto's file.
//!
//! Stage: view. From: the `track` analysis. To: lines in order of time, `TASK-TID (TGID) [CPU] .... SECONDS: tracing_mark_write: WHAT`.
//! Promises: times are exact, with nine digits behind the point, of the session's clock (`CLOCK_MONOTONIC`).
//!
//! Operators and waits are sections of their thread (`B` and `E`). Token calls, graph calls, and what overlaps otherwise, are
//! asynchronous ones (`S` and `F`), which need not nest. A line must name a CPU: where an operator's is not known, and for calls, it is
//! the last that is known of the thread, or 0.
//!
//! Format: the kernel's Documentation/trace/ftrace.rst, and of markers what `hitrace` and `atrace` write:
//! `B|pid|name`, `E|pid`, `S|pid|name|cookie`, `F|pid|name|cookie`, `C|pid|name|value`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Display;
use std::io::{self, Write};

use super::foreign::marker;
use super::timeline::buffer::Buffer;
use super::timeline::gauge::{self, Number};
use super::timeline::label;
use super::timeline::metadata;
use super::words;
use profinfer_analysis::Analysis;
use profinfer_analysis::track::{Edge, Slice, Track, TrackKind};
use profinfer_trace::model::{GraphCallId, LlamaCallId, Model, SpanId};

/// Writes the timeline. Returns the number of its slices.
///
/// # Errors
/// Those of `out`.
pub fn ftrace(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<u64> {
    let mut file = File { model, analysis, out: Buffer::new(out), cpus: vec![0; model.threads.len()] };
    file.head()?;
    let gauges: Vec<_> = gauge::tracks(model, analysis).collect();
    let mut edges: Vec<_> = analysis.track.iter().map(|track| track.edges(model)).collect();
    let mut points: Vec<_> = gauges.iter().map(|track| track.points.iter()).collect();
    // What comes next of each track, then of each gauge.
    let mut next: Vec<Option<Event>> = edges.iter_mut().map(|e| e.next().map(Event::Edge)).collect();
    next.extend(points.iter_mut().map(|p| p.next().map(|(at, value)| Event::Point(*at, *value))));
    let at = |n: usize, event: &Option<Event>| event.as_ref().map(|e| Reverse((e.at_ns(), n)));
    let mut queue: BinaryHeap<_> = next.iter().enumerate().filter_map(|(n, event)| at(n, event)).collect();
    let mut slices = 0;
    while let Some(Reverse((_, n))) = queue.pop() {
        let following = match n.checked_sub(edges.len()) {
            None => edges[n].next().map(Event::Edge),
            Some(n) => points[n].next().map(|(at, value)| Event::Point(*at, *value)),
        };
        queue.extend(at(n, &following));
        match std::mem::replace(&mut next[n], following) {
            Some(Event::Edge(edge)) => {
                slices += u64::from(matches!(edge, Edge::Begin(..)));
                file.edge(&analysis.track[n], edge)?;
            }
            Some(Event::Point(at, value)) => file.point(&gauges[n - edges.len()], at, value)?,
            None => {}
        }
        file.out.flush_if_full()?;
    }
    file.out.flush()?;
    Ok(slices)
}

enum Event {
    Edge(Edge),
    Point(u64, Number),
}

impl Event {
    const fn at_ns(&self) -> u64 {
        match self {
            Self::Edge(Edge::Begin(_, at) | Edge::End(_, at)) | Self::Point(at, _) => *at,
        }
    }
}

struct File<'a> {
    model: &'a Model,
    analysis: &'a Analysis,
    out: Buffer<'a>,
    /// The last CPU that is known, by row of the threads.
    cpus: Vec<u16>,
}

impl File<'_> {
    fn head(&mut self) -> io::Result<()> {
        let bytes = &mut self.out.bytes;
        bytes.extend_from_slice(b"# tracer: nop\n#\n");
        for line in words::health::lines(&self.analysis.health) {
            writeln!(bytes, "# health: {}", marker(&line))?;
        }
        for (key, value) in metadata::facts(self.model, self.analysis) {
            writeln!(bytes, "# {key}: {}", marker(&value))?;
        }
        bytes.extend_from_slice(
            b"#\n#           TASK-PID     (  TGID) CPU#  ||||  TIMESTAMP  FUNCTION\n#              | |        |      |    ||||      |         |\n",
        );
        Ok(())
    }

    fn edge(&mut self, track: &Track, edge: Edge) -> io::Result<()> {
        let (Edge::Begin(slice, at) | Edge::End(slice, at)) = edge;
        let begins = matches!(edge, Edge::Begin(..));
        let thread = track.thread.0 as usize;
        if let (Slice::Work(SpanId(i)), Some(cpu)) = (slice, self.cpus.get_mut(thread)) {
            *cpu = self.model.spans.cpu[i as usize].unwrap_or(*cpu);
        }
        let cpu = self.cpus.get(thread).copied().unwrap_or_default();
        let known = self.model.texts.get(self.model.threads.get(track.thread).name);
        let (pid, name) = (track.process, || marker(&self.name(slice)));
        let own = track.kind == TrackKind::Thread && track.lane == 0;
        let what = match (own, begins) {
            (true, true) => format!("B|{pid}|{}", name()),
            (true, false) => format!("E|{pid}"),
            (false, begins) => {
                format!("{}|{pid}|{}|{}", if begins { 'S' } else { 'F' }, name(), cookie(slice))
            }
        };
        line(&mut self.out.bytes, (known, track.tid, pid), cpu, at, &what)
    }

    /// Gauges are of the board: they stand at the first process.
    fn point(&mut self, track: &gauge::Track<'_>, at: u64, value: Number) -> io::Result<()> {
        let pid = self.analysis.track.first().map_or(0, |t| t.process);
        let name = marker(&format!("{}, {}", track.name, track.unit));
        // Readers take whole numbers; a rate is in bytes a second.
        let what = match value {
            Number::Whole(n) => format!("C|{pid}|{name}|{n}"),
            Number::Rate(n) => format!("C|{pid}|{name}|{n:.0}"),
        };
        line(&mut self.out.bytes, (gauge::GROUP, pid, pid), 0, at, &what)
    }

    fn name(&self, slice: Slice) -> String {
        let model = self.model;
        match slice {
            Slice::Decode(id) => label::decode(model, &self.analysis.phases, id).name,
            Slice::Graph(id) => label::graph(model, id).name,
            Slice::Barrier(_) => label::BARRIER.to_owned(),
            Slice::Work(SpanId(i)) => {
                let (spans, i) = (&model.spans, i as usize);
                let topology = model.graph_calls.topology[spans.graph_call[i].0 as usize];
                label::operator(model, topology, spans.node[i], spans.last_node[i]).name
            }
        }
    }
}

/// What tells an asynchronous slice from others of its name.
const fn cookie(slice: Slice) -> u32 {
    match slice {
        Slice::Decode(LlamaCallId(i)) | Slice::Graph(GraphCallId(i)) => i,
        Slice::Work(SpanId(i)) | Slice::Barrier(SpanId(i)) => i,
    }
}

/// One line; `task` is name, thread and process.
fn line(
    bytes: &mut Vec<u8>,
    (name, tid, pid): (&str, u32, u32),
    cpu: u16,
    at_ns: u64,
    what: &dyn Display,
) -> io::Result<()> {
    let name = if name.is_empty() { "<...>".to_owned() } else { marker(name) };
    let (seconds, ns) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000);
    writeln!(
        bytes,
        "{name:>16}-{tid:<7} ({pid:>7}) [{cpu:03}] .... {seconds}.{ns:09}: tracing_mark_write: {what}"
    )
}
