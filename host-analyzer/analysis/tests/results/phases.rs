//! The phase of each call, and the figures that depend on it.

use profinfer_analysis::Analysis;
use profinfer_analysis::phase::Evidence::{self, *};
use profinfer_analysis::phase::Phase::{self, *};

use profinfer_trace::model::{DecodeFunction, NodeIdx};

use crate::models::calls::{Call, call, model};

const A: u64 = 0x5000;

fn told(calls: &[Call]) -> Vec<(Phase, Evidence)> {
    let phases = Analysis::compute(&model(calls, true)).phases;
    phases.llama_calls.into_iter().zip(phases.evidence).collect()
}

/// First call, tokens of the prompt, generated tokens.
fn requests(calls: &[Call]) -> Vec<(u32, u64, u64)> {
    let requests = Analysis::compute(&model(calls, true)).token.requests;
    requests.iter().map(|r| (r.first_call, r.prompt_tokens, r.generated)).collect()
}

#[test]
fn a_warm_up_is_no_prompt_and_no_request() {
    let calls = [call(A, 2, &[1], 0), call(A, 5, &[1], 0), call(A, 1, &[1], 5), call(A, 1, &[1], 6)];
    assert_eq!(told(&calls), [(WarmUp, Positions), (Prefill, Logits), (Decode, Logits), (Decode, Logits)]);
    assert_eq!(requests(&calls), [(1, 5, 2)]);
    let token = Analysis::compute(&model(&calls, true)).token;
    assert_eq!((token.prefill.calls, token.prefill.tokens, token.warm_up.calls), (1, 5, 1));
    // Its operators are in no other phase's sum: each graph works 50 ns.
    let op = Analysis::compute(&model(&calls, true)).op;
    assert_eq!([Prefill, Decode, WarmUp, BatchDecode].map(|p| op.wall_ns[p.index()]), [50, 100, 50, 0]);
}

#[test]
fn a_short_prompt_that_is_answered_is_no_warm_up() {
    let calls = [call(A, 2, &[1], 0), call(A, 1, &[1], 2), call(A, 2, &[1], 0), call(A, 1, &[1], 2)];
    assert_eq!(told(&calls).iter().map(|t| t.0).collect::<Vec<_>>(), [Prefill, Decode, Prefill, Decode]);
    assert_eq!(requests(&calls), [(0, 2, 1), (2, 2, 1)]);
}

#[test]
fn at_most_two_trials_begin_a_context() {
    let two = || call(A, 2, &[1], 0);
    let calls = [two(), two(), two(), call(A, 4, &[1], 0)];
    assert_eq!(told(&calls).iter().map(|t| t.0).collect::<Vec<_>>(), [WarmUp, WarmUp, Prefill, Prefill]);
    // A benchmark's generation without a prompt begins at position 0, with one token.
    let calls = [call(A, 1, &[1], 0), call(A, 1, &[1], 0), call(A, 1, &[1], 1), call(A, 1, &[1], 0)];
    assert_eq!(told(&calls).iter().map(|t| t.0).collect::<Vec<_>>(), [WarmUp, Decode, Decode, Decode]);
    // The last call of a session has no next call to show its phase, and three tokens are no trial.
    assert_eq!(told(&[two()])[0].0, Prefill);
    assert_eq!(told(&[call(A, 3, &[1], 0), call(A, 3, &[1], 0)])[0].0, Prefill);
}

/// A model with an encoder reads two tokens with it, then decodes one.
#[test]
fn a_trial_of_an_encoder_is_followed_by_one_of_its_decoder() {
    let calls = [call(A, 2, &[1], 0), call(A, 1, &[1], 0), call(A, 5, &[1], 0), call(A, 1, &[1], 0)];
    let mut m = model(&calls, true);
    for encode in [0, 2] {
        m.llama_calls.function[encode] = DecodeFunction::LlamaEncode;
    }
    let phases = Analysis::compute(&m).phases.llama_calls;
    assert_eq!((phases[0], phases[1]), (WarmUp, WarmUp));
    assert_ne!(phases[3], WarmUp);
}

#[test]
fn parallel_sequences_are_no_prompt() {
    let calls = [
        call(A, 7, &[1], 0),
        // The second prompt, while the first sequence continues.
        call(A, 8, &[2], 7),
        call(A, 2, &[2], 8),
        call(A, 2, &[2], 9),
        call(A, 1, &[1], 10),
    ];
    let phases: Vec<_> = told(&calls).iter().map(|t| t.0).collect();
    assert_eq!(phases, [Prefill, Prefill, BatchDecode, BatchDecode, Decode]);
    let a = Analysis::compute(&model(&calls, true));
    assert_eq!((a.token.batch_decode.calls, a.token.batch_decode.tokens), (2, 4));
    assert_eq!(a.thread[0].batch_decode_work_ns, 100);
    // Which token is of which sequence is unknown.
    assert_eq!(requests(&calls), []);
}

#[test]
fn a_prompt_of_several_graphs_has_the_logits_of_all() {
    // The engine splits a call into graphs of at most 512 tokens.
    let calls = [call(A, 1_024, &[0, 1], 0), call(A, 1_024, &[512, 512], 1_024)];
    let phases = Analysis::compute(&model(&calls, true)).phases;
    assert_eq!(phases.logits, [Some(1), Some(1_024)]);
    assert_eq!(phases.llama_calls, [Prefill, BatchDecode]);
}

#[test]
fn without_the_graph_the_number_of_tokens_tells_and_says_so() {
    let calls = [call(A, 5, &[], 0), call(A, 5, &[], 5), call(A, 1, &[], 10)];
    assert_eq!(told(&calls), [(Prefill, Tokens), (Prefill, Tokens), (Decode, Tokens)]);
    assert_eq!(Analysis::compute(&model(&calls, true)).token.prefill.phase_by_token_count, 2);
    // An engine that computes logits for all tokens: they show nothing.
    let calls = [call(A, 5, &[5], 0), call(A, 5, &[5], 5), call(A, 1, &[1], 10)];
    let phases = Analysis::compute(&model(&calls, false)).phases;
    assert_eq!((phases.llama_calls, phases.evidence), (vec![Prefill, Prefill, Decode], vec![Tokens; 3]));
}

/// whisper.cpp: graphs without a token level, that have logits for all tokens and show no positions.
#[test]
fn hypotheses_are_no_prompt() {
    let rows = [0, 0, 4, 5, 5, 3, 1, 2, 4, 4, 0, 1, 1];
    let calls: Vec<Call> = rows.iter().map(|n| call(A, *n, &[u64::from(*n)], 0)).collect();
    let mut m = model(&calls, false);
    m.llama_calls.function.fill(DecodeFunction::Graph);
    m.graph_calls.n_past.fill(None);
    // The last product is one with the table of the tokens, which the first node reads.
    for topology in &mut m.topologies.rows {
        let last = topology.n_nodes as usize - 1;
        let table = (0, NodeIdx(topology.n_nodes));
        topology.nodes[0].src = vec![table];
        topology.nodes[last].src = vec![table];
        topology.nodes[last].op = topology.nodes[3].op;
        topology.nodes[last].ne = topology.nodes[0].ne;
    }
    let phases = Analysis::compute(&m).phases.llama_calls;
    let expected = [
        Encode,
        Encode,
        Prefill,
        BatchDecode,
        BatchDecode,
        BatchDecode,
        Decode,
        Prefill,
        BatchDecode,
        BatchDecode,
        Encode,
        Prefill,
        Decode,
    ];
    assert_eq!(phases, expected);
}
