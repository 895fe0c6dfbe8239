//! Errors of the agent: what was tried, what the system answered, what to do; non-zero exit status;
//! nothing left behind.

use std::process::Command;

use crate::support::parts;

fn fails(arguments: &[&str], expected: &[&str]) {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(&parts.agent).current_dir(dir.path()).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    for part in expected.iter().chain(&["help: "]) {
        assert!(said.contains(part), "`{part}` in: {said}");
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn no_such_process() {
    fails(&["record", "--pid", "4194304"], &["process 4194304", "no such process"]);
}

#[test]
fn no_engine_in_the_process() {
    let mut other = Command::new("sleep").arg("30").spawn().unwrap();
    fails(&["record", "--pid", &other.id().to_string()], &["looking for llama.cpp or GGML", "--name"]);
    assert!(other.try_wait().unwrap().is_none(), "it was not disturbed");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn no_engine_in_the_command() {
    // The recording stays and states the reason, see ending.rs.
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let output =
        Command::new(&parts.agent).current_dir(dir.path()).args(["record", "--", "true"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in ["tracing `true`", "no part of a GGML engine", "help: "] {
        assert!(said.contains(part), "`{part}` in: {said}");
    }
}

#[test]
fn no_such_command() {
    fails(&["record", "--", "/no/such/engine"], &["starting `/no/such/engine`", "No such file"]);
}

/// `engine` on a file that is not one: a statement for every level, and exit status 1.
fn says_of(bytes: &[u8], expected: &str) {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, bytes).unwrap();
    let output = Command::new(&parts.agent).arg("engine").arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(expected), "`{expected}` in: {said}");
    for level in ["token", "graph", "operator"] {
        let line =
            said.lines().find(|l| l.starts_with(level)).unwrap_or_else(|| panic!("{level} in: {said}"));
        assert!(line.contains(" none: "), "{line}");
    }
}

#[test]
fn files_that_are_no_engine() {
    says_of(b"a text", "not an ELF file");
    says_of(b"#!/bin/sh\nexec llama-server\n", "it is a script (#!/bin/sh)");
    let mut narrow = std::fs::read("/proc/self/exe").unwrap();
    says_of(&narrow, "no part of an engine");
    says_of(&narrow[..1 << 16], "cut short");
    narrow[4] = 1;
    says_of(&narrow, "a 32-bit ELF file");
}

#[test]
fn no_such_engine_file() {
    fails(&["engine", "/no/such/libllama.so"], &["reading /no/such/libllama.so", "No such file"]);
    fails(&["engine", "4194304"], &["process 4194304"]);
}

#[test]
fn nothing_named() {
    fails(&["record"], &["names no process", "--pid"]);
}

#[test]
fn place_not_writable() {
    fails(&["record", "--out", "/proc/nothing/x.pfi", "--", "true"], &["writing /proc/nothing/x.pfi"]);
}

#[test]
fn port_open_to_the_network() {
    fails(&["serve", "--listen", "tcp:0.0.0.0:7817"], &["can be reached from the network"]);
}

#[test]
fn port_taken() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", taken.local_addr().unwrap());
    fails(&["serve", "--listen", &address], &["listening at", "another port"]);
}

/// A program for another machine would be run by the shell as a script.
#[test]
fn an_engine_for_another_machine() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("llama-cli");
    let mut header = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\0\0";
    // RISC-V
    header[18] = 243;
    std::fs::write(&program, header).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let out = dir.path().join("x.pfi");
    let arguments = ["record", "--out", out.to_str().unwrap(), "--", program.to_str().unwrap()];
    fails(&arguments, &["it is a program for RISC-V", "the engine for this machine"]);
}

#[test]
fn without_the_privilege() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let agent = dir.path().join("agent");
    std::fs::copy(&parts.agent, &agent).unwrap();
    for path in [dir.path(), agent.as_path()] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(path, mode).unwrap();
    }
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&agent)
        .args(["record", "--out"])
        .arg(dir.path().join("x.pfi"))
        .args(["--", "true"])
        .output();
    let Ok(output) = output else {
        return profinfer_skip::skip("setpriv is not installed");
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("run the agent as root"), "{said}");
    // A server says it at once, not when a host connects.
    let output = Command::new("timeout")
        .args(["10", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&agent)
        .args(["serve", "--listen", "tcp:127.0.0.1:0"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("run the agent as root"), "{said}");
}
