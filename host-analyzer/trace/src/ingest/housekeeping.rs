//! What the engine did for itself, in order of arrival.

use std::collections::{HashMap, HashSet};

use profinfer_wire::record::housekeeping::{self as wire, kind};

use crate::model::{GraphCallId, Housekeeping, HousekeepingKind, Layer, Model};

/// Adds a row. One of a kind that this build does not know is left out.
pub(super) fn add(rows: &mut Vec<Housekeeping>, r: &wire::Housekeeping) {
    let wire::Housekeeping { pid, tid, kind, start_ns, duration_ns, bytes } = *r;
    let kind = match kind {
        kind::SAVE_STATE => HousekeepingKind::SaveState,
        kind::RESTORE_STATE => HousekeepingKind::RestoreState,
        kind::ALLOCATE_GRAPH => HousekeepingKind::AllocateGraph,
        kind::SYNCHRONIZE => HousekeepingKind::Synchronize,
        _ => return,
    };
    rows.push(Housekeeping { pid, tid, kind, start_ns, duration_ns, bytes });
}

/// Drops the waits of processes whose graphs are all the CPU's: there is nothing to wait for, and the thread had
/// lost its CPU. Prolongs each call to the end of the wait for its backends: a wait of its thread after it, before
/// which the process began neither a call on that thread nor another graph. Housekeeping and calls are in order of
/// their starts.
pub(super) fn finish(model: &mut Model) {
    let waits = |done: &Housekeeping| done.kind == HousekeepingKind::Synchronize;
    if !model.housekeeping.iter().any(waits) {
        return;
    }
    let mut graphs: HashMap<u32, Vec<u64>> = HashMap::new();
    let mut waiting = HashSet::new();
    for row in 0..model.graph_calls.len() {
        let pid = model.threads.get(model.graph_calls.thread[row]).pid;
        graphs.entry(pid).or_default().push(model.graph_calls.start_ns[row]);
        let split = model.graph_calls.layer[row] == Layer::Backend;
        if split && !model.computes_on_cpu(GraphCallId(row as u32)) {
            waiting.insert(pid);
        }
    }
    model.housekeeping.retain(|done| !waits(done) || waiting.contains(&done.pid));
    graphs.values_mut().for_each(|starts| starts.sort_unstable());
    let calls = &mut model.llama_calls;
    let mut of_thread: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for row in 0..calls.len() {
        let thread = model.threads.get(calls.thread[row]);
        of_thread.entry((thread.pid, thread.tid)).or_default().push(row);
    }
    for wait in model.housekeeping.iter().filter(|done| waits(done)) {
        let Some(rows) = of_thread.get(&(wait.pid, wait.tid)) else { continue };
        let after = rows.partition_point(|row| calls.start_ns[*row] <= wait.start_ns);
        let Some(row) = after.checked_sub(1).map(|at| rows[at]) else { continue };
        let start = calls.start_ns[row];
        let returned = start.saturating_add(calls.duration_ns[row]);
        let graphs = graphs.get(&wait.pid).map_or(&[][..], Vec::as_slice);
        let began = |until: u64| graphs.partition_point(|graph| *graph < until);
        if began(returned) >= began(wait.start_ns) {
            calls.duration_ns[row] = calls.duration_ns[row].max(wait.end_ns().saturating_sub(start));
        }
    }
}
