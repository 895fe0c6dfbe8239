//! Several sequences at once: a server with parallel slots, and a draft with its target. The oracle
//! is the engine's own count of tokens.

use std::time::Duration;

use crate::serve::{Address, Server};
use crate::support::{model, parts, record, tool};

/// One completion of 12 tokens. Returns the numbers of prompt and generated tokens.
fn complete(address: Address) -> (u64, u64) {
    let answer = address.complete(&[5, 6, 7, 8, 9, 10, 11], 12, false);
    let json = &answer[answer.find("\r\n\r\n").unwrap()..];
    let json: serde_json::Value =
        serde_json::from_str(&json[json.find('{').unwrap()..=json.rfind('}').unwrap()]).unwrap();
    let number = |name: &str| json["timings"][name].as_u64().unwrap();
    (number("prompt_n"), number("predicted_n"))
}

/// Two requests in two slots: every token that the server counts passed through a traced call.
#[test]
fn a_server_with_two_slots() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-server") else { return };
    let options = ["-m", &model(&parts, "dense-q8"), "-np", "2", "-t", "2", "-c", "1024"];
    let server = Server::start(&parts, &program, &options);
    // CLOCK_MONOTONIC, on a machine that does not sleep. The server's own warm-up is not a request;
    // it is earlier than the requests.
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    let ready_ns = (uptime.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e9) as u64 + 50_000_000;
    std::thread::sleep(Duration::from_millis(100));
    let address = server.address;
    let answers: Vec<_> = (0..2).map(|_| std::thread::spawn(move || complete(address))).collect();
    let answers: Vec<_> = answers.into_iter().map(|a| a.join().unwrap()).collect();
    let trace = server.stop();
    assert!(trace.health.damage.is_empty() && !trace.health.cut_short(), "{:#?}", trace.health);
    // The last token of an answer is not computed with any more.
    let told: u64 = answers.iter().map(|(prompt, predicted)| prompt + predicted - 1).sum();
    let d = &trace.llama_calls;
    let asked = (0..d.len()).filter(|i| d.start_ns[*i] > ready_ns);
    let traced: u64 = asked.map(|i| u64::from(d.n_tokens[i])).sum();
    let calls: Vec<_> = (0..d.len()).map(|i| (d.start_ns[i], d.n_tokens[i])).collect();
    assert_eq!(traced, told, "{answers:?}, ready at {ready_ns}, calls and their tokens: {calls:?}");
}

/// Draft and target are two contexts; the calls of the target verify the draft's tokens.
#[test]
fn a_draft_and_its_target() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-speculative-simple") else { return };
    let (target, draft) = (model(&parts, "spec-target"), model(&parts, "spec-draft"));
    let command = [
        program.to_str().unwrap(),
        "--spec-type",
        "draft-simple",
        "-m",
        &target,
        "-md",
        &draft,
        "--spec-draft-n-max",
        "4",
        "--temp",
        "0",
        "-n",
        "24",
        "-t",
        "2",
        "-p",
        "a b c d",
    ];
    let (trace, output) = record(&parts, &[], &command);
    assert!(trace.health.damage.is_empty() && !trace.health.cut_short(), "{:#?}", trace.health);
    let said = String::from_utf8_lossy(&output.stderr);
    let number = |name: &str| -> u64 {
        let line = said.lines().find(|l| l.contains(name)).unwrap_or_else(|| panic!("{said}"));
        line.rsplit('=').next().unwrap().split_whitespace().next().unwrap().parse().unwrap()
    };
    let d = &trace.llama_calls;
    let mut contexts = d.context.clone();
    contexts.sort_unstable();
    contexts.dedup();
    assert_eq!(contexts.len(), 2, "draft and target");
    // The draft generates token by token: it has more calls of one token than the target.
    let ones = |context: u64| {
        (0..d.len()).filter(|i| d.context[*i] == context && d.n_tokens[*i] == 1).count() as u64
    };
    let (few, many) = (ones(contexts[0]).min(ones(contexts[1])), ones(contexts[0]).max(ones(contexts[1])));
    let guessed = number("n_drafted");
    // Its first token comes from the call that read the accepted tokens, whatever their number.
    assert!(
        many <= guessed && many + 12 >= guessed && few < many / 4,
        "{many} and {few} calls for {guessed} guesses"
    );
}
