//! Token level: numbers the decode calls, and adds the number of tokens if the arguments do not
//! give it.

use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::token::Decode;

use super::Lower;
use super::progress::Place;
use crate::bpf::ring;
use crate::link::output::Weight;

/// Running decode calls, one per thread.
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
    /// See [`ring::Decode::batch`].
    batch: u64,
    graph_tokens: u32,
    /// See [`super::progress::Ended::operators`].
    operators: u32,
    /// Tokens from the call's arguments.
    n_tokens: Option<u32>,
    /// Position among the engine's calls, set when the number of tokens is known.
    place: Option<Place>,
}

/// More threads than this in `llama_decode` at once indicate a broken stream.
const MAX_OPEN: usize = 256;

impl Tokens {
    fn begin(&mut self, e: &ring::Decode) {
        let (pid, tid, start_ns) = (e.head.tgid, e.head.tid, e.start_ns);
        self.open.retain(|o| o.tid != tid);
        if self.open.len() >= MAX_OPEN {
            self.open.clear();
        }
        self.last_id += 1;
        let n_tokens = u32::try_from(e.n_tokens).ok();
        let (graph_tokens, operators, place) = (0, 0, None);
        self.open.push(Open {
            id: self.last_id,
            pid,
            tid,
            start_ns,
            batch: e.batch,
            graph_tokens,
            operators,
            n_tokens,
            place,
        });
    }

    /// Id of the thread's running call, or 0. Compares the process too: a killed thread's id may be
    /// reused.
    pub(super) fn current(&self, head: &ring::Head) -> u32 {
        self.open.iter().find(|o| o.tid == head.tid && o.pid == head.tgid).map_or(0, |o| o.id)
    }

    /// Id of the thread's running call with this batch; 0 if there is none.
    pub(super) fn with_batch(&self, head: &ring::Head, batch: u64) -> u32 {
        let same = |o: &&Open| o.tid == head.tid && o.pid == head.tgid && o.batch == batch;
        self.open.iter().find(same).map_or(0, |o| o.id)
    }

    /// Adds the tokens of a graph to the call around it.
    pub(super) fn add_tokens(&mut self, head: &ring::Head, n: u32) {
        if let Some(o) = self.open.iter_mut().find(|o| o.tid == head.tid && o.pid == head.tgid) {
            o.graph_tokens += n;
        }
    }

    /// Adds the operators of a graph to the call with this id, if it is running.
    pub(super) fn add_operators(&mut self, id: u32, n: u64) {
        if let Some(o) = self.open.iter_mut().find(|o| o.id == id) {
            o.operators = o.operators.saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
        }
    }
}

impl Tokens {
    /// The earliest running call of a process: its start, ns, and its number of tokens, if its
    /// arguments give that.
    #[must_use]
    pub fn running(&self, pid: u32) -> Option<(u64, Option<u32>)> {
        let of_process = self.open.iter().filter(|o| o.pid == pid);
        of_process.min_by_key(|o| o.start_ns).map(|o| (o.start_ns, o.n_tokens))
    }
}

impl Lower {
    /// Whether filters keep the operators of a graph with this many tokens (0: unknown) that begins
    /// now.
    pub(super) fn keeps(&mut self, head: &ring::Head, n_tokens: u32) -> bool {
        let call = self.tokens.open.iter_mut().find(|o| o.tid == head.tid && o.pid == head.tgid);
        let Some(call) = call else { return !self.filters.of_calls() };
        let n_tokens = call.n_tokens.unwrap_or(n_tokens);
        let place = *call.place.get_or_insert_with(|| self.engines_progress.call(head.tgid, n_tokens));
        self.filters.pass_call(place.token, place.request)
    }

    pub(super) fn decode(&mut self, e: &ring::Decode) {
        let tid = e.head.tid;
        // The parts of the call are complete and must precede the record of the call.
        if e.end_ns != 0 {
            self.send_parts();
        }
        if e.end_ns == 0 {
            self.tokens.begin(e);
            self.take_parts(e);
            self.hit(e.head.tgid).calls += 1;
            return;
        }
        let open = self
            .tokens
            .open
            .iter()
            .position(|o| o.tid == tid && o.pid == e.head.tgid && o.start_ns == e.start_ns);
        self.hit(e.head.tgid).returned += 1;
        // The start record was lost. The end record has everything except the tokens of its graphs.
        let open = match open {
            Some(i) => self.tokens.open.swap_remove(i),
            None => {
                self.tokens.last_id += 1;
                let (id, pid, start_ns, batch) = (self.tokens.last_id, e.head.tgid, e.start_ns, e.batch);
                let (graph_tokens, operators, n_tokens, place) = (0, 0, None, None);
                Open { id, pid, tid, start_ns, batch, graph_tokens, operators, n_tokens, place }
            }
        };
        let n_tokens =
            u32::try_from(e.n_tokens).ok().or((open.graph_tokens > 0).then_some(open.graph_tokens));
        self.ended(
            &ring::Decode { start_ns: self.begun(tid, e.start_ns, e.end_ns), ..*e },
            n_tokens,
            open.place,
            open.operators,
        );
        if self.levels & level::TOKEN == 0 {
            return;
        }
        self.thread(e.head.tgid, tid);
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
        self.returned(e.head.tgid, e.context, open.id);
    }
}
