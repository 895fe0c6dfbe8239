//! Which slices lie on which track.

use std::collections::{BTreeMap, BTreeSet};

use super::nest::lanes;
use super::order::{Order, Packed};
use super::{Track, TrackKind, is_slice};
use crate::model::{DecodeId, GraphCallId, Model, SpanId, ThreadId};

/// The tracks of a session that have slices: by process, then token-level, graph-level, threads.
///
/// Token-level and graph-level tracks are one per calling thread, since only the calls of one thread nest.
#[must_use]
pub fn tracks(model: &Model) -> Vec<Track> {
    let kinds = [
        (TrackKind::Token, by_thread(model, &model.decodes.thread, |i| Packed::decode(DecodeId(i)))),
        (TrackKind::Graph, by_thread(model, &model.graph_calls.thread, |i| Packed::graph(GraphCallId(i)))),
        (TrackKind::Thread, of_threads(model)),
    ];
    let processes = processes(model);
    let mut tracks = Vec::new();
    for (kind, slices) in kinds {
        for ((thread, row), slices) in model.threads.iter().zip(slices) {
            if slices.is_empty() {
                continue;
            }
            for (lane, (total, order)) in (0..).zip(of_kind(model, kind, slices)) {
                tracks.push(track(model, row.pid, kind, thread, lane, (total, order)));
            }
        }
    }
    // Stable, so that tracks of one process and kind keep the order of threads.
    tracks.sort_by_key(|t| (processes[&t.process], t.kind));
    name_callers(model, &mut tracks);
    tracks
}

/// Lanes of one kind of track. A closure for each, so that none asks of every slice which kind it is.
fn of_kind(model: &Model, kind: TrackKind, slices: Vec<Packed>) -> Vec<(u64, Vec<Packed>)> {
    match kind {
        TrackKind::Token => lanes(slices, |s| s.slice(TrackKind::Token).bounds(model)),
        TrackKind::Graph => lanes(slices, |s| s.slice(TrackKind::Graph).bounds(model)),
        TrackKind::Thread => lanes(slices, |s| s.slice(TrackKind::Thread).bounds(model)),
    }
}

/// Position of every process: first those that the session names, then those that only threads name.
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

fn of_threads(model: &Model) -> Vec<Vec<Packed>> {
    let spans = &model.spans;
    let mut counts = vec![0; model.threads.len()];
    for (thread, wait) in spans.thread.iter().zip(&spans.wait_ns) {
        counts[thread.0 as usize] += 1 + usize::from(is_slice(*wait));
    }
    let mut slices: Vec<Vec<Packed>> = counts.into_iter().map(Vec::with_capacity).collect();
    for ((i, thread), wait) in (0..).zip(&spans.thread).zip(&spans.wait_ns) {
        let slices = &mut slices[thread.0 as usize];
        slices.push(Packed::work(SpanId(i)));
        if is_slice(*wait) {
            slices.push(Packed::barrier(SpanId(i)));
        }
    }
    slices
}

fn track(
    model: &Model,
    process: u32,
    kind: TrackKind,
    thread: ThreadId,
    lane: u32,
    (total_ns, order): (u64, Vec<Packed>),
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

/// Where several threads of a process make calls, `token` and `graph` say which of them it is.
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
