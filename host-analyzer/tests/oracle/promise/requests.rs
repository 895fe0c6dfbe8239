//! A conversation that a server reads from its beginning with every request.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host_analyzer::model::Model;

use super::kept_by;
use crate::support::{Parts, model, parts, read, tool};

fn ask(port: u16, method: &str, path: &str, body: &str) -> Option<String> {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json";
    write!(socket, "{method} {path} {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// Four requests, each with all of the one before and some more.
fn converse(parts: &Parts, server: &std::path::Path, cache: bool) -> Model {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--out", out.to_str().unwrap(), "--"])
        .arg(server)
        .args([
            "-m",
            &model(parts, "smollm2"),
            "-np",
            "1",
            "-t",
            "2",
            "-c",
            "2048",
            "--port",
            &port.to_string(),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !ask(port, "GET", "/health", "").is_some_and(|a| a.contains("200 OK")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    for turn in 1..=4_usize {
        let prompt: Vec<String> = (0..turn * 120).map(|i| (100 + i * 7 % 900).to_string()).collect();
        let body = format!(
            r#"{{"prompt":[{}],"n_predict":12,"cache_prompt":{cache},"ignore_eos":true}}"#,
            prompt.join(",")
        );
        let answer = ask(port, "POST", "/completion", &body).unwrap();
        assert!(answer.contains("200 OK"), "{answer}");
    }
    let children = Command::new("pgrep").args(["-P", &agent.id().to_string()]).output().unwrap().stdout;
    let pid = String::from_utf8_lossy(&children).trim().to_owned();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let begun = Instant::now();
    while agent.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            let _ = Command::new("kill").args(["-KILL", &pid]).status();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    read(&out)
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_prefix_that_is_read_again() {
    let Some(parts) = parts() else { return };
    let Some(server) = tool("llama-server") else { return };
    kept_by("prefix", &|| converse(&parts, &server, false), &|| converse(&parts, &server, true));
}
