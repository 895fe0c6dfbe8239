//! Inserts stops of threads into a recording, as ggml's threads would suffer them: a thread that
//! is stopped ends its operator later, and all threads wait for it at the barrier, or at the barrier
//! inside the operator.

use profinfer_trace::model::{Model, SpanId, Task, TaskId, Text, ThreadId, ThreadState};

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
    /// The same at the barrier inside the operator of this span, after the last thread has begun: it computes when
    /// it has woken the others.
    AsleepInside(SpanId),
    /// The threads of this span's operator have one CPU: at the barrier inside all but the last one sleep, and
    /// then they compute one after the other. The last one goes on, or loses the CPU to those that it woke.
    Turns(SpanId, bool),
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
    m.sched.turns.start_ns.iter_mut().for_each(later);
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
        Place::Turns(SpanId(i), last_goes_on) => turns(m, i as usize, last_goes_on),
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
    let later = |k: usize| if k == waker { ns - ns / 4 } else { ns };
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

/// How long the last thread goes on before it loses the CPU, ns.
const FIRST: u64 = 2_000;

fn turns(m: &mut Model, i: usize, last_goes_on: bool) -> u64 {
    let mut members = members(m, i);
    members.sort_by_key(|k| std::cmp::Reverse(m.spans.start_ns[*k]));
    let (last, last_start) = (members[0], m.spans.start_ns[members[0]]);
    let computes = |m: &Model, k: usize| times(m, k).1 - last_start;
    let release = members.iter().map(|k| times(m, *k).1).max().unwrap();
    let before = if last_goes_on { 0 } else { FIRST.min(computes(m, last)) };
    let all: u64 = members.iter().map(|k| computes(m, *k)).sum();
    delay_from(m, release, last_start + all - release);
    if !last_goes_on {
        members.rotate_left(1);
    }
    let mut end = last_start + before;
    for k in members {
        let (thread, start) = (m.spans.thread[k], m.spans.start_ns[k]);
        let left = computes(m, k) - if k == last { before } else { 0 };
        let since = if k == last { last_start + before } else { last_start + 1 };
        if k != last {
            add_state(m, thread, start + 1, last_start - start, ThreadState::Sleeping);
        }
        if end > since {
            add_state(m, thread, since, end - since, ThreadState::Preempted);
        }
        add_turn(m, thread, end, left);
        end += left;
        m.spans.work_ns[k] = end - start;
    }
    last_start + all - release
}

/// A thread of the engine has CPU 0.
fn add_turn(m: &mut Model, thread: ThreadId, at: u64, ns: u64) {
    let of = m.threads.get(thread);
    let (tid, pid, none) = (of.tid, of.pid, Text::default());
    let known = m.sched.tasks.iter().position(|t| t.tid == tid).unwrap_or_else(|| {
        m.sched.tasks.push(Task { tid, pid, name: none, command: none, cgroup: none });
        m.sched.tasks.len() - 1
    });
    let turns = &mut m.sched.turns;
    let row = turns.start_ns.partition_point(|start| *start <= at);
    turns.cpu.insert(row, 0);
    turns.start_ns.insert(row, at);
    turns.duration_ns.insert(row, ns);
    turns.task.insert(row, TaskId(known as u32));
}
