//! `serve --port-file`: the file has the port while the agent listens, and only then.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const AGENT: &str = env!("CARGO_BIN_EXE_profinfer-agent");

#[test]
fn the_file_has_the_port_until_the_agent_exits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("port");
    // Left by an agent that was killed.
    fs::write(&path, "0\n").unwrap();
    let mut agent = Command::new(AGENT)
        .args(["serve", "--listen", "tcp:127.0.0.1:0", "--port-file"])
        .arg(&path)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let port: u16 = loop {
        assert!(begun.elapsed() < Duration::from_secs(60) && agent.try_wait().unwrap().is_none());
        match fs::read_to_string(&path).unwrap().trim().parse().unwrap() {
            0 => thread::sleep(Duration::from_millis(10)),
            port => break port,
        }
    };
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    assert!(Command::new("kill").arg(agent.id().to_string()).status().unwrap().success());
    assert!(agent.wait().unwrap().success());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_address_without_a_port_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}", folder.path().join("socket").display());
    let output = Command::new(AGENT)
        .args(["serve", "--listen", &socket, "--port-file"])
        .arg(folder.path().join("port"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.path().join("port").exists());
}
