//! The waits of the engine's threads, split by the task that had the CPU meanwhile.

use profinfer_trace::model::{Model, TaskId, ThreadId, ThreadState};

/// A part of a stretch of a thread: the complete stretch, or the part of a wait in which one task
/// had the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub thread: ThreadId,
    /// ns.
    pub start_ns: u64,
    /// ns.
    pub end_ns: u64,
    pub state: ThreadState,
    pub cpu: u16,
    /// For a wait, the row of the turn of the task that had the CPU; `None` where unknown.
    pub turn: Option<usize>,
}

impl Piece {
    /// The task that had the CPU.
    #[must_use]
    pub fn task(&self, model: &Model) -> Option<TaskId> {
        self.turn.map(|turn| model.sched.turns.task[turn])
    }
}

/// All pieces by thread, then start. Pieces of a thread do not overlap, and those of a stretch
/// cover it completely.
pub fn pieces(model: &Model) -> impl Iterator<Item = Piece> + '_ {
    let cpus = by_cpu(model);
    let states = &model.sched.states;
    (0..states.len()).flat_map(move |i| {
        let (start_ns, cpu, state) = (states.start_ns[i], states.cpu[i], states.state[i]);
        let end_ns = start_ns.saturating_add(states.duration_ns[i]);
        let whole = Piece { thread: states.thread[i], start_ns, end_ns, state, cpu, turn: None };
        match (state, cpus.iter().find(|(c, _)| *c == cpu)) {
            (ThreadState::Preempted | ThreadState::Woken, Some((_, turns))) => {
                cut(model, whole, turns.clone())
            }
            _ => vec![whole],
        }
    })
}

/// The rows of each CPU's turns.
fn by_cpu(model: &Model) -> Vec<(u16, std::ops::Range<usize>)> {
    let mut end = 0;
    let chunks = model.sched.turns.cpu.chunk_by(|a, b| a == b);
    chunks
        .map(|rows| {
            let start = end;
            end += rows.len();
            (rows[0], start..end)
        })
        .collect()
}

fn cut(model: &Model, whole: Piece, turns: std::ops::Range<usize>) -> Vec<Piece> {
    let rows = &model.sched.turns;
    let end = |turn: usize| rows.start_ns[turn].saturating_add(rows.duration_ns[turn]);
    // Turns are sorted by start and do not overlap, so their ends are sorted too.
    let (mut low, mut high) = (turns.start, turns.end);
    while low < high {
        let middle = low.midpoint(high);
        if end(middle) <= whole.start_ns { low = middle + 1 } else { high = middle }
    }
    let (mut pieces, mut at) = (Vec::new(), whole.start_ns);
    let mut push = |start_ns: u64, end_ns: u64, turn: Option<usize>| {
        if end_ns > start_ns {
            pieces.push(Piece { start_ns, end_ns, turn, ..whole });
        }
    };
    for turn in (low..turns.end).take_while(|t| rows.start_ns[*t] < whole.end_ns) {
        let (from, to) = (rows.start_ns[turn].max(at), end(turn).min(whole.end_ns));
        push(at, from, None);
        push(from, to, Some(turn));
        at = to.max(at);
    }
    push(at, whole.end_ns, None);
    pieces
}
