//! The scheduler's states of each thread, as rows of the timeline.

use super::label::{Label, Value};
use super::row::{Content, Row};
use profinfer_analysis::sched::pieces::{Piece, pieces};
use profinfer_trace::model::{Model, TaskId, ThreadState};

/// One row for each thread that has recorded states.
pub(super) fn rows(model: &Model) -> Vec<Row<'static>> {
    let all: Vec<Piece> = pieces(model).collect();
    let by_thread = all.chunk_by(|a, b| a.thread == b.thread);
    by_thread
        .map(|pieces| {
            let thread = model.threads.get(pieces[0].thread);
            let name = format!("{} {} state", model.texts.get(thread.name), thread.tid);
            Row {
                process: thread.pid,
                name: name.trim_start().to_owned(),
                rank: 0,
                content: Content::States(pieces.to_vec()),
            }
        })
        .collect()
}

/// The label of a state without its CPU.
pub(super) fn label(model: &Model, state: ThreadState, task: Option<TaskId>) -> Label {
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
