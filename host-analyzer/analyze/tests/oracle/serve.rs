//! A server of the engine under the agent, and its requests.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_trace::model::Model;
use tempfile::TempDir;

use crate::support::{Parts, read, signal, try_signal};

/// Sends requests to a server, from any thread.
#[derive(Clone, Copy)]
pub(crate) struct Address(u16);

impl Address {
    /// A server at this port of this machine.
    pub(crate) const fn new(port: u16) -> Self {
        Self(port)
    }

    pub(crate) fn healthy(self) -> bool {
        self.ask("GET", "/health", "").is_some_and(|a| a.contains("200 OK"))
    }

    /// The complete answer with its head. `None` if nobody listens.
    fn ask(self, method: &str, path: &str, body: &str) -> Option<String> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.0)).ok()?;
        let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json";
        write!(socket, "{method} {path} {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    /// The answer to a request.
    pub(crate) fn post(self, path: &str, body: &serde_json::Value) -> serde_json::Value {
        let answer = self.ask("POST", path, &body.to_string()).unwrap();
        assert!(answer.contains("200 OK"), "{answer}");
        let json = &answer[answer.find("\r\n\r\n").unwrap()..];
        let (from, to) = (json.find(['{', '[']).unwrap(), json.rfind(['}', ']']).unwrap());
        serde_json::from_str(&json[from..=to]).unwrap()
    }

    /// A completion of a prompt of token IDs.
    pub(crate) fn complete(self, prompt: &[u32], n: u32, cache: bool) -> String {
        let body = serde_json::json!({
            "prompt": prompt, "n_predict": n, "cache_prompt": cache, "ignore_eos": true,
        });
        let answer = self.ask("POST", "/completion", &body.to_string()).unwrap();
        assert!(answer.contains("200 OK"), "{answer}");
        answer
    }
}

/// The figures of a server with slots for one completion.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) slot: i32,
    /// Prompt tokens that were in the cache, prompt tokens that were computed, and generated
    /// tokens.
    pub(crate) tokens: (u32, u64, u64),
    pub(crate) prompt_ms: f64,
    pub(crate) predicted_ms: f64,
}

impl Address {
    /// A completion in one slot (-1: in any), as text: a small model may generate what the server
    /// takes for text.
    pub(crate) fn complete_in(self, slot: i32, prompt: &[u32], n: u32) -> Told {
        let body = serde_json::json!({
            "prompt": prompt, "n_predict": n, "cache_prompt": true, "ignore_eos": true, "id_slot": slot, "temperature": 0,
            "grammar": "root ::= [a-z ]+",
        });
        let json = self.post("/completion", &body);
        let told = &json["timings"];
        let tokens = |name: &str| told[name].as_u64().unwrap();
        Told {
            slot: json["id_slot"].as_i64().unwrap().try_into().unwrap(),
            tokens: (tokens("cache_n").try_into().unwrap(), tokens("prompt_n"), tokens("predicted_n")),
            prompt_ms: told["prompt_ms"].as_f64().unwrap(),
            predicted_ms: told["predicted_ms"].as_f64().unwrap(),
        }
    }
}

/// A server that is traced from its start.
pub(crate) struct Server {
    agent: Child,
    dir: TempDir,
    pub(crate) address: Address,
}

impl Server {
    /// Starts it, traces all operators, and waits until it serves.
    pub(crate) fn start(parts: &Parts, program: &Path, options: &[&str]) -> Self {
        Self::traced(parts, program, options, &["--full"])
    }

    /// Starts it with these options of the agent.
    pub(crate) fn traced(parts: &Parts, program: &Path, options: &[&str], agent: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let agent = Command::new(&parts.agent)
            .args(["record", "--out", dir.path().join("t.pfi").to_str().unwrap()])
            .args(agent)
            .arg("--")
            .arg(program)
            .args(options)
            .args(["--port", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(File::create(dir.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let server = Self { agent, dir, address: Address(port) };
        let begun = Instant::now();
        while !server.address.healthy() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// Ends it and reads the recording.
    pub(crate) fn stop(self) -> Model {
        self.stop_with_log().0
    }

    /// The same, with what the agent and the server wrote on standard error.
    pub(crate) fn stop_with_log(mut self) -> (Model, String) {
        let id = self.agent.id().to_string();
        let children = Command::new("pgrep").args(["-P", &id]).output().unwrap().stdout;
        let pid = String::from_utf8_lossy(&children).trim().parse().unwrap();
        signal(pid, Signal::SIGINT);
        let begun = Instant::now();
        while self.agent.try_wait().unwrap().is_none() {
            if begun.elapsed() > Duration::from_secs(30) {
                let _ = try_signal(pid, Signal::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read(self.dir.path().join("log")).unwrap();
        (read(&self.dir.path().join("t.pfi")), String::from_utf8_lossy(&log).into_owned())
    }
}
