//! Rows of threads' states, with who had the CPUs that they wanted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Kind, Row, number};
use profinfer_analysis::sched::pieces::Piece;
use profinfer_analysis::track::Track;
use profinfer_trace::model::{Model, TaskId, ThreadState};

/// Longest command line of a task in the page, bytes: a compiler's has thousands.
const LONGEST_COMMAND: usize = 80;

/// Thread id, process, name, command line, and whether it is a thread of a traced process itself.
#[derive(Serialize)]
pub(super) struct Task<'a>(u32, u32, &'a str, &'a str, bool);

/// Name of the state, and who had the CPU.
#[derive(Serialize)]
pub(super) struct State(&'static str, Option<usize>);

/// States and tasks that slices refer to, in order of first use.
pub(super) struct States<'a> {
    model: &'a Model,
    pub(super) tasks: Vec<Task<'a>>,
    task_ids: BTreeMap<TaskId, usize>,
    pub(super) rows: Vec<State>,
    row_ids: BTreeMap<(ThreadState, Option<TaskId>), usize>,
}

impl<'a> States<'a> {
    pub(super) const fn new(model: &'a Model) -> Self {
        Self {
            model,
            tasks: Vec::new(),
            task_ids: BTreeMap::new(),
            rows: Vec::new(),
            row_ids: BTreeMap::new(),
        }
    }

    /// The row below the one of a thread: start, which may lie before the window, length, state, CPU.
    pub(super) fn row(&mut self, track: &Track, pieces: &[Piece], origin: u64) -> Row {
        let mut slices = Vec::with_capacity(pieces.len() * 4);
        for piece in pieces {
            let start = number(piece.start_ns).saturating_sub(number(origin));
            let state = self.state(piece.state, piece.task(self.model));
            slices.extend([start, number(piece.end_ns - piece.start_ns), number(state), piece.cpu.into()]);
        }
        Row { kind: Kind::State, process: track.process, track: format!("{} state", track.tid), slices }
    }

    fn state(&mut self, state: ThreadState, task: Option<TaskId>) -> usize {
        if let Some(id) = self.row_ids.get(&(state, task)) {
            return *id;
        }
        let known = task.and_then(|TaskId(t)| self.model.sched.tasks.get(t as usize));
        // A CPU that does nothing although a thread wants to go on: its group's quota is used up.
        let throttled = state == ThreadState::Preempted && known.is_some_and(|t| t.tid == 0);
        let name = if throttled { "throttled" } else { state.name() };
        let by = task.filter(|_| known.is_some_and(|t| t.tid != 0)).map(|task| self.task(task));
        self.rows.push(State(name, by));
        self.row_ids.insert((state, task), self.rows.len() - 1);
        self.rows.len() - 1
    }

    fn task(&mut self, id: TaskId) -> usize {
        let model = self.model;
        *self.task_ids.entry(id).or_insert_with(|| {
            let task = &model.sched.tasks[id.0 as usize];
            let engine = task.pid != 0 && model.session.processes.iter().any(|p| p.pid == task.pid);
            let (name, command) = (model.texts.get(task.name), model.texts.get(task.command));
            let command = &command[..command.floor_char_boundary(LONGEST_COMMAND)];
            self.tasks.push(Task(task.tid, task.pid, name, command, engine));
            self.tasks.len() - 1
        })
    }
}
