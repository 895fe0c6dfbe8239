//! A session behaves as the doctor reports.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::{engine, model, parts};

/// Rows of a section: verdict, name, text.
fn rows(text: &str, section: &str) -> Vec<(String, String)> {
    let lines = text.lines().skip_while(|l| *l != section).skip(1).take_while(|l| !l.is_empty());
    lines.map(|l| (l[2..5].trim().to_owned(), l[7..].trim().to_owned())).collect()
}

#[test]
fn of_a_machine_that_traces_and_an_engine() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let mut engine = Command::new(bin.join("nodes"))
        .args(["-m", &model(&parts, "dense-q8"), "-t", "1", "-p", "4", "-n", "2", "--pause"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(engine.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let pid = engine.id().to_string();
    let said = Command::new(&parts.agent).args(["doctor", "--pid", &pid]).output().unwrap();
    engine.kill().unwrap();
    engine.wait().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{text}");
    let kernel = rows(&text, "kernel");
    assert!(kernel.iter().all(|(verdict, _)| verdict != "NO") && kernel.len() > 5, "{text}");
    let levels: Vec<_> = rows(&text, "engine").into_iter().skip(1).collect();
    let names = ["token level", "graph level", "operator level"];
    assert_eq!(levels.len(), names.len(), "{text}");
    for ((verdict, row), name) in levels.iter().zip(names) {
        assert!(verdict == "yes" && row.starts_with(name), "{text}");
    }
    assert!(rows(&text, "what will be traced").iter().all(|(verdict, _)| verdict == "yes"), "{text}");
}

#[test]
fn of_a_process_that_is_no_engine() {
    let Some(parts) = parts() else { return };
    let mut other = Command::new("sleep").arg("30").spawn().unwrap();
    let said =
        Command::new(&parts.agent).args(["doctor", "--pid", &other.id().to_string()]).output().unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(!said.status.success() && text.contains("no part of a GGML engine is mapped"), "{text}");
}

/// Without the privilege, nothing is guessed.
#[test]
fn of_a_user_who_may_not() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let agent = dir.path().join("agent");
    std::fs::copy(&parts.agent, &agent).unwrap();
    let open = || std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open()).unwrap();
    let said = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&agent)
        .arg("doctor")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(
        !said.status.success()
            && text.contains("the agent is not root")
            && text.contains("run the agent as root"),
        "{text}"
    );
}
