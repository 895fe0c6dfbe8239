//! Each burst of traced tokens, paired with the untraced tokens just before and after it.

use std::collections::HashMap;

use crate::shared::phase::{Phase, Phases};
use crate::stats::estimate::middle;
use profinfer_trace::model::{Model, Traced};

/// Fewest neighbours on each side, where there are as many: the median of fewer tokens is unstable.
const NEIGHBOURS: usize = 4;

/// One decode token of a context.
#[derive(Debug, Clone, Copy)]
struct Token {
    /// Position among the decode tokens of its context since the prompt.
    at: usize,
    /// Duration of the call, ns.
    ns: f64,
    /// KV cells that its attention covers, if known.
    cells: Option<u64>,
    traced: Traced,
}

/// A burst and its neighbours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// Time of a traced token divided by that of an untraced one at the same position.
    pub(super) ratio: f64,
    pub(super) traced: u64,
    pub(super) untraced: u64,
    /// The tokens at its edges; `None` where there are none.
    pub(super) edges: Option<Edges>,
}

/// The tokens around a burst in which its probes were inserted and removed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges {
    pub(super) tokens: u64,
    /// Their time divided by that of untraced tokens at the same positions.
    pub(super) ratio: f64,
    /// Their additional time, ns.
    pub(super) extra_ns: f64,
}

/// All pairs of a session.
///
/// Tokens of one context between two prompts are consecutive. Over so few tokens, token time grows
/// linearly with the position. The untraced time in the middle of the burst is therefore read from
/// the line through the medians of the neighbours on both sides.
///
/// Tokens at an edge are no neighbours, because removing probes may take longer than a burst; they
/// are compared with the same line. A burst with neighbours on one side only is excluded. So are
/// neighbours with another number of cells, which grows in steps. No token is a neighbour of two
/// bursts, so the pairs are independent.
pub(super) fn pairs(model: &Model, phases: &Phases) -> Vec<Pair> {
    runs(model, phases).iter().flat_map(|run| of_run(run)).collect()
}

/// The decode tokens of each context, from prompt to prompt.
fn runs(model: &Model, phases: &Phases) -> Vec<Vec<Token>> {
    let d = &model.llama_calls;
    let mut open: HashMap<(u32, u64), Vec<Token>> = HashMap::new();
    let mut done = Vec::new();
    for i in 0..d.len() {
        let key = (model.threads.get(d.thread[i]).pid, d.context[i]);
        let run = open.entry(key).or_default();
        if phases.llama_calls[i] != Phase::Decode || d.status[i] != 0 {
            done.push(std::mem::take(run));
            continue;
        }
        run.push(Token {
            at: run.len(),
            ns: d.duration_ns[i] as f64,
            cells: phases.contexts[i].n_kv,
            traced: phases.tracing.llama_calls[i],
        });
    }
    done.extend(open.into_values());
    done
}

fn of_run(all: &[Token]) -> Vec<Pair> {
    let run: Vec<Token> = all.iter().filter(|t| t.traced != Traced::Edge).copied().collect();
    let stretches: Vec<&[Token]> = run.chunk_by(|a, b| whole(a) == whole(b)).collect();
    let at = |at: Option<usize>| at.and_then(|at| stretches.get(at)).copied().unwrap_or(&[]);
    (0..stretches.len())
        .filter(|i| whole(&stretches[*i][0]))
        .filter_map(|i| {
            let burst = stretches[i];
            let (before, after) = (at(i.checked_sub(1)), at(Some(i + 1)));
            // Two bursts share the tokens between them.
            let shared = |gap: &[Token], other: bool| if other { gap.len() / 2 } else { gap.len() };
            let most = burst.len().max(NEIGHBOURS);
            let n = |gap, other| shared(gap, other).min(most);
            let before = &before[before.len() - n(before, i >= 2)..];
            let after = &after[..n(after, i + 2 < stretches.len())];
            let (first, last) = (before.last()?.at, after.first()?.at);
            pair(burst, before, after, &all[first..last])
        })
        .collect()
}

fn whole(token: &Token) -> bool {
    token.traced == Traced::Whole
}

/// `around`: all tokens from those before to those after.
fn pair(burst: &[Token], before: &[Token], after: &[Token], around: &[Token]) -> Option<Pair> {
    let cells = burst.get(burst.len() / 2)?.cells;
    let of = |tokens: &[Token], traced: Traced| -> Vec<Token> {
        tokens.iter().filter(|t| t.cells == cells && t.traced == traced).copied().collect()
    };
    let sides = [of(before, Traced::Untraced), of(burst, Traced::Whole), of(after, Traced::Untraced)];
    let [(x0, y0), (x, y), (x1, y1)] = [place(&sides[0])?, place(&sides[1])?, place(&sides[2])?];
    let base = |x: f64| y0 + (y1 - y0) * (x - x0) / (x1 - x0);
    let untraced = (sides[0].len() + sides[2].len()) as u64;
    let of_edges = || {
        // A pause of the engine affects one token, so sum all tokens here instead of taking the
        // median.
        let edges = of(around, Traced::Edge);
        let took: f64 = edges.iter().map(|t| t.ns).sum();
        let usual: f64 = edges.iter().map(|t| base(t.at as f64)).sum();
        let tokens = edges.len() as u64;
        (usual > 0.0).then(|| Edges { tokens, ratio: took / usual, extra_ns: took - usual })
    };
    (base(x) > 0.0).then(|| Pair {
        ratio: y / base(x),
        traced: sides[1].len() as u64,
        untraced,
        edges: of_edges(),
    })
}

/// Mean position and median time of tokens; `None` for no tokens.
fn place(tokens: &[Token]) -> Option<(f64, f64)> {
    let mut times: Vec<f64> = tokens.iter().map(|t| t.ns).collect();
    times.sort_unstable_by(f64::total_cmp);
    let numbers: usize = tokens.iter().map(|t| t.at).sum();
    Some((numbers as f64 / tokens.len().max(1) as f64, middle(&times)?))
}
