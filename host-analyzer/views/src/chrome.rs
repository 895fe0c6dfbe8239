//! `timeline.json`: Chrome Trace Event Format, for chrome://tracing, Perfetto and other readers of it.
//!
//! Stage: view. From: the `track` analysis. To: a JSON object with begin and end (`B`, `E`) events by track and time.
//! Promises: times are exact: `ts` is in microseconds since the start of the session, written as a decimal with three
//! digits from integer nanoseconds.
//!
//! There are no complete (`X`) events, though they are shorter. A reader that adds their `ts` and `dur` in binary
//! fractions gets an end that is a rounding error away from the start of the next slice, and slices that touch, as
//! operators and waits do, seem to overlap: speedscope then shows nonsense, older versions of Perfetto drop slices.
//!
//! Format: "Trace Event Format", the document of the Chromium project's catapult.

mod probes;
mod state;

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::json;

use super::timeline::buffer::Buffer;
use super::timeline::gauge::{self, Number};
use super::timeline::label::{self, CPU, Label, MIGRATED, Value};
use super::timeline::metadata::{self, HEALTH};
use super::timeline::process::{Process, processes};
use crate::words;
use profinfer_analysis::Analysis;
use profinfer_analysis::per_node::PerNode;
use profinfer_analysis::track::{Edge, Slice, Track, TrackKind};
use profinfer_trace::model::{Model, SpanId};

/// Writes the timeline.
///
/// # Errors
/// Those of `out`.
pub fn chrome(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut file = File {
        model,
        analysis,
        out: Buffer::new(out),
        separator: b"\n",
        origin_ns: metadata::origin_ns(model, analysis),
        free: FreeIds::new(model),
        nodes: PerNode::new(model),
        barrier: Tail::new(&label::barrier()),
    };
    file.head()?;
    file.health()?;
    let probes = super::timeline::probes::tracks(model, analysis, file.origin_ns);
    let states = super::timeline::state::tracks(model);
    for process in processes(model, &analysis.track) {
        file.process(&process)?;
        for (n, track) in process.tracks.iter().enumerate() {
            file.track(track, n)?;
        }
        let of_process = states.iter().filter(|s| s.process == process.pid);
        for (n, track) in (process.tracks.len()..).zip(of_process) {
            file.state_track(track, n)?;
        }
        // Below all threads, whose number a person knows.
        let of_process = probes.iter().filter(|s| s.process == process.pid);
        for (n, track) in (process.tracks.len() + states.len()..).zip(of_process) {
            file.probes_track(track, n)?;
        }
    }
    file.gauges()?;
    file.out.bytes.extend_from_slice(b"\n]}\n");
    file.out.flush()
}

struct File<'a> {
    model: &'a Model,
    analysis: &'a Analysis,
    out: Buffer<'a>,
    separator: &'static [u8],
    /// Time 0 of the file.
    origin_ns: u64,
    free: FreeIds,
    nodes: PerNode<Tail>,
    barrier: Tail,
}

impl File<'_> {
    fn head(&mut self) -> io::Result<()> {
        let mut other: serde_json::Map<_, _> = metadata::facts(self.model, self.analysis)
            .into_iter()
            .map(|(k, v)| (k.to_owned(), json!(v)))
            .collect();
        other.insert(HEALTH.to_owned(), json!(words::health::lines(&self.analysis.health)));
        let bytes = &mut self.out.bytes;
        bytes.extend_from_slice(br#"{"displayTimeUnit":"ns","otherData":"#);
        serde_json::to_writer(&mut *bytes, &other)?;
        bytes.extend_from_slice(br#","traceEvents":["#);
        Ok(())
    }

    /// An instant at the start, so that the health is seen in the picture and not only in the metadata.
    fn health(&mut self) -> io::Result<()> {
        let pid = self.analysis.track.first().map_or(0, |t| t.process);
        let tid = self.free.next();
        self.thread_metadata(pid, tid, HEALTH, 0)?;
        self.begin_event();
        let lines = words::health::lines(&self.analysis.health);
        let line = metadata::headline(&lines);
        let bytes = &mut self.out.bytes;
        write!(bytes, r#"{{"ph":"i","s":"g","pid":{pid},"tid":{tid},"ts":"#)?;
        microseconds(bytes, metadata::first_ns(self.model, self.analysis) - self.origin_ns);
        bytes.extend_from_slice(br#","name":"#);
        serde_json::to_writer(&mut *bytes, line)?;
        bytes.extend_from_slice(br#","cat":"health","args":"#);
        serde_json::to_writer(&mut *bytes, &json!({ "lines": lines }))?;
        bytes.push(b'}');
        Ok(())
    }

    fn process(&mut self, process: &Process<'_>) -> io::Result<()> {
        self.metadata(process.pid, None, "process_name", &json!({ "name": process.name }))
    }

    fn track(&mut self, track: &Track, n: usize) -> io::Result<()> {
        // Only a thread's own track has the thread's id, all others get one that no thread has.
        let own = track.kind == TrackKind::Thread && track.lane == 0;
        let tid = if own { track.tid } else { self.free.next() };
        // Behind the health's.
        self.thread_metadata(track.process, tid, &track.track, n + 1)?;
        let head = |phase| format!(r#"{{"ph":"{phase}","pid":{},"tid":{tid},"ts":"#, track.process);
        let (begin, end) = (head('B'), head('E'));
        for edge in track.edges(self.model) {
            match edge {
                Edge::Begin(slice, at) => {
                    self.edge(&begin, at);
                    self.begun(slice);
                }
                Edge::End(slice, at) => {
                    self.edge(&end, at);
                    self.ended(slice);
                }
            }
            self.out.flush_if_full()?;
        }
        Ok(())
    }

    /// Counter tracks, in a process of their own.
    fn gauges(&mut self) -> io::Result<()> {
        let sampled: Vec<_> = gauge::tracks(self.model, self.analysis).collect();
        if sampled.is_empty() {
            return Ok(());
        }
        let pid = self.free.next();
        self.metadata(pid, None, "process_name", &json!({ "name": gauge::GROUP }))?;
        for track in sampled {
            let name = json!(format!("{}, {}", track.name, track.unit));
            for (at, value) in track.points {
                self.edge(&format!(r#"{{"ph":"C","pid":{pid},"ts":"#), at);
                let value = match value {
                    Number::Whole(n) => json!(n),
                    Number::Rate(n) => json!(n),
                };
                write!(self.out.bytes, r#","name":{name},"args":{{"value":{value}}}}}"#)?;
                self.out.flush_if_full()?;
            }
        }
        Ok(())
    }

    fn edge(&mut self, head: &str, at: u64) {
        self.begin_event();
        self.out.bytes.extend_from_slice(head.as_bytes());
        microseconds(&mut self.out.bytes, at - self.origin_ns);
    }

    /// The rest of a begin event.
    fn begun(&mut self, slice: Slice) {
        let Self { model, analysis, nodes, out, .. } = self;
        let bytes = &mut out.bytes;
        match slice {
            Slice::Decode(id) => Tail::new(&label::decode(model, &analysis.phases, id)).close(bytes),
            Slice::Graph(id) => Tail::new(&label::graph(model, id)).close(bytes),
            Slice::Barrier(_) => self.barrier.close(bytes),
            Slice::Work(SpanId(i)) => {
                let spans = &model.spans;
                operator(nodes, model, i).close_operator(
                    bytes,
                    spans.cpu[i as usize],
                    spans.migrated[i as usize],
                );
            }
        }
    }

    /// The rest of an end event: the name again, by which some readers find the beginning.
    fn ended(&mut self, slice: Slice) {
        let Self { model, analysis, nodes, out, .. } = self;
        let bytes = &mut out.bytes;
        match slice {
            Slice::Decode(id) => Tail::new(&label::decode(model, &analysis.phases, id)).close_end(bytes),
            Slice::Graph(id) => Tail::new(&label::graph(model, id)).close_end(bytes),
            Slice::Barrier(_) => self.barrier.close_end(bytes),
            Slice::Work(SpanId(i)) => operator(nodes, model, i).close_end(bytes),
        }
    }

    fn thread_metadata(&mut self, pid: u32, tid: u32, name: &str, index: usize) -> io::Result<()> {
        self.metadata(pid, Some(tid), "thread_name", &json!({ "name": name }))?;
        self.metadata(pid, Some(tid), "thread_sort_index", &json!({ "sort_index": index }))
    }

    fn metadata(
        &mut self,
        pid: u32,
        tid: Option<u32>,
        name: &str,
        args: &serde_json::Value,
    ) -> io::Result<()> {
        self.begin_event();
        let bytes = &mut self.out.bytes;
        write!(bytes, r#"{{"ph":"M","pid":{pid},"#)?;
        if let Some(tid) = tid {
            write!(bytes, r#""tid":{tid},"#)?;
        }
        write!(bytes, r#""name":"{name}","args":{args}}}"#)
    }

    fn begin_event(&mut self) {
        self.out.bytes.extend_from_slice(self.separator);
        self.separator = b",\n";
    }
}

/// The tail of an operator's span.
#[inline]
fn operator<'a>(nodes: &'a mut PerNode<Tail>, model: &Model, span: u32) -> &'a Tail {
    let (spans, i) = (&model.spans, span as usize);
    let topology = model.graph_calls.topology[spans.graph_call[i].0 as usize];
    let (node, last) = (spans.node[i], spans.last_node[i]);
    nodes.get(topology, node, last, || Tail::new(&label::operator(model, topology, node, last)))
}

/// What follows the time of an event, in JSON; all but what changes from span to span.
struct Tail {
    /// Name, categories, and arguments up to the last one, without a comma.
    json: Vec<u8>,
    /// Length of the part with the name.
    name: usize,
    has_args: bool,
}

impl Tail {
    fn new(label: &Label) -> Self {
        let mut json = format!(r#","name":{}"#, json!(label.name));
        let name = json.len();
        json.push_str(&format!(r#","cat":{},"args":{{"#, json!(label.categories.join(","))));
        for (n, (key, value)) in label.args.iter().enumerate() {
            let value = match value {
                Value::Text(text) => json!(text),
                Value::Number(number) => json!(number),
            };
            let comma = if n == 0 { "" } else { "," };
            json.push_str(&format!(r#"{comma}"{key}":{value}"#));
        }
        Self { json: json.into_bytes(), name, has_args: !label.args.is_empty() }
    }

    fn close_end(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.json[..self.name]);
        bytes.push(b'}');
    }

    fn close(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.json);
        bytes.extend_from_slice(b"}}");
    }

    fn close_operator(&self, bytes: &mut Vec<u8>, cpu: Option<u16>, migrated: bool) {
        bytes.extend_from_slice(&self.json);
        if let Some(cpu) = cpu {
            if self.has_args {
                bytes.push(b',');
            }
            for piece in ["\"", CPU, "\":", itoa::Buffer::new().format(cpu)] {
                bytes.extend_from_slice(piece.as_bytes());
            }
            for piece in [",\"", MIGRATED, "\":true"].into_iter().filter(|_| migrated) {
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
        bytes.extend_from_slice(b"}}");
    }
}

/// Thread ids for tracks that are no threads: the smallest that nothing in the recording has.
struct FreeIds {
    taken: BTreeSet<u32>,
    last: u32,
}

impl FreeIds {
    fn new(model: &Model) -> Self {
        let threads = model.threads.iter().flat_map(|(_, t)| [t.tid, t.pid]);
        let taken = threads.chain(model.session.processes.iter().map(|p| p.pid)).collect();
        Self { taken, last: 0 }
    }

    fn next(&mut self) -> u32 {
        self.last += 1;
        while self.taken.contains(&self.last) {
            self.last += 1;
        }
        self.last
    }
}

/// Nanoseconds as microseconds with three digits behind the point.
fn microseconds(bytes: &mut Vec<u8>, ns: u64) {
    bytes.extend_from_slice(itoa::Buffer::new().format(ns / 1000).as_bytes());
    let rest = ns % 1000;
    let digit = |n: u64| b'0' + (n % 10) as u8;
    bytes.extend_from_slice(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_exact() {
        let text = |ns| {
            let mut bytes = Vec::new();
            microseconds(&mut bytes, ns);
            String::from_utf8(bytes).expect("ASCII")
        };
        assert_eq!(
            [0, 7, 99, 1000, 1_234_567, u64::MAX].map(text),
            ["0.000", "0.007", "0.099", "1.000", "1234.567", "18446744073709551.615"]
        );
    }
}
