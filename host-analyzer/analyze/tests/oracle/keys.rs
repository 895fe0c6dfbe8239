//! Who may connect: with the key, a complete session arrives, also over breaks. Without it, nothing
//! arrives, and attempts do not disturb the host that has the key.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::engine_list::parse;
use crate::links::{Served, capture, pass};
use crate::nodes::check_trace;
use crate::support::{Parts, parts};

/// Bytes that a host sends before the agent has authenticated it: request and first frame.
const UNKNOWN: usize = 54 + 18;

fn keygen(parts: &Parts, path: &Path, board: &str) {
    let made = Command::new(&parts.agent).arg("keygen").arg(path).args(["--board", board]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn serve(parts: &Parts, dir: &Path, key: &Path, run: &[&str]) -> Option<Served> {
    Served::at(parts, dir, &["--listen", "tcp:127.0.0.1:0", "--key", key.to_str().unwrap()], run)
}

/// The error of `analyze` when it gets no session.
fn refused(source: &str, dir: &Path, key: Option<&Path>) -> String {
    let mut analyze = Command::new(env!("CARGO_BIN_EXE_analyze"));
    analyze.args([source, "--wait", "5", "--out"]).arg(dir.join("refused")).stdin(Stdio::null());
    if let Some(key) = key {
        analyze.arg("--key").arg(key);
    }
    let output = analyze.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "it was let in: {said}");
    assert_eq!(said.matches("error: ").count(), 1, "one clear error: {said}");
    said
}

/// Forwards connections to the agent, one after another, and closes each after this many bytes of
/// the agent. Keeps the handshake of the first host.
fn proxy(agent: u16, limits: impl Iterator<Item = usize> + Send + 'static) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = door.local_addr().unwrap().port();
    let recorded: Arc<Mutex<Vec<u8>>> = Arc::default();
    let kept = Arc::clone(&recorded);
    std::thread::spawn(move || {
        for limit in limits {
            let (host, agent) = loop {
                let Ok((host, _)) = door.accept() else { return };
                let Ok(agent) = TcpStream::connect(("127.0.0.1", agent)) else { return };
                if let Ok(bytes) = shake(&host, &agent) {
                    let mut kept = kept.lock().unwrap();
                    if kept.is_empty() {
                        kept.extend(bytes);
                    }
                    break (host, agent);
                }
            };
            pass(&host, &agent, limit);
        }
    });
    (port, recorded)
}

/// Forwards a handshake. Returns what the host sent.
fn shake(mut host: &TcpStream, mut agent: &TcpStream) -> std::io::Result<[u8; UNKNOWN]> {
    let (mut bytes, mut answer) = ([0; UNKNOWN], [0; 48]);
    let (request, first) = bytes.split_at_mut(54);
    host.read_exact(request)?;
    agent.write_all(request)?;
    agent.read_exact(&mut answer)?;
    host.write_all(&answer)?;
    host.read_exact(first)?;
    agent.write_all(first)?;
    Ok(bytes)
}

/// A thousand connections: silent, random bytes, a recorded session, its beginning byte by byte.
fn besiege(agent: u16, recorded: &[u8], over: &AtomicBool, done: &AtomicU32) {
    let mut seed = 1u32;
    for round in 0..4 {
        let mut held = Vec::new();
        for i in 0..250 {
            if over.load(Ordering::Relaxed) {
                return;
            }
            let Ok(mut socket) = TcpStream::connect(("127.0.0.1", agent)) else { continue };
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            })
            .take(300)
            .collect();
            let _ = match (i + round) % 5 {
                0 => socket.write_all(&bytes),
                1 => socket.write_all(recorded),
                2 => socket.write_all(&[&recorded[..54], &bytes].concat()),
                3 => socket.write_all(&recorded[..i % 54]),
                _ => Ok(()),
            };
            done.fetch_add(1, Ordering::Relaxed);
            held.push(socket);
        }
        if let Some(slow) = held.last_mut() {
            for byte in recorded {
                let _ = slow.write_all(&[*byte]);
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// The session of the host with the key is complete while a thousand others try to connect, and
/// each of them is rejected.
#[test]
fn a_key_lets_in_and_nobody_else_disturbs() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (key, other) = (dir.path().join("board.key"), dir.path().join("other.key"));
    keygen(&parts, &key, "board");
    keygen(&parts, &other, "board");
    let Some(served) = serve(&parts, dir.path(), &key, &["-n", "400", "--list", "-t", "2"]) else { return };
    let agent = served.port();
    let source = format!("tcp:127.0.0.1:{agent}");
    assert!(refused(&source, dir.path(), None).contains("requires a key"));
    assert!(refused(&source, dir.path(), Some(&other)).contains("another key"));
    let board = std::fs::read_to_string(&key).unwrap().replace("\nboard\n", "\nboard-2\n");
    std::fs::write(&other, board).unwrap();
    assert!(refused(&source, dir.path(), Some(&other)).contains("another board"));
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(refused(&source, dir.path(), Some(&other)).contains("chmod 600"));

    let (port, recorded) = proxy(agent, std::iter::repeat(usize::MAX));
    let (over, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let siege = {
        let (over, done, recorded) = (Arc::clone(&over), Arc::clone(&done), Arc::clone(&recorded));
        std::thread::spawn(move || {
            while recorded.lock().unwrap().len() < UNKNOWN && !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let recorded = recorded.lock().unwrap().clone();
            besiege(agent, &recorded, &over, &done);
        })
    };
    let source = format!("tcp:127.0.0.1:{port}");
    let (trace, link) = capture(&source, dir.path(), &["--key", key.to_str().unwrap()]);
    over.store(true, Ordering::Relaxed);
    siege.join().unwrap();
    check_trace(&trace, &parse(&served.list()), "with a key, besieged");
    let ledger = trace.health.ledger.unwrap();
    assert_eq!(ledger.spans_sent, trace.spans.len() as u64, "all that was sent came");
    assert!(ledger.balances());
    assert_eq!((&link["reconnects"], &link["lost"]), (&0.into(), &serde_json::Value::Null));
    served.wait_until("rejected so far");
    served.wait_until("0 lost");
    assert!(done.load(Ordering::Relaxed) > 300, "{done:?} knocked");
}

/// A host with a key whose connection breaks repeats the handshake and continues where it was.
#[test]
fn a_keyed_connection_that_breaks() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let key = dir.path().join("board.key");
    keygen(&parts, &key, "board");
    let Some(served) = serve(&parts, dir.path(), &key, &["-n", "200", "--list", "-t", "2"]) else { return };
    let limits = [1000, 170, 20_001, 33_333].into_iter().chain(std::iter::repeat(usize::MAX));
    let (port, _) = proxy(served.port(), limits);
    let options = ["--key", key.to_str().unwrap()];
    let (trace, link) = capture(&format!("tcp:127.0.0.1:{port}"), dir.path(), &options);
    assert_eq!(
        (&link["reconnects"], &link["lost"]),
        (&4.into(), &serde_json::Value::Null),
        "{}",
        served.said()
    );
    check_trace(&trace, &parse(&served.list()), "after four breaks");
    served.wait_until("0 lost");
}

/// On a Unix socket, which only its owner may open; an agent without a key tells this to a host
/// that has one.
#[test]
fn at_a_socket_without_a_key() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (key, socket): (PathBuf, PathBuf) = (dir.path().join("board.key"), dir.path().join("agent.sock"));
    keygen(&parts, &key, "board");
    let source = format!("unix:{}", socket.display());
    let run = ["-n", "20", "--list", "-t", "2"];
    let Some(mut served) = Served::start(&parts, dir.path(), &source, &run) else { return };
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(refused(&source, dir.path(), Some(&key)).contains("without a key"));
    let (trace, _) = capture(&source, dir.path(), &[]);
    check_trace(&trace, &parse(&served.list()), "at a socket");
    served.wait_until("0 lost");
    assert!(served.agent.wait().unwrap().success());
    assert!(!socket.exists(), "it is removed at the end");
}
