//! A router: llama-server without a model starts one process per requested model and computes
//! nothing itself. The oracle is what each of these processes reports for its requests.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_analysis::Analysis;
use profinfer_analysis::ending::{EndingCode, EndingState};
use profinfer_trace::model::Model;
use serde_json::{Value, json};

use crate::serve::Address;
use crate::support::{Parts, model, parts, read, signal, tool, try_signal, whole};

/// Exit status of the agent if nothing was traced.
const NOTHING_TRACED: i32 = 3;

/// Prompt tokens that were computed, and generated tokens.
type Tokens = (u64, u64);

struct Router {
    process: Child,
    address: Address,
    dir: tempfile::TempDir,
}

impl Router {
    /// Starts one that offers these models and keeps two of them loaded.
    fn start(parts: &Parts, models: &[&str]) -> Option<Self> {
        let server = tool("llama-server")?;
        let dir = tempfile::tempdir().unwrap();
        for name in models {
            symlink(model(parts, name), dir.path().join(format!("{name}.gguf"))).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = File::create(dir.path().join("log")).unwrap();
        // The router executes its own program again, /proc/self/exe, which is the dynamic linker if
        // a launcher starts it. So start it without the launcher, in a mount namespace in which the
        // engine's linker is the system's.
        let script = fs::read_to_string(server).unwrap();
        let quoted: Vec<&str> = script.split('\'').skip(1).step_by(2).collect();
        let [exe, libraries, program] = quoted[..] else { panic!("{script}") };
        let backend = Path::new(exe).with_file_name("libggml-cpu-x64.so");
        let start = r#"mount --bind "$0" /lib64/ld-linux-x86-64.so.2 && export LD_LIBRARY_PATH="$1" && exec "$2" "${@:3}""#;
        let linker = fs::read_link(exe).unwrap_or_else(|_| exe.into());
        let process = Command::new("unshare")
            .args(["-m", "bash", "-c", start, linker.to_str().unwrap(), libraries, program])
            .env("GGML_BACKEND_PATH", backend)
            .args(["--models-dir", dir.path().to_str().unwrap(), "--models-max", "2"])
            .args(["--port", &port.to_string(), "-t", "1", "-c", "512", "--no-webui"])
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let router = Self { process, address: Address::new(port), dir };
        router.until("the router", || router.address.healthy());
        Some(router)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    fn until(&self, what: &str, done: impl Fn() -> bool) {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}: not in a minute\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The tokens of a completion, as its process counts them.
    fn complete(&self, model: &str, n: u32) -> Tokens {
        let body = json!({
            "model": model, "prompt": "Once upon a time", "n_predict": n, "cache_prompt": false, "ignore_eos": true,
        });
        let timings = &self.address.post("/completion", &body)["timings"];
        let tokens = |name: &str| timings[name].as_u64().unwrap();
        (tokens("prompt_n"), tokens("predicted_n"))
    }

    fn trace(&self) -> PathBuf {
        self.dir.path().join("trace.pfi")
    }

    fn agent(&self, parts: &Parts, options: &[&str]) -> Child {
        Command::new(&parts.agent)
            .args(["record", "--full", "--format", "json", "--out", self.trace().to_str().unwrap()])
            .args(["--pid", &self.process.id().to_string()])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The recording as far as it is written.
    fn so_far(&self) -> Option<Model> {
        profinfer_trace::read(&fs::read(self.trace()).ok()?).ok()
    }

    /// Living processes that the router started.
    fn children(&self) -> Vec<u32> {
        let found = Command::new("pgrep").args(["-P", &self.process.id().to_string()]).output().unwrap();
        String::from_utf8(found.stdout).unwrap().lines().map(|pid| pid.parse().unwrap()).collect()
    }

    /// The process of a model, by its command line.
    fn child(&self, model: &str) -> u32 {
        let command = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let of = |pid: &u32| String::from_utf8_lossy(&command(pid)).contains(&format!("{model}.gguf"));
        self.children().into_iter().find(of).unwrap()
    }

    fn stop(&mut self) {
        signal(self.process.id(), Signal::SIGTERM);
        self.process.wait().unwrap();
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        for pid in self.children() {
            let _ = try_signal(pid, Signal::SIGKILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the agent reports at its end, and its exit status.
fn ended(agent: Child) -> (Value, Option<i32>, String) {
    let output = agent.wait_with_output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout);
    (report.unwrap_or_else(|e| panic!("{e}: {log}")), output.status.code(), log)
}

#[test]
fn its_children_are_named_where_they_are_not_followed() {
    let Some(parts) = parts() else { return };
    let Some(mut router) = Router::start(&parts, &["smollm2"]) else { return };
    let agent = router.agent(&parts, &[]);
    router.until("the session", || fs::metadata(router.trace()).is_ok_and(|m| m.len() > 3_000));
    router.complete("smollm2", 8);
    let children = router.children();
    std::thread::sleep(Duration::from_millis(1500));
    signal(agent.id(), Signal::SIGINT);
    let (report, status, log) = ended(agent);
    router.stop();
    assert_eq!(status, Some(NOTHING_TRACED), "{log}");
    let [child] = children[..] else { panic!("{children:?}") };
    let nothing = &report["nothing_traced"];
    assert_eq!(
        (&nothing["code"], &nothing["pid"]),
        (&json!("children_compute"), &json!(router.process.id()))
    );
    let [named] = &nothing["children"].as_array().unwrap()[..] else { panic!("{nothing}") };
    assert_eq!(named["pid"], child);
    assert!(named["name"].as_str().unwrap().starts_with("llama-server"), "{named}");
    assert!(named["command"].as_str().unwrap().contains("smollm2.gguf"), "{named}");
    // The log has it while the session runs, and the options that help.
    let line = log.lines().position(|l| l.contains(&format!("child {child}"))).unwrap();
    let line = log.lines().skip(line).take(2).collect::<String>();
    assert!(
        ["smollm2.gguf", &format!("--pid {child}"), "--follow"].iter().all(|w| line.contains(w)),
        "{log}"
    );
    let ending = Analysis::compute(&read(&router.trace())).ending;
    assert_eq!((ending.code, ending.state), (EndingCode::ChildrenCompute, EndingState::Bad));
    assert_eq!(ending.pid, Some(router.process.id()));
    let [named] = &ending.children[..] else { panic!("{ending:?}") };
    assert!(named.pid == child && named.command.contains("smollm2.gguf"), "{named:?}");
}

/// A child that runs when the session begins, one that starts later, and one for which the first is
/// ended: each has its own calls, requests and model.
#[test]
fn its_children_are_followed() {
    const MODELS: [&str; 3] = ["smollm2", "qwen2-q8", "dense-q8"];
    let Some(parts) = parts() else { return };
    let Some(mut router) = Router::start(&parts, &MODELS) else { return };
    router.complete(MODELS[0], 2);
    let first = router.child(MODELS[0]);
    let agent = router.agent(&parts, &["--follow"]);
    router.until("the probes of the first child", || {
        router.so_far().is_some_and(|m| {
            m.session.probes.iter().any(|p| p.pid == first && p.attached && p.what == "operator end")
        })
    });
    std::thread::sleep(Duration::from_millis(500));
    let mut told: BTreeMap<u32, (&str, Vec<Tokens>)> = BTreeMap::new();
    for (name, n) in [(MODELS[0], 8), (MODELS[1], 6), (MODELS[1], 5), (MODELS[2], 7), (MODELS[2], 4)] {
        let tokens = router.complete(name, n);
        told.entry(router.child(name)).or_insert((name, Vec::new())).1.push(tokens);
    }
    assert_eq!(told.len(), MODELS.len());
    assert!(!router.children().contains(&first), "the router ends one to load the third model");
    router.stop();
    let (report, status, log) = ended(agent);
    assert_eq!((&report["reason"], status), (&json!("engine_ended"), Some(0)), "{log}");
    let trace = read(&router.trace());
    whole(&trace);
    let mut engines = trace.engines();
    engines.sort_unstable();
    assert_eq!(engines, told.keys().copied().collect::<Vec<_>>(), "{log}");
    for (pid, (name, requests)) in &told {
        let process = trace.session.processes.iter().find(|p| p.pid == *pid).unwrap();
        assert!(process.command.contains(&format!("{name}.gguf")), "{process:?}");
        let one = trace.only(*pid);
        let ours: Vec<_> = Analysis::compute(&one)
            .token
            .requests
            .iter()
            .map(|r| (r.prompt_tokens, r.generated + u64::from(r.ttft_ns.is_some())))
            .collect();
        assert_eq!(ours, *requests, "{name}");
    }
    // `analyze` writes one result for each.
    let folder = router.dir.path().join("profile");
    let mut analyze = Command::new(env!("CARGO_BIN_EXE_analyze"));
    let analyzed = analyze.arg("--out").arg(&folder).arg(router.trace()).output().unwrap();
    assert!(analyzed.status.success(), "{}", String::from_utf8_lossy(&analyzed.stderr));
    for pid in told.keys() {
        let found = fs::read_dir(&folder).unwrap().flatten();
        let own = found.map(|f| f.path()).find(|p| p.to_str().unwrap().contains(&format!("{pid}-")));
        let summary = fs::read(own.unwrap().join("summary.json")).unwrap();
        let summary: Value = serde_json::from_slice(&summary).unwrap();
        assert_eq!(summary["session"]["processes"][0]["pid"], *pid);
    }
}
