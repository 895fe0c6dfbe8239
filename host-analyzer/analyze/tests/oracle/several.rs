//! Two engines with different models at once in one recording: each has the same tokens and bytes
//! per token as in a separate recording, in a separate folder, and no figure mixes them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

use crate::support::{engine, model, parts, read, record, whole};

const PROMPT: &str = "5";
const TOKENS: [&str; 2] = ["40", "25"];
const MODELS: [&str; 2] = ["dense-q8", "moe-mixtral8"];
const NAME: &str = "profinfer-two";

/// The launcher of the engine under a unique name, so that engines of other tests are not traced.
fn launcher(nodes: &Path, folder: &Path) -> String {
    let script = fs::read_to_string(nodes).unwrap();
    let program = script.split('\'').nth(1).unwrap();
    let renamed = folder.join("exe").join(NAME);
    // The engine searches backends next to the program.
    fs::create_dir(folder.join("exe")).unwrap();
    for file in fs::read_dir(Path::new(program).parent().unwrap()).unwrap().flatten() {
        let _ = std::os::unix::fs::symlink(file.path(), folder.join("exe").join(file.file_name()));
    }
    fs::copy(program, &renamed).unwrap();
    let path = folder.join(NAME);
    fs::write(&path, script.replacen(program, renamed.to_str().unwrap(), 1)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Decode tokens and bytes read per token.
fn figures(model: &Model) -> (u64, u64, u64, u64) {
    let analysis = Analysis::compute(model);
    let token = &analysis.token;
    let bytes = analysis.roof.decode.unwrap().bytes_per_token;
    (token.decode.tokens, token.prefill.tokens, bytes.round() as u64, model.spans.len() as u64)
}

fn paused(launcher: &str, gguf: &str, tokens: &str) -> Child {
    let mut child = Command::new(launcher)
        .args(["-m", gguf, "-t", "1", "-p", PROMPT, "-n", tokens, "-c", "512", "--pause"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("ready"), "{line}");
    std::thread::spawn(move || out.lines().for_each(drop));
    child
}

#[test]
fn two_engines_at_once() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let nodes = bin.join("nodes");
    let ggufs = MODELS.map(|m| model(&parts, m));
    // Alone.
    let alone: Vec<_> = (0..2)
        .map(|i| {
            let command = ["-m", &ggufs[i], "-t", "1", "-p", PROMPT, "-n", TOKENS[i], "-c", "512"];
            let command = [&[nodes.to_str().unwrap()], &command[..]].concat();
            figures(&record(&parts, &["--levels", "token,graph,op"], &command).0)
        })
        .collect();
    assert!(alone[0].2 != alone[1].2, "two models read different bytes: {alone:?}");
    // Both at once.
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let launcher = launcher(&nodes, dir.path());
    let mut engines: Vec<Child> = (0..2).map(|i| paused(&launcher, &ggufs[i], TOKENS[i])).collect();
    let agent = Command::new(&parts.agent)
        .args(["record", "--full", "--levels", "all", "--name", NAME, "--out", out.to_str().unwrap()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let probed = || {
        let model = fs::read(&out).ok().and_then(|bytes| profinfer_trace::read(&bytes).ok());
        model.map_or(0, |m| {
            let of = |pid: u32| {
                m.session.probes.iter().any(|p| p.pid == pid && p.attached && p.what == "operator end")
            };
            engines.iter().filter(|e| of(e.id())).count()
        })
    };
    while probed() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no probes");
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_millis(500));
    for engine in &mut engines {
        engine.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }
    let pids = [engines[0].id(), engines[1].id()];
    for engine in &mut engines {
        engine.wait().unwrap();
    }
    let output = agent.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = read(&out);
    whole(&trace);
    let mut found = trace.engines();
    found.sort_unstable();
    let mut expected = pids;
    expected.sort_unstable();
    assert_eq!(found, expected);
    for (i, pid) in pids.into_iter().enumerate() {
        let one = trace.only(pid);
        assert_eq!(figures(&one), alone[i], "{}", MODELS[i]);
        // The other engine is a task like any other.
        let sched = Analysis::compute(&one).sched;
        assert!(sched.interference.iter().all(|t| t.engine == (t.pid == pid)));
    }
    // `analyze` writes one result for each.
    let analyze = |more: &[&str], folder: &Path| {
        let mut analyze = Command::new(env!("CARGO_BIN_EXE_analyze"));
        analyze.args(["--out", folder.to_str().unwrap(), out.to_str().unwrap()]).args(more).output().unwrap()
    };
    let folder = dir.path().join("profile");
    let both = analyze(&[], &folder);
    assert!(both.status.success(), "{}", String::from_utf8_lossy(&both.stderr));
    assert!(!folder.join("summary.json").exists(), "nothing is made of both");
    let summary =
        |path: &Path| -> serde_json::Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    for (i, pid) in pids.into_iter().enumerate() {
        let own = folder.join(format!("{pid}-{NAME}"));
        assert!(own.join("report.html").exists());
        let summary = summary(&own.join("summary.json"));
        assert_eq!(summary["tokens"]["decode"]["tokens"], alone[i].0);
        assert_eq!(summary["session"]["processes"].as_array().unwrap().len(), 1);
        assert_eq!(summary["session"]["processes"][0]["pid"], pid);
        // With --pid, the result of one engine is directly in the folder.
        let named = dir.path().join("named");
        assert!(analyze(&["--pid", &pid.to_string()], &named).status.success());
        let named: serde_json::Value =
            serde_json::from_slice(&fs::read(named.join("summary.json")).unwrap()).unwrap();
        assert_eq!(named["tokens"], summary["tokens"]);
    }
    assert_eq!(analyze(&["--pid", "1"], &folder).status.code(), Some(1));
    assert_eq!(analyze(&["--only", "summary.json"], &folder).status.code(), Some(1));
    for command in ["compare", "tune", "predict"] {
        let out = out.to_str().unwrap();
        let arguments = match command {
            "compare" => vec![out, out],
            "predict" => vec![ggufs[0].as_str(), "--from", out],
            _ => vec![out],
        };
        let refused = Command::new(env!("CARGO_BIN_EXE_analyze"))
            .arg(command)
            .args(arguments)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert_eq!(refused.status.code(), Some(1), "{command}");
    }
    if let Some(kept) = std::env::var_os("PROFINFER_KEEP") {
        fs::write(Path::new(&kept).join("two-engines.txt"), both.stdout).unwrap();
    }
}
