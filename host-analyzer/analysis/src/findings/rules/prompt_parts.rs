//! A prompt is read in several calls, with time between them, or with small ones.

use std::collections::HashMap;

use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Gain, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{IGNORED, NAMED, Question, StepKind, TensorGroup};
use crate::replay::CallReplay;
use crate::results::server::SlotRequest;
use crate::shared::phase::Phase;

pub(super) const RULE: Rule = Rule {
    code: "prompt_parts",
    topic: "parts of a prompt",
    title: "A prompt is read in parts that come late, or are uneven",
    question: "Why is the first token late although the calls of the prompt are fast?",
    condition: "A prompt is read in several calls. Between them the engine computes for other sequences, the application works, or the thread sleeps; or a part of fewer than 64 tokens, at most a quarter of the largest part, needs a graph more than the whole prompt would. Together at least 3 % of the mean time to the first token.",
    formula: "Late: the time between the calls of a prompt, without copies of states, encoders, and what other programs took. Calls for other sequences have to be computed as well: of two prompts that are read in turns, one gains that time if they follow one another, so half of it is likely. Small: a part costs a + b * tokens as the largest one does, and a goes away, without the head, which the first token needs; at least what is above the cost per token of the largest part, at most the part. With the spread between sessions.",
    remedy: "Read a prompt at once: -b and -ub as long as prompts usually are, and fewer slots that read at the same time (--parallel); look at what the application does between two parts. A server keeps a checkpoint before the end of a prompt and reads the rest in a call of its own: --ctx-checkpoints 0 if no prompt continues another one.",
    source: "llama.cpp tools/server (batches of n_batch tokens for all slots; checkpoints)",
    questions: ANY,
    requires: &[],
    steps: |question, kind| match question {
        Question::FirstToken => matches!(kind, StepKind::Application | StepKind::Idle),
        Question::Prompt => matches!(kind, StepKind::Floor | StepKind::AboveFloor | StepKind::Dispatch),
        _ => false,
    },
    judge,
};

/// Parts with at least this number of tokens are not small.
const SMALL: u64 = 64;
/// A part is small if a graph of the largest part has at least this multiple of its tokens.
const UNEVEN: f64 = 4.0;
/// The engine's default: tokens of a graph.
const UBATCH: u64 = 512;

/// A call with a part of a prompt.
#[derive(Debug, Clone, Copy)]
struct Part {
    tokens: u64,
    graphs: u64,
    /// Without what delayed it, ns.
    ns: f64,
}

impl Part {
    /// Of a graph, mean.
    fn of_graph(self) -> (f64, f64) {
        (self.tokens as f64 / self.graphs as f64, self.ns / self.graphs as f64)
    }
}

/// What small parts cost, ns.
#[derive(Debug, Default)]
struct Small {
    n: u64,
    ns: f64,
    low_ns: f64,
    likely_ns: f64,
}

fn judge(case: &Case<'_>) -> Verdict {
    let server = &case.analysis.server;
    let answered = |r: &&SlotRequest| r.pid == case.pid && r.output_tokens.is_some_and(|n| n > 0);
    let requests: Vec<&SlotRequest> =
        server.all().filter(answered).filter(|r| r.ttft_ns.is_some() && r.waited_ns.is_some()).collect();
    let in_parts: Vec<&&SlotRequest> = requests.iter().filter(|r| r.prompt_calls > 1).collect();
    let ttft_ns = requests.iter().filter_map(|r| r.ttft_ns).fold(0, u64::saturating_add);
    if in_parts.is_empty() || ttft_ns == 0 {
        return Verdict::DoesNotApply;
    }
    let calls = Calls::new(case);
    let (mut late_ns, mut of_others_ns) = (0_u64, 0_u64);
    let mut small = Small::default();
    for request in &in_parts {
        let (own, others) = calls.late(request, server.is_shared(request));
        late_ns = late_ns.saturating_add(own);
        of_others_ns = of_others_ns.saturating_add(others);
        if !server.is_shared(request) {
            small.add(&calls.parts(request), calls.largest_graph, calls.head_ns);
        }
    }
    let n = requests.len() as f64;
    let ttft_ns = ttft_ns as f64 / n;
    let (late, others) = (late_ns as f64 / n, of_others_ns as f64 / n);
    let parts = in_parts.iter().map(|r| r.prompt_calls).sum::<u64>() as f64 / in_parts.len() as f64;
    let mut evidence = vec![
        Evidence::new("prompts_in_parts", Value::Count(in_parts.len() as u64), Place::Requests),
        Evidence::new("calls_of_such_a_prompt", Value::Mean(parts), Place::Requests),
        Evidence::new("late_ns", Value::Nanoseconds((late + others) as u64), Place::Requests),
    ];
    if others > 0.0 {
        evidence.push(Evidence::new(
            "late_for_others_ns",
            Value::Nanoseconds(others as u64),
            Place::Requests,
        ));
    }
    if small.n > 0 {
        evidence.push(Evidence::new("small_parts", Value::Count(small.n), Place::Requests));
        let each = (small.ns / small.n as f64) as u64;
        evidence.push(Evidence::new("small_part_ns", Value::Nanoseconds(each), Place::Requests));
    }
    // Of two prompts that are read in turns, one gains the time of the other if they follow one another.
    let likely = late + others / 2.0 + small.likely_ns / n;
    match likely / ttft_ns {
        share if share < IGNORED => return Verdict::RuledOut(evidence),
        share if share < NAMED => return Verdict::Noisy(evidence),
        _ => {}
    }
    let (low, high) = (late + small.low_ns / n, late + others + small.ns / n);
    let gain = Gain::of(Question::FirstToken, ttft_ns as u64, low, high).with_likely(likely);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::WholePrompts,
        gains: vec![gain.in_other_sessions()],
        confidence: Confidence::Medium,
    })
}

impl Small {
    /// Adds the small parts of a prompt: as many as the graphs that it would not need in one call.
    fn add(&mut self, parts: &[Part], largest_graph: u64, head_ns: Option<f64>) {
        let Some(large) = parts.iter().max_by_key(|p| p.tokens).filter(|p| p.graphs > 0) else { return };
        let sum = |of: fn(&Part) -> u64| parts.iter().map(of).fold(0, u64::saturating_add);
        let needed = sum(|p| p.tokens).div_ceil(largest_graph.max(1));
        let extra = sum(|p| p.graphs).saturating_sub(needed);
        let (tokens, ns) = large.of_graph();
        let is_small = |p: &Part| p.tokens < SMALL && p.tokens as f64 * UNEVEN <= tokens;
        let mut small: Vec<(usize, Part)> =
            parts.iter().copied().enumerate().filter(|(_, p)| is_small(p)).collect();
        small.sort_by(|a, b| a.1.ns.total_cmp(&b.1.ns));
        for (i, part) in small.into_iter().take(usize::try_from(extra).unwrap_or(usize::MAX)) {
            // The last part has the first output.
            let head = if i + 1 == parts.len() { head_ns } else { Some(0.0) };
            let Some(head) = head else { continue };
            let n = part.tokens as f64;
            let b = ((ns - part.ns) / (tokens - n)).max(0.0);
            let saved = |per_token: f64| (part.ns - n * per_token - head).max(0.0);
            self.n += 1;
            self.ns += part.ns;
            self.likely_ns += saved(b);
            self.low_ns += saved(ns / tokens).min(saved(b));
        }
    }
}

/// The calls of the process.
struct Calls<'a> {
    case: &'a Case<'a>,
    replayed: HashMap<u32, &'a CallReplay>,
    /// The times before its calls, by the start of the call.
    gaps: Vec<(u64, &'a CallReplay)>,
    /// Graphs of each call.
    graphs: Vec<u64>,
    /// Most tokens of a graph.
    largest_graph: u64,
    /// Of a token; `None` if it is not known.
    head_ns: Option<f64>,
}

impl<'a> Calls<'a> {
    fn new(case: &'a Case<'a>) -> Self {
        let (model, replay) = (case.model, &case.analysis.replay);
        let graphs = case.graphs_of_calls();
        let tokens = &model.llama_calls.n_tokens;
        let seen =
            graphs.iter().zip(tokens).filter(|(n, _)| **n > 0).map(|(n, t)| u64::from(*t).div_ceil(*n));
        let decode = case.ladder(Question::Decode);
        let head_ns = decode.and_then(|ladder| {
            let groups = &ladder.floor.as_ref()?.groups;
            let head = groups.iter().filter(|g| g.group == TensorGroup::Head);
            Some(head.map(|g| g.work_ns).sum::<u64>() as f64 / ladder.units.max(1) as f64)
        });
        let own = |gap: &&CallReplay| {
            model.threads.get(model.llama_calls.thread[gap.call.0 as usize]).pid == case.pid
        };
        let start = |gap: &CallReplay| model.llama_calls.start_ns[gap.call.0 as usize];
        let mut gaps: Vec<_> = replay.gaps.iter().filter(own).map(|gap| (start(gap), gap)).collect();
        gaps.sort_by_key(|(start, _)| *start);
        Self {
            case,
            gaps,
            replayed: replay.calls.iter().map(|c| (c.call.0, c)).collect(),
            largest_graph: seen.max().unwrap_or(0).max(UBATCH),
            graphs,
            head_ns,
        }
    }

    /// The parts of a prompt whose calls have no other sequences, in order.
    fn parts(&self, request: &SlotRequest) -> Vec<Part> {
        let calls = &self.case.model.llama_calls;
        let first = request.first_call as usize;
        let row = |i: usize| (self.case.model.threads.get(calls.thread[i]).pid, calls.context[i]);
        (first..calls.len())
            .filter(|i| row(*i) == row(first) && calls.status[*i] == 0)
            .take_while(|i| self.case.analysis.phases.llama_calls[*i] == Phase::Prefill)
            .filter_map(|i| {
                let replayed = self.replayed.get(&u32::try_from(i).ok()?)?;
                let (tokens, graphs) = (u64::from(calls.n_tokens[i]), self.graphs[i]);
                Some(Part { tokens, graphs, ns: replayed.undisturbed_ns() as f64 })
            })
            .collect()
    }

    /// Time between the first call of a request and its first output in which neither a call had tokens of it,
    /// nor other programs, copies or encoders delayed it: the part of the application and of sleep, and that
    /// of calls for other sequences, ns.
    fn late(&self, request: &SlotRequest, shared: bool) -> (u64, u64) {
        let (ttft, waited) = (request.ttft_ns.unwrap_or(0), request.waited_ns.unwrap_or(0));
        let begin = self.case.model.session.start_ns.saturating_add(request.start_ns);
        let first = self.gaps.partition_point(|(start, _)| *start <= begin);
        let inside = self.gaps[first..].iter().take_while(|(start, _)| *start < begin.saturating_add(ttft));
        let (own, all) = inside.fold((0_u64, 0_u64), |(own, all), (_, gap)| {
            let free = gap.application_ns.saturating_add(gap.idle_ns);
            (own.saturating_add(free), all.saturating_add(gap.time_ns - gap.encoder_ns.min(gap.time_ns)))
        });
        let own = own.min(waited);
        (own, if shared { waited.saturating_sub(all) } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(tokens: u64, graphs: u64, ns: f64) -> Part {
        Part { tokens, graphs, ns }
    }

    /// 1,000 ns for each graph, and 10 for each token.
    #[test]
    fn a_small_part_costs_a_graph() {
        let of = |parts: &[Part], head_ns: Option<f64>| {
            let mut small = Small::default();
            small.add(parts, UBATCH, head_ns);
            (small.n, small.ns, small.likely_ns.round(), small.low_ns.round())
        };
        let parts = [part(400, 1, 5_000.0), part(4, 1, 1_040.0)];
        // At least what is above 4 tokens of 12.5 ns.
        assert_eq!(of(&parts, Some(0.0)), (1, 1_040.0, 1_000.0, 990.0));
        assert_eq!(of(&parts, Some(300.0)), (1, 1_040.0, 700.0, 690.0));
        // Without the time of the head, nothing is known of the last part.
        assert_eq!(of(&parts, None), (0, 0.0, 0.0, 0.0));
        assert_eq!(of(&[parts[1], parts[0]], None), (1, 1_040.0, 1_000.0, 990.0));
        // The whole prompt needs two graphs, too: of 512 tokens, and of 4.
        assert_eq!(of(&[part(512, 1, 6_120.0), part(4, 1, 1_040.0)], Some(0.0)).0, 0);
        // Equal parts, and one that is large enough.
        assert_eq!(of(&[part(60, 1, 1_600.0), part(60, 1, 1_600.0)], Some(0.0)).0, 0);
        assert_eq!(of(&[part(400, 1, 5_000.0), part(90, 1, 1_900.0)], Some(0.0)).0, 0);
    }
}
