//! Assignment of slices to tracks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::nest::lanes;
use super::order::{Order, Packed};
use super::{Track, TrackKind, is_slice};
use profinfer_trace::model::{GraphCallId, LlamaCallId, Model, SpanId, Spans, ThreadId};

/// The tracks of a session that have slices: by process, then token level, graph level, threads.
///
/// Token-level and graph-level tracks are one per calling thread, because only calls of one thread
/// nest.
#[must_use]
pub fn tracks(model: &Model) -> Vec<Track> {
    let llama_calls = by_thread(model, &model.llama_calls.thread, |i| Packed::decode(LlamaCallId(i)));
    let calls = by_thread(model, &model.graph_calls.thread, |i| Packed::graph(GraphCallId(i)));
    let kinds: [(TrackKind, Vec<Vec<Lane>>); 3] = [
        (TrackKind::Token, llama_calls.into_iter().map(|s| nested(model, TrackKind::Token, s)).collect()),
        (TrackKind::Graph, calls.into_iter().map(|s| nested(model, TrackKind::Graph, s)).collect()),
        (TrackKind::Thread, of_threads(model)),
    ];
    let processes = processes(model);
    let mut tracks = Vec::new();
    for (kind, of_threads) in kinds {
        for ((thread, row), lanes) in model.threads.iter().zip(of_threads) {
            for (number, lane) in (0..).zip(lanes).filter(|(_, (_, slices))| !slices.is_empty()) {
                tracks.push(track(model, row.pid, kind, thread, number, lane));
            }
        }
    }
    // Stable, so that tracks of one process and kind keep the order of threads.
    tracks.sort_by_key(|t| (processes[&t.process], t.kind));
    name_callers(model, &mut tracks);
    tracks
}

/// Slices that nest, with the sum of their durations, ns.
type Lane = (u64, Vec<Packed>);

/// Lanes of one thread. A separate closure for each kind avoids checking the kind of every slice.
fn nested(model: &Model, kind: TrackKind, slices: Vec<Packed>) -> Vec<Lane> {
    match kind {
        TrackKind::Token => lanes(slices, |s| s.slice(TrackKind::Token).bounds(model)),
        TrackKind::Graph => lanes(slices, |s| s.slice(TrackKind::Graph).bounds(model)),
        TrackKind::Thread => lanes(slices, |s| s.slice(TrackKind::Thread).bounds(model)),
    }
}

/// Position of every process: first those that the session names, then those that only threads
/// name.
fn processes(model: &Model) -> BTreeMap<u32, usize> {
    let mut positions = BTreeMap::new();
    let named = model.session.processes.iter().map(|p| p.pid);
    for pid in named.chain(model.threads.iter().map(|(_, t)| t.pid)) {
        let next = positions.len();
        positions.entry(pid).or_insert(next);
    }
    positions
}

fn by_thread(model: &Model, threads: &[ThreadId], slice: impl Fn(u32) -> Packed) -> Vec<Vec<Packed>> {
    let mut slices = vec![Vec::new(); model.threads.len()];
    for (i, thread) in (0..).zip(threads) {
        slices[thread.0 as usize].push(slice(i));
    }
    slices
}

/// The operators of one thread.
#[derive(Default)]
struct OfThread {
    slices: Vec<Packed>,
    /// Sum of their durations, ns.
    total: u64,
    /// End of the last one, ns.
    at: u64,
    /// One began before the end of another, so they must be nested.
    overlap: bool,
}

impl OfThread {
    /// Appends the spans of some rows.
    fn add(&mut self, spans: &Spans, rows: Range<usize>) {
        let Self { slices, mut total, mut at, mut overlap } = std::mem::take(self);
        let mut slices = slices;
        let times = spans.start_ns[rows.clone()].iter().zip(&spans.work_ns[rows.clone()]);
        for ((i, (start, work)), wait) in (rows.start as u32..).zip(times).zip(&spans.wait_ns[rows]) {
            overlap |= *start < at;
            let end = start.saturating_add(*work);
            slices.push(Packed::work(SpanId(i)));
            at = end;
            if is_slice(*wait) {
                slices.push(Packed::barrier(SpanId(i)));
                at = end.saturating_add(u64::from(*wait));
            }
            total = total.saturating_add(at - start);
        }
        *self = Self { slices, total, at, overlap };
    }

    fn lanes(self, model: &Model) -> Vec<Lane> {
        match self.overlap {
            true => nested(model, TrackKind::Thread, self.slices),
            false => vec![(self.total, self.slices)],
        }
    }
}

fn of_threads(model: &Model) -> Vec<Vec<Lane>> {
    let spans = &model.spans;
    let mut counts = vec![0; model.threads.len()];
    let runs = || spans.by_thread(0..spans.len());
    for (thread, rows) in runs() {
        let waits = spans.wait_ns[rows.clone()].iter().filter(|wait| is_slice(**wait)).count();
        counts[thread.0 as usize] += rows.len() + waits;
    }
    let empty = |count| OfThread { slices: Vec::with_capacity(count), ..Default::default() };
    let mut threads: Vec<OfThread> = counts.into_iter().map(empty).collect();
    for (thread, rows) in runs() {
        threads[thread.0 as usize].add(spans, rows);
    }
    threads.into_iter().map(|thread| thread.lanes(model)).collect()
}

fn track(
    model: &Model,
    process: u32,
    kind: TrackKind,
    thread: ThreadId,
    lane: u32,
    (total_ns, order): Lane,
) -> Track {
    let order = Order::new(kind, order);
    let mut name = match kind {
        TrackKind::Token => "token".to_owned(),
        TrackKind::Graph => "graph".to_owned(),
        TrackKind::Thread => thread_name(model, thread),
    };
    if lane > 0 {
        name.push_str(&format!(", overlapping {lane}"));
    }
    let tid = model.threads.get(thread).tid;
    Track { process, track: name, kind, tid, slices: order.len() as u64, total_ns, thread, lane, order }
}

/// Name and id, because all threads of a process often have the same name.
fn thread_name(model: &Model, thread: ThreadId) -> String {
    let t = model.threads.get(thread);
    match model.texts.get(t.name) {
        "" => format!("thread {}", t.tid),
        name => format!("{name} {}", t.tid),
    }
}

/// Where several threads of a process make calls, the names `token` and `graph` include the thread.
fn name_callers(model: &Model, tracks: &mut [Track]) {
    let mut callers: BTreeMap<(u32, TrackKind), BTreeSet<ThreadId>> = BTreeMap::new();
    for t in tracks.iter() {
        callers.entry((t.process, t.kind)).or_default().insert(t.thread);
    }
    for track in tracks.iter_mut().filter(|t| t.kind != TrackKind::Thread) {
        if callers[&(track.process, track.kind)].len() > 1 {
            track.track.push_str(&format!(", {}", thread_name(model, track.thread)));
        }
    }
}
