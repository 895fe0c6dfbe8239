//! What the engine does between two decode calls: it takes outputs, edits the memory of a context, and copies
//! the state of sequences.

use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::edit::Edit;
use profinfer_wire::record::housekeeping::Housekeeping;
use profinfer_wire::record::token::Taken;

use super::Lower;
use crate::bpf::ring::Head;
use crate::link::output::Weight;

impl Lower {
    /// Sends an edit of a context's memory.
    pub(super) fn edit(&mut self, edit: &Edit) {
        if self.levels & level::TOKEN != 0 {
            self.emit.emit(&Record::Edit(*edit), Weight::Essential);
        }
    }

    /// Sends what the engine did for itself.
    pub(super) fn housekeeping(&mut self, done: &Housekeeping) {
        if self.levels & level::TOKEN != 0 {
            self.emit.emit(&Record::Housekeeping(*done), Weight::Essential);
        }
    }

    /// Counts an output of the last call of a context that is taken.
    pub(super) fn taken(&mut self, head: &Head, context: u64) {
        self.taken.count(head.tgid, context);
    }

    /// Notes that a call has returned. Sends how many outputs were taken of the context's call before: no more
    /// will be.
    pub(super) fn returned(&mut self, pid: u32, context: u64, decode: u32) {
        let before = self.taken.returned(Returned { pid, context, decode, outputs: 0 });
        self.send_taken(before);
    }

    fn send_taken(&mut self, call: Option<Returned>) {
        if let Some(Returned { decode, outputs: outputs @ 1.., .. }) = call {
            self.emit.emit(&Record::Taken(Taken { decode, outputs }), Weight::Essential);
        }
    }

    /// Sends the same of the last call of each context.
    pub(super) fn send_all_taken(&mut self) {
        for call in std::mem::take(&mut self.taken.last) {
            self.send_taken(Some(call));
        }
    }
}

/// More contexts than this are those of programs that create and free them: the oldest is dropped.
const MAX_CONTEXTS: usize = 256;

/// The last call of each context.
#[derive(Debug, Default)]
pub(super) struct TakenOutputs {
    last: Vec<Returned>,
}

/// A call that has returned.
#[derive(Debug, Clone, Copy)]
struct Returned {
    pid: u32,
    context: u64,
    /// Id of the call.
    decode: u32,
    /// Outputs of it that were taken.
    outputs: u32,
}

impl TakenOutputs {
    fn of(&self, pid: u32, context: u64) -> Option<usize> {
        self.last.iter().position(|call| (call.pid, call.context) == (pid, context))
    }

    fn count(&mut self, pid: u32, context: u64) {
        if let Some(at) = self.of(pid, context) {
            self.last[at].outputs = self.last[at].outputs.saturating_add(1);
        }
    }

    /// Adds a call. Returns the one that it replaces.
    fn returned(&mut self, call: Returned) -> Option<Returned> {
        let full = || (self.last.len() >= MAX_CONTEXTS).then_some(0);
        let before = self.of(call.pid, call.context).or_else(full).map(|at| self.last.remove(at));
        self.last.push(call);
        before
    }
}
