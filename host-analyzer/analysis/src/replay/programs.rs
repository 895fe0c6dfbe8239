//! The programs that took time from the engine: which tasks are one program.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::cause::{Culprit, CulpritId};
use profinfer_trace::model::{Model, TaskId, Thread, ThreadId};

/// From this number of processes on, tasks of one name are one culprit: a storm of short processes.
const MANY: usize = 8;

/// What makes tasks one program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The threads of a process.
    Process(u32),
    /// Short tasks of the same name, of many processes or of processes that had exited.
    Name(String),
    /// A kernel thread or an unknown task.
    Task(u32),
}

/// What is known of the tasks of a recording.
struct Tasks<'a> {
    /// Names of tasks of many processes.
    storms: HashSet<&'a str>,
    /// Time that each task had CPUs, as far as it was recorded, ns.
    had_ns: Vec<u64>,
}

/// Culprits by their key, in order of first appearance.
pub(super) struct Programs<'a> {
    model: &'a Model,
    tasks: Rc<Tasks<'a>>,
    rows: Vec<Culprit>,
    by_key: HashMap<Key, CulpritId>,
    /// By task.
    known: Vec<Option<CulpritId>>,
}

impl<'a> Programs<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let mut pids: HashMap<&str, HashSet<u32>> = HashMap::new();
        for task in &model.sched.tasks {
            // A task that had exited before it was looked up is a process of its own.
            let pid = if task.pid == 0 { task.tid } else { task.pid };
            pids.entry(model.texts.get(task.name)).or_default().insert(pid);
        }
        let storms = pids.into_iter().filter(|(_, p)| p.len() >= MANY).map(|(name, _)| name).collect();
        let mut had_ns = vec![0_u64; model.sched.tasks.len()];
        let (turns, windows) = (&model.sched.turns, &model.sched.cpu_use);
        let turns = turns.task.iter().zip(&turns.duration_ns);
        for (task, ns) in turns.chain(windows.task.iter().zip(&windows.busy_ns)) {
            if let Some(sum) = had_ns.get_mut(task.0 as usize) {
                *sum = sum.saturating_add(*ns);
            }
        }
        Self::without_culprits(model, Rc::new(Tasks { storms, had_ns }))
    }

    /// Other culprits among the same tasks.
    pub(super) fn another(&self) -> Self {
        Self::without_culprits(self.model, Rc::clone(&self.tasks))
    }

    fn without_culprits(model: &'a Model, tasks: Rc<Tasks<'a>>) -> Self {
        let known = vec![None; model.sched.tasks.len()];
        Self { model, tasks, rows: Vec::new(), by_key: HashMap::new(), known }
    }

    pub(super) fn into_culprits(self) -> Vec<Culprit> {
        self.rows
    }

    /// The program of a task that had `cpu`.
    pub(super) fn of_task(&mut self, id: TaskId, cpu: u16) -> CulpritId {
        let culprit = self.known[id.0 as usize].unwrap_or_else(|| self.new_task(id));
        self.rows[culprit.0 as usize].had(cpu);
        culprit
    }

    /// Another traced engine, by a thread that had `cpu`.
    pub(super) fn of_engine(&mut self, thread: ThreadId, cpu: u16) -> CulpritId {
        let Thread { tid, pid, name } = self.model.threads.get(thread);
        let process = self.model.session.processes.iter().rev().find(|p| p.pid == pid);
        let new = || Culprit {
            tid,
            pid,
            name: process.map_or_else(|| self.model.texts.get(name).to_owned(), |p| p.name.clone()),
            command: process.map_or_else(String::new, |p| p.command.clone()),
            cgroup: String::new(),
            engine: true,
            tasks: 1,
            cpus: Vec::new(),
        };
        let culprit = find_or_add(&mut self.rows, &mut self.by_key, Key::Process(pid), new);
        self.rows[culprit.0 as usize].had(cpu);
        culprit
    }

    fn new_task(&mut self, id: TaskId) -> CulpritId {
        let task = &self.model.sched.tasks[id.0 as usize];
        let name = self.model.texts.get(task.name);
        let storm = self.tasks.storms.contains(name);
        let key = match (storm, task.pid) {
            (true, _) => Key::Name(name.to_owned()),
            (false, 0) => Key::Task(task.tid),
            (false, pid) => Key::Process(pid),
        };
        let new = || {
            // A process may become another program: a shell that starts it in its own place.
            let tasks = self.model.sched.tasks.iter().zip(&self.tasks.had_ns);
            let same = tasks.filter(|(t, _)| (t.tid, t.pid) == (task.tid, task.pid));
            let longest = same.max_by_key(|(_, ns)| **ns).map_or(task, |(t, _)| t);
            let of_task = Culprit::of_task(self.model, longest);
            if storm { Culprit { tid: 0, pid: 0, ..of_task } } else { of_task }
        };
        let culprit = find_or_add(&mut self.rows, &mut self.by_key, key, new);
        self.rows[culprit.0 as usize].tasks += 1;
        self.known[id.0 as usize] = Some(culprit);
        culprit
    }
}

fn find_or_add(
    rows: &mut Vec<Culprit>,
    by_key: &mut HashMap<Key, CulpritId>,
    key: Key,
    new: impl FnOnce() -> Culprit,
) -> CulpritId {
    *by_key.entry(key).or_insert_with(|| {
        rows.push(new());
        CulpritId(u32::try_from(rows.len() - 1).unwrap_or(u32::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::{Task, Text};

    #[test]
    fn a_process_has_the_name_under_which_it_ran_longest() {
        let (mut model, none) = (Model::default(), Text::default());
        for (i, (name, busy_ns)) in (0..).zip([("gzip", 50), ("bash", 10)]) {
            let name = model.texts.intern(name);
            let sched = &mut model.sched;
            sched.tasks.push(Task { tid: 7, pid: 7, name, command: none, cgroup: none });
            sched.cpu_use.task.push(TaskId(i));
            sched.cpu_use.busy_ns.push(busy_ns);
        }
        let mut programs = Programs::new(&model);
        let both = [1, 0].map(|task| programs.of_task(TaskId(task), 3));
        let culprits = programs.into_culprits();
        assert_eq!((both, culprits.len()), ([CulpritId(0); 2], 1));
        assert_eq!(
            (culprits[0].name.as_str(), culprits[0].tasks, &culprits[0].cpus[..]),
            ("gzip", 2, &[3][..])
        );
    }
}
