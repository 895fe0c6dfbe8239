//! Inserts stops of threads into a recording, as ggml's threads would suffer them: a thread that
//! is stopped ends its operator later, and all threads wait for it at the barrier, or at the barrier
//! inside the operator.

use profinfer_trace::model::{Model, SpanId, ThreadId, ThreadState};

/// Where a thread is stopped.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// In a span, this many ns after its start.
    Operator(SpanId, u64),
    /// In the wait after a span, half way to the thread's next one.
    Wait(SpanId),
    /// Between the end of a span and the thread's arrival at the barrier: none of the others goes on
    /// before it is back.
    Barrier(SpanId),
    /// At the barrier after a span, all threads but the last one sleep. They wake up this many ns
    /// after the barrier opens; half of that is the work of the last one. They are on the CPU for the last
    /// fourth.
    Asleep(SpanId),
    /// The same at the barrier inside the operator of this span, after the last thread has begun.
    AsleepInside(SpanId),
    /// Half way between a `llama_decode` call and the next one.
    BetweenCalls(usize),
}

/// A span's start and end.
fn times(m: &Model, i: usize) -> (u64, u64) {
    (m.spans.start_ns[i], m.spans.start_ns[i] + m.spans.work_ns[i])
}

/// Spans of the same operator execution.
fn members(m: &Model, i: usize) -> Vec<usize> {
    let s = &m.spans;
    let of_call = s.graph_call.partition_point(|c| *c < s.graph_call[i])
        ..s.graph_call.partition_point(|c| *c <= s.graph_call[i]);
    of_call.filter(|k| s.node[*k] == s.node[i]).collect()
}

/// All threads of the operator of a span have begun before one of them ends.
pub(super) fn ends_after_all_began(m: &Model, i: usize) -> bool {
    let members = members(m, i);
    let began = members.iter().map(|k| m.spans.start_ns[*k]).max().unwrap();
    members.iter().all(|k| times(m, *k).1 > began + 1)
}

pub(super) fn meets_inside(m: &Model, i: usize) -> bool {
    let topology = m.graph_calls.topology[m.spans.graph_call[i].0 as usize].unwrap();
    let node = m.topologies.get(topology).node(m.spans.node[i]);
    matches!(m.texts.get(node.op), "MUL_MAT" | "MUL_MAT_ID" | "FLASH_ATTN_EXT")
}

/// Everything that begins at `from` or later is delayed, and what contains it lasts longer.
pub(super) fn delay_from(m: &mut Model, from: u64, ns: u64) {
    let stretch = |start: &mut [u64], length: &mut [u64]| {
        for (start, length) in start.iter_mut().zip(length) {
            if *start >= from {
                *start += ns;
            } else if *start + *length >= from {
                *length += ns;
            }
        }
    };
    stretch(&mut m.llama_calls.start_ns, &mut m.llama_calls.duration_ns);
    stretch(&mut m.graph_calls.start_ns, &mut m.graph_calls.duration_ns);
    let later = |start: &mut u64| *start += if *start >= from { ns } else { 0 };
    m.spans.start_ns.iter_mut().for_each(later);
    m.sched.states.start_ns.iter_mut().for_each(later);
}

pub(super) fn add_stop(m: &mut Model, thread: ThreadId, at: u64, ns: u64) {
    add_state(m, thread, at, ns, ThreadState::Stopped);
}

pub(super) fn add_state(m: &mut Model, thread: ThreadId, at: u64, ns: u64, state: ThreadState) {
    let s = &mut m.sched.states;
    let row = (0..s.len()).find(|i| (s.thread[*i], s.start_ns[*i]) > (thread, at)).unwrap_or(s.len());
    s.thread.insert(row, thread);
    s.start_ns.insert(row, at);
    s.duration_ns.insert(row, ns);
    s.state.insert(row, state);
    s.cpu.insert(row, 0);
    m.sched.recorded = true;
}

/// Stops a thread for `ns`. Returns how much later everything after it is. Stops are inserted from
/// the last one to the first.
pub(crate) fn stop(m: &mut Model, place: Place, ns: u64) -> u64 {
    match place {
        Place::Operator(SpanId(i), after) => in_operator(m, i as usize, after, ns),
        Place::Wait(SpanId(i)) => in_wait(m, i as usize, ns),
        Place::Asleep(SpanId(i)) => asleep(m, i as usize, ns),
        Place::AsleepInside(SpanId(i)) => asleep_inside(m, i as usize, ns),
        Place::Barrier(SpanId(i)) => {
            let at = times(m, i as usize).1 + 1;
            let release = members(m, i as usize).iter().map(|k| times(m, *k).1).max().unwrap();
            let later = (at + ns).saturating_sub(release);
            delay_from(m, release + 1, later);
            add_stop(m, m.spans.thread[i as usize], at, ns);
            later
        }
        Place::BetweenCalls(call) => {
            let end = m.llama_calls.start_ns[call] + m.llama_calls.duration_ns[call];
            let at = u64::midpoint(end, m.llama_calls.start_ns[call + 1]);
            delay_from(m, at, ns);
            add_stop(m, m.llama_calls.thread[call], at, ns);
            ns
        }
    }
}

fn in_operator(m: &mut Model, i: usize, after: u64, ns: u64) -> u64 {
    let (start, end) = times(m, i);
    let at = start + after.min(end - start - 1);
    let members = members(m, i);
    let last_start = members.iter().map(|k| m.spans.start_ns[*k]).max().unwrap();
    let release = members.iter().map(|k| times(m, *k).1).max().unwrap();
    if meets_inside(m, i) && at < last_start {
        let later = (at + ns).saturating_sub(last_start);
        delay_from(m, release, later);
        members.iter().for_each(|k| m.spans.work_ns[*k] += later);
        add_stop(m, m.spans.thread[i], at, ns);
        return later;
    }
    let later = (end + ns).max(release) - release;
    delay_from(m, release, later);
    m.spans.work_ns[i] += ns;
    add_stop(m, m.spans.thread[i], at, ns);
    later
}

fn in_wait(m: &mut Model, i: usize, ns: u64) -> u64 {
    let next = i + 1;
    let (end, begins) = (times(m, i).1, m.spans.start_ns[next]);
    let at = u64::midpoint(end, begins);
    let later_start = (at + ns).max(begins) - begins;
    let members = members(m, next);
    let last_start = members.iter().map(|k| m.spans.start_ns[*k]).max().unwrap();
    let release = members.iter().map(|k| times(m, *k).1).max().unwrap();
    let inner = meets_inside(m, next);
    let later = if inner {
        (begins + later_start).max(last_start) - last_start
    } else {
        (times(m, next).1 + later_start).max(release) - release
    };
    delay_from(m, release, later);
    m.spans.start_ns[next] += later_start;
    if inner {
        // All of them begin to compute later.
        members.iter().filter(|k| **k != next).for_each(|k| m.spans.work_ns[*k] += later);
        m.spans.work_ns[next] = m.spans.work_ns[next] + later - later_start;
    }
    add_stop(m, m.spans.thread[i], at, ns);
    later
}

fn asleep(m: &mut Model, i: usize, ns: u64) -> u64 {
    // The operators before and after the barrier, thread by thread.
    let next = members(m, i + 1);
    let before: Vec<usize> = next.iter().map(|k| k - 1).collect();
    let waker = *before.iter().max_by_key(|k| times(m, **k).1).unwrap();
    let later_start = |k: usize| if k == waker { ns / 2 } else { ns };
    let starts: Vec<u64> =
        next.iter().zip(&before).map(|(k, b)| m.spans.start_ns[*k] + later_start(*b)).collect();
    let last = |starts: &[u64]| starts.iter().copied().max().unwrap();
    let old: Vec<u64> = next.iter().map(|k| m.spans.start_ns[*k]).collect();
    let inner = meets_inside(m, i + 1);
    let shift = last(&starts) - last(&old);
    let ends: Vec<u64> = next
        .iter()
        .zip(&starts)
        .map(|(k, start)| if inner { times(m, *k).1 + shift } else { start + m.spans.work_ns[*k] })
        .collect();
    let release = next.iter().map(|k| times(m, *k).1).max().unwrap();
    let later = last(&ends) - release;
    delay_from(m, release, later);
    for (n, k) in next.iter().enumerate() {
        m.spans.start_ns[*k] = starts[n];
        m.spans.work_ns[*k] = ends[n] - starts[n];
        let (_, ended) = times(m, before[n]);
        if before[n] != waker {
            let sleep = starts[n] - ended - 2 - ns / 4;
            add_state(m, m.spans.thread[*k], ended + 1, sleep, ThreadState::Sleeping);
        }
    }
    later
}

fn asleep_inside(m: &mut Model, i: usize, ns: u64) -> u64 {
    let members = members(m, i);
    let waker = *members.iter().max_by_key(|k| m.spans.start_ns[**k]).unwrap();
    let from = m.spans.start_ns[waker] + 1;
    let release = members.iter().map(|k| times(m, *k).1).max().unwrap();
    let later = |k: usize| if k == waker { ns / 2 } else { ns };
    let last = members.iter().map(|k| times(m, *k).1 + later(*k)).max().unwrap();
    delay_from(m, release, last - release);
    for k in members {
        m.spans.work_ns[k] += later(k);
        if k != waker {
            add_state(m, m.spans.thread[k], from, ns - ns / 4, ThreadState::Sleeping);
        }
    }
    last - release
}
