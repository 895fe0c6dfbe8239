//! Several sequences at once: a server with parallel slots, and a draft beside its target. The engine's own counts of
//! tokens are the oracle.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{model, parts, read, record, tool};

/// One completion of 12 tokens; how many tokens were read and written.
fn complete(port: u16) -> (u64, u64) {
    let body = r#"{"prompt":[5,6,7,8,9,10,11],"n_predict":12,"cache_prompt":false,"ignore_eos":true}"#;
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head =
        "POST /completion HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json";
    write!(socket, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let json = &answer[answer.find("\r\n\r\n").unwrap()..];
    let json: serde_json::Value =
        serde_json::from_str(&json[json.find('{').unwrap()..=json.rfind('}').unwrap()]).unwrap();
    let number = |name: &str| json["timings"][name].as_u64().unwrap();
    (number("prompt_n"), number("predicted_n"))
}

/// Two requests in two slots: every token that the server says it read or wrote went through a traced call.
#[test]
fn a_server_with_two_slots() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-server") else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--out", out.to_str().unwrap(), "--"])
        .arg(program)
        .args([
            "-m",
            &model(&parts, "dense-q8"),
            "-np",
            "2",
            "-t",
            "2",
            "-c",
            "1024",
            "--port",
            &port.to_string(),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let healthy = || -> Option<bool> {
        let mut socket = TcpStream::connect(("127.0.0.1", port)).ok()?;
        socket.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).ok()?;
        Some(answer.contains("200 OK"))
    };
    while healthy() != Some(true) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    // CLOCK_MONOTONIC, on a machine that does not sleep. What the server tries out before it serves is
    // not asked for; it lies behind, and the requests come later than that.
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    let ready_ns = (uptime.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e9) as u64 + 50_000_000;
    std::thread::sleep(Duration::from_millis(100));
    let answers: Vec<_> = (0..2).map(|_| std::thread::spawn(move || complete(port))).collect();
    let answers: Vec<_> = answers.into_iter().map(|a| a.join().unwrap()).collect();
    let children = Command::new("pgrep").args(["-P", &agent.id().to_string()]).output().unwrap().stdout;
    let server = String::from_utf8_lossy(&children).trim().to_owned();
    assert!(Command::new("kill").args(["-INT", &server]).status().unwrap().success());
    let begun = Instant::now();
    while agent.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            let _ = Command::new("kill").args(["-KILL", &server]).status();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let trace = read(&out);
    assert!(trace.health.damage.is_empty() && !trace.health.cut_short(), "{:#?}", trace.health);
    // The last token of an answer is not computed with any more.
    let told: u64 = answers.iter().map(|(prompt, predicted)| prompt + predicted - 1).sum();
    let d = &trace.decodes;
    let asked = (0..d.len()).filter(|i| d.start_ns[*i] > ready_ns);
    let traced: u64 = asked.map(|i| u64::from(d.n_tokens[i])).sum();
    let calls: Vec<_> = (0..d.len()).map(|i| (d.start_ns[i], d.n_tokens[i])).collect();
    assert_eq!(traced, told, "{answers:?}, ready at {ready_ns}, calls and their tokens: {calls:?}");
}

/// Draft and target are two contexts; the target's calls check what the draft guessed.
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
    let d = &trace.decodes;
    let mut contexts = d.context.clone();
    contexts.sort_unstable();
    contexts.dedup();
    assert_eq!(contexts.len(), 2, "draft and target");
    // The draft guesses token by token: it has more calls of one token than the target.
    let ones = |context: u64| {
        (0..d.len()).filter(|i| d.context[*i] == context && d.n_tokens[*i] == 1).count() as u64
    };
    let (few, many) = (ones(contexts[0]).min(ones(contexts[1])), ones(contexts[0]).max(ones(contexts[1])));
    let guessed = number("n_drafted");
    // Its first guess comes out of the call that read the tokens accepted before, whatever their number.
    assert!(
        many <= guessed && many + 12 >= guessed && few < many / 4,
        "{many} and {few} calls for {guessed} guesses"
    );
}
