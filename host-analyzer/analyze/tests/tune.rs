//! `analyze tune` from the command line, with a script in place of the agent: what it starts, in
//! which order, and its errors. tests/oracle/tune.rs uses the agent and an engine.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/demo.pfi");

fn tune(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_analyze"))
        .current_dir(folder)
        .arg("tune")
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Logs its command, and returns an old recording.
fn agent(folder: &Path) -> PathBuf {
    let body =
        format!("shift 4; out=$1; shift 4; echo \"$1\" >>{}/started; cp {REAL} \"$out\"", folder.display());
    script(folder, "agent", &body)
}

fn started(folder: &Path) -> Vec<String> {
    text(&fs::read(folder.join("started")).unwrap()).lines().map(str::to_owned).collect()
}

#[test]
fn rounds_go_to_and_fro() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let agent = agent(here);
    let agent = agent.to_str().unwrap();
    let run = ["--run", "--agent", agent, "--threads", "1,3", "--cpus", "1 0-2,5 all", "--rounds", "2", "--"];
    let output = tune(here, &[&run[..], &["engine", "-p", "it's"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let run = |bound: &str, n: u32| format!("exec {bound}engine -p 'it'\\''s' -t {n}");
    let mut order =
        vec![run("taskset 2 ", 1), run("taskset 27 ", 1), run("taskset 27 ", 3), run("", 1), run("", 3)];
    order.extend(order.clone().into_iter().rev());
    assert_eq!(started(here), order);
    let json: Value = serde_json::from_slice(&fs::read(here.join("tuning/tune.json")).unwrap()).unwrap();
    assert_eq!((&json["status"], &json["prediction"]), (&"tried".into(), &Value::Null));
    let settings = json["settings"].as_array().unwrap();
    let names: Vec<&str> = settings.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["t1", "t1@0-2,5", "t1@1", "t3", "t3@0-2,5"]);
    assert!(settings.iter().all(|s| s["runs_ns"].as_array().unwrap().len() == 2), "{json:#}");
    // The same series, read from its folder.
    let again = tune(here, &["tuning", "--out", "again"]);
    let read = |name: &str| fs::read(here.join(name)).unwrap();
    assert!(again.status.success() && read("again/tune.json") == read("tuning/tune.json"));
    // A new series removes the old one, and nothing else.
    fs::create_dir(here.join("tuning/mine")).unwrap();
    let output = tune(
        here,
        &["--run", "--agent", agent, "--threads", "1,2", "--rounds", "1", "--", "engine -t {threads} -n 9"],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(started(here)[10..], ["exec engine -t 1 -n 9", "exec engine -t 2 -n 9"]);
    assert!(here.join("tuning/mine").is_dir() && !here.join("tuning/t3").exists());
    assert!(text(&output.stderr).contains("round 1 of 1: t2 "), "{}", text(&output.stderr));
}

/// With --on, a shell elsewhere runs the command, and returns the recording on standard output.
#[test]
fn on_a_board() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let agent = agent(here);
    let on = script(here, "there", "shift; case $1 in nproc) echo 2 ;; *) exec sh -c \"$1\" ;; esac");
    let on = format!("{} root@board", on.display());
    let run =
        ["--run", "--on", &on, "--agent", agent.to_str().unwrap(), "--rounds", "1", "--", "it's", "$HOME"];
    let output = tune(here, &run);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let run = |n: u32| format!("exec 'it'\\''s' '$HOME' -t {n}");
    assert_eq!(started(here), [run(1), run(2)]);
    assert_eq!(fs::read(here.join("tuning/t2/1.pfi")).unwrap(), fs::read(REAL).unwrap());
}

#[test]
fn what_fails_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let fails = |arguments: &[&str], expected: &[&str]| {
        let output = tune(here, arguments);
        let said = text(&output.stderr);
        assert!(
            !output.status.success() && expected.iter().all(|e| said.contains(e)),
            "{arguments:?}: {said}"
        );
    };
    let deaf = script(here, "deaf", "echo 'error: loading the programs: no BPF here' >&2; exit 1");
    let deaf = deaf.to_str().unwrap();
    let two = ["--threads", "1,2", "--", "engine"];
    fails(
        &[&["--run", "--agent", deaf], &two[..]].concat(),
        &["no BPF here", "`engine -t 1`", "tuning/t1/1.log"],
    );
    fails(
        &[&["--run", "--agent", "./nobody"], &two[..]].concat(),
        &["starting ./nobody", "No such file", "--agent"],
    );
    fails(
        &[&["--run", "--on", "./nobody b", "--agent", "a"], &two[..]].concat(),
        &["running `./nobody b`", "--on"],
    );
    fails(
        &["--run", "--agent", deaf, "--threads", "2", "--cpus", "0", "--", "engine"],
        &["0 settings match", "--cpus"],
    );
    fails(&[REAL], &["no measured peak rates", "--bench", "--ceilings"]);
    fails(&[REAL, "--ceilings", REAL], &["looking for ceilings", "it has none"]);
    fails(&[], &["<RECORDING|FOLDER>"]);
    fails(&["--run"], &["<COMMAND>"]);
    fails(&[REAL, "--rounds", "2"], &["--run"]);
    fails(&["--run", "--cpus", "5-4", "--", "engine"], &["5-4", "--cpus"]);
}
