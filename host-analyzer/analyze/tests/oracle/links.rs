//! Disturbed links: a connection that breaks, a serial line with kernel messages, a slow line. What
//! arrives is compared with the engine's own list; the rest is counted.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use profinfer_trace::model::Model;
use serde_json::Value;
use serialport::{SerialPort, TTYPort};

use crate::engine_list::parse;
use crate::nodes::check_trace;
use crate::support::{Parts, engine, full, model, parts, read};

/// An agent that serves at `listen` and starts the engine; the engine's list goes to a file.
pub(crate) struct Served {
    pub(crate) agent: Child,
    list: PathBuf,
    log: PathBuf,
}

impl Served {
    pub(crate) fn start(parts: &Parts, dir: &Path, listen: &str, run: &[&str]) -> Option<Self> {
        Self::at(parts, dir, &["--listen", listen], run)
    }

    /// With the options of `serve` for address and key.
    pub(crate) fn at(parts: &Parts, dir: &Path, door: &[&str], run: &[&str]) -> Option<Self> {
        let bin = engine("PROFINFER_ENGINE_DIR")?;
        let (list, log) = (dir.join("list.txt"), dir.join("agent.log"));
        let agent = Command::new(&parts.agent)
            .args(["serve", "--once"])
            .args(door)
            .arg("--")
            .arg(bin.join("nodes"))
            .args(["-m", &model(parts, "dense-q8"), "-p", "5"])
            .args(run)
            .stdout(std::fs::File::create(&list).unwrap())
            .stderr(std::fs::File::create(&log).unwrap())
            // A separate process group, which includes its engine.
            .process_group(0)
            .spawn()
            .unwrap();
        let served = Self { agent, list, log };
        served.wait_until("waiting for a host");
        Some(served)
    }

    pub(crate) fn wait_until(&self, said: &str) -> String {
        let begun = Instant::now();
        loop {
            let log = std::fs::read_to_string(&self.log).unwrap();
            if let Some(line) = log.lines().find(|l| l.contains(said)) {
                return line.to_owned();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "the agent does not say `{said}`: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The port that the kernel chose.
    pub(crate) fn port(&self) -> u16 {
        let line = self.wait_until("waiting for a host");
        line.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Messages of the agent.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Output of the engine.
    pub(crate) fn list(&self) -> String {
        std::fs::read_to_string(&self.list).unwrap()
    }
}

impl Drop for Served {
    /// The engine does not end with the agent, so end both.
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.agent.id())]).output();
        let _ = self.agent.wait();
    }
}

/// Captures from `source`. Returns what was received, and the report on the link.
pub(crate) fn capture(source: &str, dir: &Path, options: &[&str]) -> (Model, Value) {
    let mut options = [options, &["--format", "json"]].concat();
    options.extend(full(&options));
    let (model, output) = capture_by(Path::new(env!("CARGO_BIN_EXE_analyze")), source, dir, &options);
    let mut object: Value = serde_json::from_slice(&output.stdout).unwrap();
    (model, object["link"].take())
}

/// The same with another `analyze`. Returns its output.
pub(crate) fn capture_by(analyze: &Path, source: &str, dir: &Path, options: &[&str]) -> (Model, Output) {
    let out = dir.join("profile");
    let output = Command::new(analyze)
        .args([source, "--out", out.to_str().unwrap()])
        .args(options)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (read(&out.join("recording.pfi")), output)
}

/// Forwards one connection, and closes it after `limit` bytes of the agent.
pub(crate) fn pass(host: &TcpStream, agent: &TcpStream, limit: usize) {
    let (mut from_host, mut to_agent) = (host.try_clone().unwrap(), agent.try_clone().unwrap());
    let up = std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_host, &mut to_agent);
        let _ = to_agent.shutdown(std::net::Shutdown::Write);
    });
    let (mut from_agent, mut to_host) = (agent.take(limit as u64), host);
    let _ = std::io::copy(&mut from_agent, &mut to_host);
    let _ = host.shutdown(std::net::Shutdown::Both);
    let _ = agent.shutdown(std::net::Shutdown::Both);
    up.join().unwrap();
}

/// The connection breaks four times, in the middle of frames; the session continues, and nothing is
/// lost.
#[test]
fn a_connection_that_breaks() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(served) =
        Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &["-n", "200", "--list", "-t", "2"])
    else {
        return;
    };
    let (agent, door) = (served.port(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = door.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for limit in [1000, 70, 20_001, 33_333].into_iter().chain(std::iter::repeat(usize::MAX)) {
            let Ok((host, _)) = door.accept() else { return };
            let Ok(agent) = TcpStream::connect(("127.0.0.1", agent)) else { return };
            pass(&host, &agent, limit);
        }
    });
    let (trace, link) = capture(&format!("tcp:127.0.0.1:{port}"), dir.path(), &[]);
    assert_eq!((&link["reconnects"], &link["lost"]), (&4.into(), &Value::Null), "{}", served.said());
    check_trace(&trace, &parse(&served.list()), "after four breaks");
    served.wait_until("0 lost");
}

/// The agent is gone: what arrived is readable, and the cut is reported with its reason.
#[test]
fn a_connection_that_does_not_come_back() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(served) =
        Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &["-n", "20000", "-c", "32768", "-t", "2"])
    else {
        return;
    };
    let port = served.port();
    let kept = dir.path().join("profile/recording.pfi");
    let end = std::thread::spawn(move || {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(30)
            && std::fs::metadata(&kept).map_or(0, |m| m.len()) < 100_000
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(served);
    });
    let (trace, link) = capture(&format!("tcp:127.0.0.1:{port}"), dir.path(), &["--reconnect", "1"]);
    end.join().unwrap();
    assert_eq!(link["lost"], "not_resumed");
    assert!(trace.health.cut_short() && trace.health.damage.is_empty(), "{:#?}", trace.health);
    assert!(trace.spans.len() > 1000);
}

/// Two ends of a serial line. The agent's bytes pass through `spoil`, in the pieces in which they
/// arrive.
pub(crate) struct Line {
    pub(crate) agent: String,
    pub(crate) host: String,
    // The slaves stay open, so that the line does not hang up before both ends are in use.
    _slaves: (TTYPort, TTYPort),
    end: Arc<AtomicBool>,
}

impl Line {
    pub(crate) fn new(mut spoil: impl FnMut(&[u8], &mut TTYPort) + Send + 'static) -> Self {
        let (mut board, board_slave) = TTYPort::pair().unwrap();
        let (mut host_port, host_slave) = TTYPort::pair().unwrap();
        for port in [&mut board, &mut host_port] {
            port.set_timeout(Duration::from_millis(50)).unwrap();
        }
        let (agent, host) = (board_slave.name().unwrap(), host_slave.name().unwrap());
        let end = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&end);
        let (mut up, mut down) = (host_port.try_clone_native().unwrap(), board.try_clone_native().unwrap());
        let up_ended = Arc::clone(&end);
        std::thread::spawn(move || {
            let mut bytes = [0; 512];
            while !up_ended.load(Ordering::Relaxed) {
                if let Ok(n @ 1..) = up.read(&mut bytes) {
                    let _ = down.write_all(&bytes[..n]);
                }
            }
        });
        std::thread::spawn(move || {
            let mut bytes = [0; 512];
            while !ended.load(Ordering::Relaxed) {
                if let Ok(n @ 1..) = board.read(&mut bytes) {
                    spoil(&bytes[..n], &mut host_port);
                }
            }
        });
        Self { agent, host, _slaves: (board_slave, host_slave), end }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}

/// Boot messages before, kernel messages in between (between frames and in the middle of them),
/// flipped bits: every frame arrives in the end.
#[test]
fn a_serial_line_with_noise() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (mut pieces, mut seed) = (0u32, 1u32);
    let line = Line::new(move |bytes, host_port| {
        if pieces == 0 {
            let boot = b"U-Boot 2024.07\r\nStarting kernel ...\r\n\r\n[    0.000000] Linux version 5.10\r\nlogin: PROFINF";
            host_port.write_all(boot).unwrap();
        }
        pieces += 1;
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut bytes = bytes.to_vec();
        match seed >> 27 {
            0 => bytes[0] ^= 0x10,
            1 => {
                let at = (seed >> 8) as usize % bytes.len();
                let printk = b"[   12.345678] mmc0: new high speed SDXC card at address 0007\r\n";
                bytes.splice(at..at, printk.iter().copied());
            }
            _ => {}
        }
        host_port.write_all(&bytes).unwrap();
    });
    let Some(served) = Served::start(
        &parts,
        dir.path(),
        &format!("serial:{}@1500000", line.agent),
        &["-n", "100", "--list", "-t", "2"],
    ) else {
        return;
    };
    let source = format!("serial:{}@1500000", line.host);
    let (trace, link) = capture(&source, dir.path(), &["--wait", "30"]);
    check_trace(&trace, &parse(&served.list()), "over the serial line");
    let counts = ["noise_bytes", "resend_requests"].map(|key| link[key].as_u64().unwrap());
    assert!(counts.iter().all(|n| *n > 0), "{link}");
    served.wait_until("0 lost");
}

/// The agent is gone and the kernel still writes to its console: that is not a sign of life.
#[test]
fn a_console_whose_agent_is_gone() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut passed = 0;
    let line = Line::new(move |bytes, host_port| {
        passed += bytes.len();
        let printk = b"[   12.345678] mmc0: new high speed SDXC card at address 0007\r\n";
        host_port.write_all(if passed < 100_000 { bytes } else { printk }).unwrap();
    });
    let command = ["-n", "200", "-r", "40", "--fresh", "-t", "1"];
    let Some(served) = Served::start(&parts, dir.path(), &format!("serial:{}@1500000", line.agent), &command)
    else {
        return;
    };
    let begun = Instant::now();
    let (trace, link) = capture(&format!("serial:{}@1500000", line.host), dir.path(), &["--wait", "30"]);
    assert_eq!(link["lost"], "silent");
    assert!(trace.health.cut_short(), "{:#?}", trace.health);
    assert!(begun.elapsed() < Duration::from_secs(60), "it waited for {:?}", begun.elapsed());
    drop(served);
}

/// A line that is too slow for the stream: dropped frames are counted where they were dropped, to
/// the span.
#[test]
fn a_serial_line_that_stands_still() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    // The line carries nothing for five seconds, while the engine makes more than the agent's queue
    // can hold.
    let mut begun = None;
    let line = Line::new(move |bytes, host_port| {
        let begun: Instant = *begun.get_or_insert_with(Instant::now);
        std::thread::sleep(Duration::from_secs(5).saturating_sub(begun.elapsed()));
        host_port.write_all(bytes).unwrap();
    });
    let Some(served) = Served::start(
        &parts,
        dir.path(),
        &format!("serial:{}@921600", line.agent),
        &["-n", "200", "-r", "40", "--fresh", "-t", "1"],
    ) else {
        return;
    };
    let (trace, _) = capture(&format!("serial:{}@921600", line.host), dir.path(), &["--wait", "30"]);
    let loss = trace.health.ledger.unwrap();
    assert!(loss.spans_queue_full > 0 && loss.frames_queue_full > 0, "it was fast enough: {loss:#?}");
    assert!(!trace.health.cut_short() && loss.balances(), "{loss:#?}");
    assert_eq!(loss.spans_sent, trace.spans.len() as u64, "all that was sent came");
    // The only damage: the gaps of the dropped frames.
    let gaps: u64 = trace.health.damage.iter().map(|d| d.count).sum();
    assert_eq!((trace.health.damage.len(), gaps), (1, loss.frames_queue_full), "{:#?}", trace.health.damage);
    // The number of operators from the engine's own list: the same number in each call.
    let mut in_call = vec![0u64; trace.graph_calls.len()];
    trace.spans.graph_call.iter().for_each(|g| in_call[g.0 as usize] += 1);
    let calls = parse(&served.list()).len() as u64;
    let made = calls * in_call.iter().max().unwrap();
    assert_eq!(loss.span_ends, made, "{:#?} {loss:#?}", trace.health.end);
}

#[test]
fn nobody_on_the_line() {
    let line = Line::new(|_, _| {});
    let output = Command::new(env!("CARGO_BIN_EXE_analyze"))
        .args([&format!("serial:{}@115200", line.host), "--wait", "1"])
        .current_dir(tempfile::tempdir().unwrap().path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("no byte arrived") && said.contains("--listen serial:"),
        "{said}"
    );
}
