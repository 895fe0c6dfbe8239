//! What the scheduler did with each thread, as a track of its own, the same in both formats.

use super::label::{Label, Value};
use profinfer_analysis::sched::pieces::{Piece, pieces};
use profinfer_trace::model::{Model, TaskId, ThreadState};

/// The track of one thread.
pub(crate) struct Track {
    /// Its process; 0 when the stream did not tell.
    pub(crate) process: u32,
    pub(crate) name: String,
    /// The slices, by start; they do not overlap.
    pub(crate) pieces: Vec<Piece>,
}

/// The tracks of all threads of which something is known.
pub(crate) fn tracks(model: &Model) -> Vec<Track> {
    let all: Vec<Piece> = pieces(model).collect();
    let of_threads = all.chunk_by(|a, b| a.thread == b.thread);
    of_threads
        .map(|pieces| {
            let thread = model.threads.get(pieces[0].thread);
            let name = format!("{} {} state", model.texts.get(thread.name), thread.tid);
            Track { process: thread.pid, name: name.trim_start().to_owned(), pieces: pieces.to_vec() }
        })
        .collect()
}

/// What a slice says, but for its CPU.
pub(crate) fn label(model: &Model, state: ThreadState, task: Option<TaskId>) -> Label {
    let mut label =
        Label { name: state.name().to_owned(), categories: vec!["state".to_owned()], args: Vec::new() };
    let Some(task) = task.and_then(|TaskId(t)| model.sched.tasks.get(t as usize)) else { return label };
    if task.tid == 0 {
        label.name.push_str(", CPU idle");
        return label;
    }
    let (name, command) = (model.texts.get(task.name), model.texts.get(task.command));
    let how = if state == ThreadState::Woken { ", waits for" } else { " by" };
    label.name = format!("{}{how} {name}", label.name);
    label.args.push(("tid", Value::Number(task.tid.into())));
    if task.pid != 0 {
        label.args.push(("pid", Value::Number(task.pid.into())));
    }
    if !command.is_empty() {
        label.args.push(("command", Value::Text(command.to_owned())));
    }
    label
}
