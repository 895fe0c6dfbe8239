//! Phases of `llama_decode` calls, compared with the engine's own counts and timings.

use profinfer_analysis::Analysis;
use profinfer_analysis::phase::{Evidence, Phase};

use crate::support::{model, parts, record, tool};

/// Milliseconds and tokens (or runs) of one line of the engine's timings.
fn timing(said: &str, name: &str) -> (f64, u64) {
    let line = said.lines().find(|l| l.contains(&format!("{name} ="))).unwrap_or_else(|| panic!("{said}"));
    let figures = line.split_once('=').unwrap().1;
    let mut numbers = figures.split(|c: char| !c.is_ascii_digit() && c != '.').filter(|w| !w.is_empty());
    (numbers.next().unwrap().parse().unwrap(), numbers.next().unwrap().parse().unwrap())
}

/// The engine resets its timings after the warm-up; so do our figures.
#[test]
fn the_warm_up_is_in_no_figure() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-completion") else { return };
    let gguf = model(&parts, "smollm2");
    let prompt = "The capital of France is a city that lies on the river";
    let command = [program.to_str().unwrap(), "-m", &gguf, "-t", "1", "-n", "16", "-p", prompt];
    let command = [&command[..], &["--temp", "0", "-no-cnv", "--ignore-eos"]].concat();
    let (trace, output) = record(&parts, &[], &command);
    let said = String::from_utf8_lossy(&output.stderr);
    let token = Analysis::compute(&trace).token;
    let (prompt_ms, prompt_tokens) = timing(&said, "prompt eval time");
    let (_, runs) = timing(&said, "       eval time");
    assert_eq!((token.warm_up.calls, token.warm_up.tokens), (1, 2), "begin and end of a text");
    assert_eq!((token.prefill.tokens, token.decode.calls), (prompt_tokens, runs));
    let ours = token.prefill.time_ns as f64 / 1e6;
    println!("prompt: {ours:.2} ms traced, {prompt_ms:.2} ms by the engine");
    assert!((ours / prompt_ms - 1.0).abs() < 0.02, "{ours} against {prompt_ms}");
    assert_eq!(token.requests.len(), 1);
    assert_eq!((token.requests[0].prompt_tokens, token.requests[0].generated), (prompt_tokens, runs));
    assert!(token.calls.iter().all(|c| c.phase_by != Evidence::Tokens));
}

/// Number of decoded tokens that the tool prints, and the final length of each sequence, prompt
/// included. Sequences end early if the sampler, which has another seed in each run, chooses an end
/// of text.
fn batched(said: &str) -> Option<(u64, Vec<u64>)> {
    let digits = |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let decoded = said.split_once("decoded ")?.1;
    let lengths = said.split("finished at n_cur = ").skip(1).filter_map(|rest| {
        let figure = &rest[..digits(rest)];
        // The line may lack its end. Then the time of the next line follows, whose minutes have one
        // digit: `16` and `0.00.167.699`.
        let joined = rest[figure.len()..].starts_with('.');
        figure[..figure.len() - usize::from(joined)].parse().ok()
    });
    let lengths: Vec<u64> = lengths.collect();
    (lengths.len() == SEQUENCES).then_some((decoded[..digits(decoded)].parse().ok()?, lengths))
}

const SEQUENCES: usize = 4;

/// Several sequences at once: the tool counts their tokens.
#[test]
fn parallel_sequences_are_told_by_their_logits() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-batched") else { return };
    let gguf = model(&parts, "dense-q8");
    let command = [program.to_str().unwrap(), "-m", &gguf, "-t", "1", "-n", "16", "-p", "a b c"];
    let command = [&command[..], &["-np", "4", "-c", "1024", "-kvu"]].concat();
    // The tool exits without waiting for its logger: in a few of a hundred runs, the last lines are
    // missing.
    let runs = std::iter::repeat_with(|| record(&parts, &[], &command)).take(8);
    let mut whole = runs.filter_map(|(trace, output)| {
        let said = [output.stdout, output.stderr].concat();
        batched(&String::from_utf8_lossy(&said)).map(|counts| (trace, counts))
    });
    let (trace, (decoded, lengths)) = whole.next().expect("a run whose lines were all written");

    let token = Analysis::compute(&trace).token;
    let prompt = token.prefill.tokens;
    assert_eq!(
        lengths.iter().map(|length| length - prompt).sum::<u64>(),
        decoded,
        "the tool agrees with itself"
    );
    // A call has one token of each sequence that is longer than its start.
    let longest = lengths.iter().max().unwrap();
    let expected: Vec<u64> =
        (prompt..*longest).map(|at| lengths.iter().filter(|length| **length > at).count() as u64).collect();
    let calls: Vec<_> = token.calls.iter().filter(|c| c.phase != Phase::Prefill).collect();
    assert_eq!(calls.iter().map(|c| c.logits.unwrap()).collect::<Vec<_>>(), expected);
    assert_eq!(calls.iter().map(|c| u64::from(c.n_tokens.unwrap())).collect::<Vec<_>>(), expected);
    assert!(calls.iter().all(|c| (c.phase == Phase::BatchDecode) == (c.logits > Some(1))));
    assert_eq!((token.prefill.calls, token.warm_up.calls), (1, 0));
    assert_eq!(token.batch_decode.tokens + token.decode.tokens, decoded);
    assert_eq!(token.requests.iter().map(|r| r.generated).sum::<u64>(), decoded);
}
