//! The tasks on CPUs: kernel threads and other processes as the agent describes them, and the
//! engine's own threads.

use std::collections::HashMap;

use profinfer_wire::record::sched as wire;
use profinfer_wire::sched::{IDLE, Who};

use crate::model::{Model, OTHER_TASKS, Task, TaskId, Text, Texts};

/// The agent's descriptions.
#[derive(Debug, Default)]
pub(super) struct Tasks(HashMap<u32, Task>);

impl Tasks {
    /// A later description of a task replaces the earlier one, because it knows more.
    pub(super) fn describe(&mut self, r: &wire::Task<'_>, texts: &mut Texts) {
        let task = Task {
            tid: r.tid,
            pid: r.pid,
            name: texts.intern(r.name),
            command: texts.intern(r.command),
            cgroup: texts.intern(r.cgroup),
        };
        self.0.insert(r.id, task);
    }

    pub(super) fn table(self, model: &mut Model) -> Table {
        let name = model.texts.intern("idle");
        let idle = Task { tid: 0, pid: 0, name, command: Text::default(), cgroup: Text::default() };
        Table { described: self.0, idle, ids: HashMap::new(), rows: HashMap::new() }
    }
}

/// Makes the rows of the model's table.
pub(super) struct Table {
    described: HashMap<u32, Task>,
    idle: Task,
    ids: HashMap<(bool, u32), TaskId>,
    /// The agent may have sent the same task with two numbers.
    rows: HashMap<(u32, u32, Text, Text, Text), TaskId>,
}

impl Table {
    /// The row that stands for tasks which are not distinguished.
    pub(super) fn others(&mut self, model: &mut Model) -> TaskId {
        let name = model.texts.intern("others");
        self.row(Task { tid: OTHER_TASKS, name, ..self.idle.clone() }, model)
    }

    fn row(&mut self, task: Task, model: &mut Model) -> TaskId {
        let same = (task.tid, task.pid, task.name, task.command, task.cgroup);
        *self.rows.entry(same).or_insert_with(|| {
            model.sched.tasks.push(task);
            TaskId(u32::try_from(model.sched.tasks.len() - 1).unwrap_or(u32::MAX))
        })
    }

    /// The row of a task, made at its first use; `None` for a task without description.
    pub(super) fn get(&mut self, who: Who, model: &mut Model) -> Option<TaskId> {
        let key = match who {
            Who::Thread(tid) => (true, tid),
            Who::Task(id) => (false, id),
        };
        if let Some(id) = self.ids.get(&key) {
            return Some(*id);
        }
        let task = match who {
            Who::Thread(tid) => own(tid, model),
            Who::Task(IDLE) => self.idle.clone(),
            Who::Task(id) => self.described.get(&id)?.clone(),
        };
        let id = self.row(task, model);
        self.ids.insert(key, id);
        Some(id)
    }
}

/// A thread of the engine.
fn own(tid: u32, model: &mut Model) -> Task {
    let id = model.threads.find_or_add(tid);
    let thread = model.threads.get(id);
    let process = model.session.processes.iter().rev().find(|p| p.pid == thread.pid);
    let command = process.map_or("", |p| &p.command);
    Task {
        tid,
        pid: thread.pid,
        name: thread.name,
        command: model.texts.intern(command),
        cgroup: Text::default(),
    }
}
