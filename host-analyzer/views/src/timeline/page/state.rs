//! States of threads and the tasks that had their CPUs, in order of first use.

use std::collections::BTreeMap;

use serde::Serialize;

use profinfer_trace::model::{Model, TaskId, ThreadState};

/// Longest command line of a task in the page, bytes: that of a compiler has thousands.
const LONGEST_COMMAND: usize = 80;

/// Thread id, process, name, command line, and whether it is a thread of a traced process.
#[derive(Serialize)]
pub(super) struct Task<'a>(u32, u32, &'a str, &'a str, bool);

/// Name of the state, and the task that had the CPU.
#[derive(Serialize)]
pub(super) struct State(&'static str, Option<usize>);

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

    /// The row of a state, and of who had the CPU.
    pub(super) fn row(&mut self, state: ThreadState, task: Option<TaskId>) -> usize {
        if let Some(id) = self.row_ids.get(&(state, task)) {
            return *id;
        }
        let known = task.and_then(|TaskId(t)| self.model.sched.tasks.get(t as usize));
        // The CPU idles although the thread is runnable: the quota of its control group is used up.
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
