//! Requests of an engine that fills its batches by functions (llama.cpp 0.6.0 and later), compared
//! with the engine's own counts for each: cached, computed and generated tokens.

use std::thread;

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::Findings;
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_analysis::request::Request;
use profinfer_trace::model::{HousekeepingKind, Model};

use crate::serve::{Address, Server, Told};
use crate::support::{model, parts, record, tool};

/// Cached, computed and generated tokens.
type Tokens = (Option<u32>, u64, u64);

/// The token level suffices, with graphs to see that a context was shifted.
const LEVELS: [&str; 2] = ["--levels", "token,graph"];

/// Runs a server with `options` on a model, and what `ask` does with it.
fn serve<T>(name: &str, options: &[&str], ask: impl FnOnce(Address) -> T) -> Option<(Model, T)> {
    let parts = parts()?;
    let program = tool("llama-server")?;
    let model = model(&parts, name);
    let server = Server::traced(&parts, &program, &[&["-m", &model, "-t", "2"], options].concat(), &LEVELS);
    let told = ask(server.address);
    Some((server.stop(), told))
}

/// A prompt of tokens that represent text; another one for each `seed`.
fn prompt(n: u32, seed: u32) -> Vec<u32> {
    (0..n).map(|i| 300 + (seed * 37 + i * (seed + 1)) % 200).collect()
}

fn tokens(r: &Request) -> Tokens {
    // The first token comes from the call of the prompt.
    (r.reused, r.prompt_tokens, r.generated + u64::from(r.ttft_ns.is_some()))
}

/// The requests are those of the server, no matter in which order they ended.
fn are_what_the_server_says(trace: &Model, told: &[Told]) {
    assert!(trace.health.damage.is_empty() && !trace.health.cut_short(), "{:#?}", trace.health);
    let ledger = trace.health.parts.unwrap();
    assert!(ledger.balances() && ledger.tokens == ledger.received, "{ledger:?}");
    let a = Analysis::compute(trace);
    let mut ours: Vec<_> = a.token.requests.iter().map(|r| (tokens(r), r.ttft_ns)).collect();
    let mut told: Vec<_> = told.iter().map(|t| ((Some(t.tokens.0), t.tokens.1, t.tokens.2), t)).collect();
    ours.sort_by_key(|(tokens, _)| *tokens);
    told.sort_by_key(|(tokens, _)| *tokens);
    let of = |rows: &[(Tokens, &Told)]| rows.iter().map(|(tokens, _)| *tokens).collect::<Vec<_>>();
    assert_eq!(ours.iter().map(|(tokens, _)| *tokens).collect::<Vec<_>>(), of(&told));
    for ((_, ttft), (_, told)) in ours.iter().zip(&told) {
        let ms = ttft.unwrap() as f64 / 1e6;
        println!("TTFT {ms:.2} ms, {:.2} ms by the server", told.prompt_ms);
    }
}

/// The server computes the end of a long prompt in calls of their own, to keep a checkpoint.
#[test]
fn a_prompt_that_the_server_splits_is_one() {
    let ask = |address: Address| [300, 900].map(|n| address.complete_in(-1, &prompt(n, n), 8)).to_vec();
    let Some((trace, told)) = serve("gemma2-q8", &["-np", "1", "-c", "4096"], ask) else { return };
    assert!(trace.llama_calls.n_tokens.contains(&512), "{:?}", trace.llama_calls.n_tokens);
    are_what_the_server_says(&trace, &told);
}

/// The copies of the state that the server keeps as checkpoints are those of its log, with their sizes.
#[test]
fn checkpoints_of_a_prompt() {
    let (Some(parts), Some(program)) = (parts(), tool("llama-server")) else { return };
    let model = model(&parts, "gemma2-q8");
    let options = ["-m", &model, "-t", "2", "-np", "1", "-c", "4096", "--cache-ram", "0", "-lv", "5"];
    let server = Server::traced(&parts, &program, &options, &LEVELS);
    for seed in 1..3 {
        server.address.complete_in(-1, &prompt(900, seed), 4);
    }
    let (trace, log) = server.stop_with_log();
    // `… created context checkpoint 1 of 32 (pos_min = 384, …, size = 12.013 MiB)`
    let said = log.lines().filter(|line| line.contains("created context checkpoint"));
    let said: Vec<f64> = said
        .map(|line| line.rsplit_once("size = ").unwrap().1.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(said.len() >= 2, "{log}");
    let saved = trace.housekeeping.iter().filter(|h| h.kind == HousekeepingKind::SaveState);
    let saved: Vec<f64> = saved.map(|h| h.bytes as f64 / f64::from(1 << 20)).collect();
    assert_eq!(saved.len(), said.len(), "{saved:?} {said:?}");
    for (ours, theirs) in saved.iter().zip(&said) {
        assert!((ours - theirs).abs() < 0.001, "{ours} MiB, {theirs} by the server");
    }
    let a = Analysis::compute(&trace);
    let first = a.ladder.of(Question::FirstToken).unwrap();
    let copies = trace.housekeeping.iter().filter(|h| h.kind == HousekeepingKind::SaveState);
    let in_prompts: u64 = copies.map(|h| h.duration_ns).sum();
    let step = first.steps.iter().find(|s| s.kind == StepKind::StateCopies).map_or(0, |s| s.ns);
    println!("copies of states: {in_prompts} ns, {step} ns in the times to the first token");
    assert!(step > 0 && step.unsigned_abs() <= in_prompts);
}

/// All but the last token are cached: a request begins with a call of one token.
#[test]
fn the_same_prompt_again_is_another_request() {
    let ask = |address: Address| (0..4).map(|_| address.complete_in(-1, &prompt(40, 1), 8)).collect();
    let Some((trace, told)) = serve::<Vec<Told>>("smollm2", &["-np", "1", "-c", "1024"], ask) else { return };
    assert!(told[1..].iter().all(|t| t.tokens.1 == 1), "{told:?}");
    are_what_the_server_says(&trace, &told);
}

/// More clients than slots, with prompts and answers of several lengths.
#[test]
fn clients_that_come_and_go() {
    let ask = |address: Address| {
        let clients: Vec<_> = (0..8)
            .map(|i| thread::spawn(move || address.complete_in(-1, &prompt(20 + 7 * i, i), 6 + i)))
            .collect();
        clients.into_iter().map(|c| c.join().unwrap()).collect()
    };
    let Some((trace, told)) = serve::<Vec<Told>>("smollm2", &["-np", "4", "-c", "4096"], ask) else { return };
    are_what_the_server_says(&trace, &told);
}

/// A full context drops its oldest cells; the answer goes on at a lower position.
#[test]
fn a_context_that_is_shifted() {
    let options = ["-np", "1", "-c", "256", "--context-shift"];
    let ask = |address: Address| vec![address.complete_in(-1, &prompt(30, 2), 400)];
    let Some((trace, told)) = serve("smollm2", &options, ask) else { return };
    are_what_the_server_says(&trace, &told);
}

/// State that does not go back: such a model reads a prompt again from a checkpoint.
#[test]
fn a_hybrid_model() {
    let ask = |address: Address| {
        let prompts = [prompt(600, 3), prompt(600, 3), prompt(80, 4)];
        prompts.map(|prompt| address.complete_in(-1, &prompt, 6)).to_vec()
    };
    let Some((trace, told)) = serve("lfm2-q8", &["-np", "1", "-c", "2048"], ask) else { return };
    are_what_the_server_says(&trace, &told);
}

/// The server reads the prompt in one slot and copies it to two others, which answer it as well.
#[test]
fn several_answers_to_a_prompt() {
    let ask = |address: Address| {
        let body = serde_json::json!({
            "prompt": prompt(30, 1), "n_predict": 9, "n_cmpl": 3, "ignore_eos": true, "temperature": 0,
        });
        let answers = address.post("/completion", &body);
        let told = |answer: &serde_json::Value| answer["timings"]["predicted_n"].as_u64().unwrap();
        answers.as_array().unwrap().iter().map(told).collect::<Vec<_>>()
    };
    let Some((trace, told)) = serve("smollm2", &["-np", "4", "-c", "4096"], ask) else { return };
    assert_eq!(told, [9; 3]);
    let mut ours: Vec<_> = Analysis::compute(&trace).token.requests.iter().map(tokens).collect();
    ours.sort_unstable();
    assert_eq!(ours, [(Some(0), 30, 9), (Some(30), 0, 9), (Some(30), 0, 9)]);
}

/// What a tool writes to its log while it is traced.
fn traced_log(name: &str, options: &[&str]) -> Option<(Model, String)> {
    let parts = parts()?;
    let program = tool(name)?;
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let own = ["-m", &model(&parts, "smollm2"), "-t", "2", "--log-file", log.to_str().unwrap()];
    let (trace, _) = record(&parts, &LEVELS, &[&[program.to_str().unwrap()][..], &own, options].concat());
    Some((trace, std::fs::read_to_string(&log).unwrap()))
}

/// The number that follows a word in a log.
fn number_after(log: &str, word: &str) -> u64 {
    let (_, rest) = log.rsplit_once(word).unwrap_or_else(|| panic!("no '{word}' in {log}"));
    let digits = |c: char| !c.is_ascii_digit();
    rest.trim_start_matches(digits).split(digits).next().unwrap().parse().unwrap()
}

/// The last token of the prompt has a call of its own. The call before has an output, too, which nobody takes.
#[test]
fn a_prompt_whose_last_token_has_a_call() {
    let text = "the quick brown fox jumps over the lazy dog ".repeat(3);
    let guess = ["-c", "1024", "-n", "24", "--spec-draft-n-max", "8", "--logit-bias", "301+100"];
    let options = [&guess[..], &["--temp", "0", "--ignore-eos", "-p", &text]].concat();
    let Some((trace, log)) = traced_log("llama-lookup", &options) else { return };
    let ours: Vec<_> = Analysis::compute(&trace).token.requests.iter().map(tokens).collect();
    let told = (Some(0), number_after(&log, "encoded"), number_after(&log, "n_predict"));
    assert_eq!(ours, [told]);
}

/// Texts that are only read: each is a request without an answer.
#[test]
fn embeddings_are_texts() {
    let texts = [12, 30, 18, 55];
    let options = ["--embeddings", "--pooling", "mean", "-np", "4", "-c", "2048"];
    let ask = |address: Address| {
        let all: Vec<_> = texts.iter().map(|n| prompt(*n, *n)).collect();
        address.post("/embedding", &serde_json::json!({ "content": all }))
    };
    let Some((trace, _)) = serve("smollm2", &options, ask) else { return };
    let a = Analysis::compute(&trace);
    let mut ours: Vec<_> =
        a.token.requests.iter().map(|r| (r.prompt_tokens, r.generated, r.ttft_ns)).collect();
    ours.sort_unstable();
    let mut texts = texts.map(|n| (u64::from(n), 0, None));
    texts.sort_unstable();
    assert_eq!(ours, texts);
}

/// A text of which the logits of half of the tokens are compared, in several sequences.
#[test]
fn a_perplexity_generates_nothing() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-perplexity") else { return };
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("text");
    std::fs::write(&text, "the quick brown fox jumps over the lazy dog ".repeat(120)).unwrap();
    let command = [
        program.to_str().unwrap(),
        "-m",
        &model(&parts, "smollm2"),
        "-f",
        text.to_str().unwrap(),
        "-c",
        "256",
        "--chunks",
        "3",
        "-t",
        "2",
    ];
    let (trace, _) = record(&parts, &LEVELS, &command);
    let a = Analysis::compute(&trace);
    let ours: Vec<_> = a.token.requests.iter().map(tokens).collect();
    assert_eq!(ours, [(Some(0), 256, 0); 3]);
}

/// A prompt that the program reads in batches of 16, with an output of each.
#[test]
fn a_prompt_in_small_batches_is_one() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-completion") else { return };
    let text = "the quick brown fox jumps over the lazy dog ".repeat(12);
    let model = model(&parts, "smollm2");
    let options = ["-n", "6", "-b", "16", "-ub", "16", "-t", "2", "-no-cnv", "--ignore-eos", "--temp", "0"];
    let command = [&[program.to_str().unwrap(), "-m", &model, "-p", &text][..], &options].concat();
    let (trace, output) = record(&parts, &LEVELS, &command);
    let log = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let line = log.lines().find(|line| line.contains("prompt eval time")).unwrap();
    let told: u64 = line.split('/').nth(1).unwrap().trim().split(' ').next().unwrap().parse().unwrap();
    assert!(told > 64, "{line}");
    let a = Analysis::compute(&trace);
    assert_eq!(a.token.requests.iter().map(tokens).collect::<Vec<_>>(), [(Some(0), told, 6)]);
}

/// A server that continues four texts at a time: one figure for all, and one for each.
#[test]
fn several_slots_have_a_speed_of_their_own() {
    let ask = |address: Address| {
        let clients: Vec<_> =
            (0..4).map(|i| thread::spawn(move || address.complete_in(i, &prompt(24, 5), 40))).collect();
        clients.into_iter().map(|c| c.join().unwrap()).collect()
    };
    let options = ["-np", "4", "-c", "2048"];
    let Some((trace, told)) = serve::<Vec<Told>>("smollm2", &options, ask) else { return };
    are_what_the_server_says(&trace, &told);
    let a = Analysis::compute(&trace);
    let h = Findings::compute(&trace, &a).headline;
    let slots = h.sequences.unwrap();
    assert!((2.0..=4.0).contains(&slots) && h.texts.is_none(), "{h:?}");
    // Each slot's speed by the server; the calls with prompts of others are not in the headline.
    let each = told.iter().map(|t| (t.tokens.2 - 1) as f64 * 1e3 / t.predicted_ms).fold(0.0, f64::max);
    println!(
        "{slots:.2} slots, {:.1} t/s each, at most {each:.1} by the server",
        h.tokens_per_s.unwrap() / slots
    );
    let ladder = a.ladder.rows.iter().find(|l| l.question == Question::Decode).unwrap();
    assert_eq!(ladder.tokens_per_s(), h.tokens_per_s);
    assert_eq!(ladder.units, h.tokens);
}
