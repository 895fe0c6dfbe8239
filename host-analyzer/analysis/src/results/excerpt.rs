//! The parts of a session that the report shows as a timeline: a prompt and the first tokens after
//! it, and the longest decode tokens, because those show what delays the engine. If the first
//! tokens have no operators, it is the first ones that have some, and one token before them.
//!
//! Stage: analysis. From: requests, calls, tracks, budget. To: [`Excerpt`]s, time windows that do
//! not overlap, by time. Promises: at most [`MAX_SLICES`] slices start inside the windows, whatever
//! the size of the session. A window ends with the end of a call, unless one call alone has more
//! slices.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::budget::TokenBudget;
use super::track::{Slice, Track};
use crate::Analysis;
use crate::shared::phase::Phase;
use profinfer_trace::model::{Model, Traced};

/// More slices would make the page slow or large.
pub const MAX_SLICES: usize = 20_000;
/// Decode calls resemble one another, so a few suffice.
pub const MAX_DECODES: usize = 4;
/// Longest tokens with a window of their own.
pub const MAX_LONGEST: usize = 2;

/// A time window of a session, and what starts in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Start, ns of the session's clock.
    pub start_ns: u64,
    /// End, ns of the session's clock; exclusive.
    pub end_ns: u64,
    /// `llama_decode` calls in the window.
    pub calls: usize,
    /// Operator spans in the window.
    pub spans: usize,
    /// The window ends with the end of a call, or of the session.
    pub whole_calls: bool,
    /// The window is one of the longest tokens.
    pub long_token: bool,
    /// For each track of the analysis: its slices that start in the window.
    pub slices: Vec<std::ops::Range<usize>>,
}

impl Excerpt {
    /// The first request that generated a token (without requests, the beginning), and the longest
    /// decode tokens outside of that window, as far as they fit.
    #[must_use]
    pub fn parts(model: &Model, analysis: &Analysis) -> Vec<Self> {
        let tracks = &analysis.track;
        let mut left = MAX_SLICES;
        let mut parts: Vec<Self> = Vec::new();
        for (start, end) in longest_tokens(model, analysis) {
            let part = Self::of(model, tracks, start, end);
            let slices = part.count();
            // Half of the slices are for the beginning.
            if left.saturating_sub(slices) >= MAX_SLICES / 2 && parts.iter().all(|p| p.is_apart(&part)) {
                left -= slices;
                parts.push(Self { whole_calls: true, long_token: true, ..part });
            }
        }
        let beginning = Self::beginning(model, analysis, left);
        parts.retain(|part| part.is_apart(&beginning));
        parts.push(beginning);
        parts.sort_by_key(|part| part.start_ns);
        parts
    }

    fn beginning(model: &Model, analysis: &Analysis, most: usize) -> Self {
        let tracks = &analysis.track;
        let first = first_call(model, analysis);
        let start_ns = first.map_or_else(|| first_slice(model, tracks), |c| model.llama_calls.start_ns[c]);
        let fits = |end: &u64| count(model, tracks, start_ns, *end) <= most;
        let ends = match first {
            Some(call) => call_ends(model, analysis, call),
            None => vec![last_end(model, tracks)],
        };
        let whole = ends.iter().copied().rfind(fits);
        let end_ns = whole.unwrap_or_else(|| {
            let end = ends.first().copied().unwrap_or(start_ns);
            latest(start_ns, end, |end| fits(&end))
        });
        Self { whole_calls: whole.is_some(), ..Self::of(model, tracks, start_ns, end_ns) }
    }

    fn of(model: &Model, tracks: &[Track], start_ns: u64, end_ns: u64) -> Self {
        let slices: Vec<_> = tracks.iter().map(|t| inside(model, t, start_ns, end_ns)).collect();
        let of_kind = |kind: fn(&Slice) -> bool| {
            tracks.iter().zip(&slices).map(|(t, r)| t.order.range(r.clone()).filter(kind).count()).sum()
        };
        Self {
            start_ns,
            end_ns,
            calls: of_kind(|s| matches!(s, Slice::Decode(_))),
            spans: of_kind(|s| matches!(s, Slice::Work(_))),
            whole_calls: false,
            long_token: false,
            slices,
        }
    }

    fn count(&self) -> usize {
        self.slices.iter().map(ExactSizeIterator::len).sum()
    }

    fn is_apart(&self, other: &Self) -> bool {
        self.end_ns <= other.start_ns || other.end_ns <= self.start_ns
    }
}

/// Windows of the longest decode tokens, longest first. The first of a process warms caches and is
/// not among them.
fn longest_tokens(model: &Model, analysis: &Analysis) -> Vec<(u64, u64)> {
    let mut seen = HashSet::new();
    let decode = |t: &&TokenBudget| t.phase == analysis.phases.decode;
    let process = |t: &TokenBudget| {
        let thread = model.llama_calls.thread.get(t.call as usize).copied();
        thread.map(|id| model.threads.get(id).pid)
    };
    let mut tokens: Vec<_> =
        analysis.budget.tokens.iter().filter(decode).filter(|t| !seen.insert(process(t))).collect();
    tokens.sort_by_key(|t| Reverse(t.time_ns));
    tokens.truncate(MAX_LONGEST);
    let start = |t: &TokenBudget| model.session.start_ns.saturating_add(t.start_ns);
    tokens.iter().map(|t| (start(t), start(t).saturating_add(t.time_ns))).collect()
}

/// The first call of the excerpt.
fn first_call(model: &Model, analysis: &Analysis) -> Option<usize> {
    let requests = &analysis.token.requests;
    let wanted = requests.iter().find(|r| r.generated > 0 && r.ttft_ns.is_some()).or(requests.first());
    let call = wanted.map_or(0, |r| r.first_call as usize);
    let traced = &analysis.phases.tracing.llama_calls;
    let seen = |calls: &[Traced]| calls.is_empty() || calls.contains(&Traced::Whole);
    if traced.get(call..).is_some_and(|after| !seen(&after[..after.len().min(MAX_DECODES + 1)])) {
        let first = traced.iter().skip(call).position(|t| *t == Traced::Whole);
        return Some(first.map_or(call, |n| call + n.saturating_sub(1)));
    }
    (call < model.llama_calls.len()).then_some(call)
}

/// Ends of the windows that hold complete calls from `first` on, each with one call more than the
/// one before.
fn call_ends(model: &Model, analysis: &Analysis, first: usize) -> Vec<u64> {
    let mut llama_calls = 0;
    let mut end = 0;
    let mut ends = Vec::new();
    for call in first..model.llama_calls.len() {
        llama_calls +=
            usize::from(matches!(analysis.phases.llama_calls[call], Phase::Decode | Phase::BatchDecode));
        if llama_calls > MAX_DECODES {
            break;
        }
        let call_end = model.llama_calls.start_ns[call].saturating_add(model.llama_calls.duration_ns[call]);
        end = call_end.max(end);
        ends.push(end);
    }
    ends
}

fn first_slice(model: &Model, tracks: &[Track]) -> u64 {
    tracks.iter().filter_map(|t| t.order.iter().next()).map(|s| s.bounds(model).0).min().unwrap_or(0)
}

fn last_end(model: &Model, tracks: &[Track]) -> u64 {
    tracks.iter().flat_map(|t| t.order.iter()).map(|s| s.bounds(model).1).max().unwrap_or(0)
}

/// Slices of a track that start in `start..end`.
fn inside(model: &Model, track: &Track, start: u64, end: u64) -> std::ops::Range<usize> {
    let before = |at: u64| track.order.partition_point(|s| s.bounds(model).0 < at);
    let from = before(start);
    from..before(end).max(from)
}

fn count(model: &Model, tracks: &[Track], start: u64, end: u64) -> usize {
    tracks.iter().map(|t| inside(model, t, start, end).len()).sum()
}

/// The latest time in `start..=end` for which `fits` holds. `fits` must hold for `start`, and up to
/// some time.
fn latest(start: u64, end: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (start, end.max(start));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::{
        DecodeFunction, GraphCallId, Layer, Node, NodeIdx, ProbeSwitch, Role, SwitchReason, Text, ThreadId,
        Topology, TopologyId, WAIT_UNKNOWN,
    };

    /// Calls of `tokens[i]` tokens, each 1000 ns long and 100 ns apart, with `spans` spans of 1 ns
    /// in each.
    fn session(tokens: &[u32], spans: u64) -> Model {
        let mut m = Model::default();
        let thread = m.threads.find_or_add(7);
        let op = m.texts.intern("ADD");
        let node = Node {
            name: op,
            op,
            desc: op,
            dtype: op,
            role: Role::Node,
            ne: [1; 4],
            bytes: 4,
            address: 1,
            data: 0,
            buffer: None,
            view_of: None,
            src: vec![],
        };
        m.topologies.rows.push(Topology { pid: 1, n_nodes: 1, nodes: vec![node], complete: true });
        for (i, n) in (0u32..).zip(tokens) {
            let start = 50 + u64::from(i) * 1100;
            m.llama_calls.start_ns.push(start);
            m.llama_calls.duration_ns.push(1000);
            m.llama_calls.function.push(DecodeFunction::LlamaDecode);
            m.llama_calls.thread.push(thread);
            m.llama_calls.context.push(9);
            m.llama_calls.n_tokens.push(*n);
            m.llama_calls.status.push(0);
            m.graph_calls.start_ns.push(start);
            m.graph_calls.duration_ns.push(1000);
            m.graph_calls.layer.push(Layer::Scheduler);
            m.graph_calls.backend.push(Text::default());
            m.graph_calls.topology.push(Some(TopologyId(0)));
            m.graph_calls.n_nodes.push(1);
            m.graph_calls.n_tokens.push(*n);
            // Only the second call begins a text after the trial.
            let past: u32 = if i == 0 { 0 } else { tokens[1..i as usize].iter().sum() };
            let past = if tokens[0] > 2 { tokens[..i as usize].iter().sum() } else { past };
            m.graph_calls.n_past.push(Some(past));
            m.graph_calls.thread.push(thread);
            m.graph_calls.decode.push(Some(profinfer_trace::model::LlamaCallId(i)));
            m.graph_calls.parent.push(None);
            for s in 0..spans {
                push_span(&mut m, GraphCallId(i), thread, start + s * 1000 / spans);
            }
        }
        m
    }

    fn push_span(m: &mut Model, call: GraphCallId, thread: ThreadId, start: u64) {
        m.spans.graph_call.push(call);
        m.spans.thread.push(thread);
        m.spans.node.push(NodeIdx(0));
        m.spans.last_node.push(NodeIdx(0));
        m.spans.start_ns.push(start);
        m.spans.work_ns.push(0);
        m.spans.wait_ns.push(WAIT_UNKNOWN);
        m.spans.cpu.push(None);
        m.spans.migrated.push(false);
    }

    fn parts(m: &Model) -> Vec<Excerpt> {
        Excerpt::parts(m, &Analysis::compute(m))
    }

    fn excerpt(m: &Model) -> Excerpt {
        Excerpt::beginning(m, &Analysis::compute(m), MAX_SLICES)
    }

    #[test]
    fn the_longest_tokens_have_windows_of_their_own() {
        let mut m = session(&[5, 1, 1, 1, 1, 1, 1, 1, 1, 1], 3);
        // The eighth call takes a tenth longer; so does the last, a little less.
        for (call, more) in [(7, 90), (9, 80)] {
            m.llama_calls.duration_ns[call] += more;
            m.graph_calls.duration_ns[call] += more;
        }
        let found = parts(&m);
        let ends: Vec<_> = found.iter().map(|p| (p.long_token, p.end_ns)).collect();
        let end = |call: u64, more| 50 + call * 1100 + 1000 + more;
        assert_eq!(ends, [(false, end(4, 0)), (true, end(7, 90)), (true, end(9, 80))]);
        assert!(found.iter().all(|p| p.whole_calls && p.spans >= 3));
        assert!(found.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns));
    }

    #[test]
    fn all_windows_together_keep_the_limit() {
        let found = parts(&session(&[4, 1, 1, 1, 1, 1, 1, 1], 4000));
        let slices = found.iter().map(Excerpt::count).sum::<usize>();
        assert!(slices <= MAX_SLICES && found.iter().any(|p| p.long_token), "{slices}");
    }

    #[test]
    fn it_is_the_first_prompt_that_was_answered_and_four_tokens() {
        // A warm-up of two tokens, then a prompt of five tokens and six decode tokens.
        let e = excerpt(&session(&[2, 5, 1, 1, 1, 1, 1, 1], 3));
        assert_eq!((e.start_ns, e.end_ns), (50 + 1100, 50 + 5 * 1100 + 1000));
        assert_eq!((e.calls, e.spans, e.whole_calls), (5, 15, true));
    }

    #[test]
    fn where_the_first_tokens_were_not_traced_it_is_the_first_burst_and_the_token_before() {
        let mut m = session(&[5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 3);
        let switch = |on, began_ns, done_ns| ProbeSwitch {
            pid: 0,
            on,
            reason: SwitchReason::Duty,
            began_ns,
            done_ns,
            probes: 2,
            pause_ns: None,
        };
        // Probes inserted during the seventh token.
        m.duty.switches = vec![switch(false, 0, 0), switch(true, 50 + 7 * 1100 + 1, 50 + 8 * 1100 - 1)];
        let e = excerpt(&m);
        assert_eq!((e.start_ns, e.end_ns, e.calls), (50 + 7 * 1100, 50 + 10 * 1100 + 1000, 4));
    }

    #[test]
    fn calls_that_would_be_too_many_slices_stay_out() {
        // 6 002 slices per call: three calls fit.
        let e = excerpt(&session(&[4, 1, 1, 1, 1], 6000));
        assert_eq!((e.calls, e.spans, e.whole_calls), (3, 18_000, true));
        assert_eq!(e.end_ns, 50 + 2 * 1100 + 1000);
    }

    #[test]
    fn one_call_that_is_too_large_is_cut() {
        let e = excerpt(&session(&[4, 1], 1_000_000));
        assert_eq!((e.calls, e.whole_calls), (1, false));
        // 1000 spans start in every ns: the call, its graph and the spans of 19 ns fit.
        assert_eq!((e.end_ns, e.spans), (50 + 19, 19_000));
    }

    #[test]
    fn without_calls_it_is_the_beginning() {
        let mut m = session(&[4], 10);
        m.llama_calls = profinfer_trace::model::LlamaCalls::default();
        m.graph_calls.decode[0] = None;
        let e = excerpt(&m);
        assert_eq!((e.start_ns, e.end_ns, e.calls, e.spans), (50, 1050, 0, 10));
    }

    #[test]
    fn an_empty_session_has_an_empty_excerpt() {
        let e = excerpt(&Model::default());
        assert_eq!((e.start_ns, e.end_ns, e.calls, e.spans, e.slices.len()), (0, 0, 0, 0, 0));
    }
}
