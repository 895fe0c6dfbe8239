//! Token level: numbers the calls, and fills in the tokens of a batch whose arguments do not give them.

use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::token::Decode;

use super::Lower;
use crate::link::output::Weight;
use crate::ring;

/// Token-level calls that are running: one a thread.
#[derive(Debug, Default)]
pub struct Tokens {
    last_id: u32,
    open: Vec<Open>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    id: u32,
    pid: u32,
    tid: u32,
    start_ns: u64,
    graph_tokens: u32,
}

/// More threads than this in `llama_decode` at once are a broken stream, not an engine.
const MAX_OPEN: usize = 256;

impl Tokens {
    fn begin(&mut self, head: &ring::Head, start_ns: u64) {
        let (pid, tid) = (head.tgid, head.tid);
        self.open.retain(|o| o.tid != tid);
        if self.open.len() >= MAX_OPEN {
            self.open.clear();
        }
        self.last_id += 1;
        self.open.push(Open { id: self.last_id, pid, tid, start_ns, graph_tokens: 0 });
    }

    /// Id of the call that the thread is in, 0 when none. One of that number that was killed in a call was another process's.
    pub(super) fn current(&self, head: &ring::Head) -> u32 {
        self.open.iter().find(|o| o.tid == head.tid && o.pid == head.tgid).map_or(0, |o| o.id)
    }

    /// Counts the tokens of a graph to the call around it.
    pub(super) fn add_tokens(&mut self, head: &ring::Head, n: u32) {
        if let Some(o) = self.open.iter_mut().find(|o| o.tid == head.tid && o.pid == head.tgid) {
            o.graph_tokens += n;
        }
    }
}

impl Lower {
    pub(super) fn decode(&mut self, e: &ring::Decode) {
        let tid = e.head.tid;
        if e.end_ns == 0 {
            self.tokens.begin(&e.head, e.start_ns);
            self.hit(e.head.tgid).calls += 1;
            return;
        }
        let open = self
            .tokens
            .open
            .iter()
            .position(|o| o.tid == tid && o.pid == e.head.tgid && o.start_ns == e.start_ns);
        // The record of the start was lost: the record of the end has all but the tokens of its graphs.
        let open = match open {
            Some(i) => self.tokens.open.swap_remove(i),
            None => {
                self.tokens.last_id += 1;
                Open { id: self.tokens.last_id, pid: e.head.tgid, tid, start_ns: e.start_ns, graph_tokens: 0 }
            }
        };
        if self.levels & level::TOKEN == 0 {
            return;
        }
        self.thread(e.head.tgid, tid);
        let n_tokens =
            u32::try_from(e.n_tokens).ok().or((open.graph_tokens > 0).then_some(open.graph_tokens));
        let start_ns = self.begun(tid, e.start_ns, e.end_ns);
        let record = Decode {
            id: open.id,
            pid: e.head.tgid,
            tid,
            function: u8::try_from(e.head.arg).unwrap_or(u8::MAX),
            context: e.context,
            start_ns,
            duration_ns: e.end_ns.saturating_sub(start_ns),
            n_tokens,
            status: e.status,
        };
        self.emit.emit(&Record::Decode(record), Weight::Essential);
    }
}
