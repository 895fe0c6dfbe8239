//! Direct probes: the same node lists as the engine's own, and an unharmed engine in all cases.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_trace::model::{Model, Why};

use crate::attach::wait;
use crate::engine_list::parse;
use crate::nodes::check_trace;
use crate::support::{Parts, engine, model, on_engines, parts, read, record, signal};

const DIRECT: [&str; 4] = ["--probes", "direct", "--levels", "token,graph,op"];

fn check(parts: &Parts, engine_variable: &str, name: &str) {
    let Some(bin) = engine(engine_variable) else { return };
    let nodes = bin.join("nodes");
    let gguf = model(parts, name);
    let command =
        [nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "3", "-c", "512", "--list"];
    let (trace, output) = record(parts, &DIRECT, &command);
    let calls = parse(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(calls.len(), 4, "prefill and three decodes");
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    is_direct(&trace);
    check_trace(&trace, &calls, name);
    let direct = trace.health.direct.unwrap();
    assert_eq!(direct.records, trace.spans.len() as u64, "{direct:?}");
    assert!(direct.clock_error_ns < 10_000, "{direct:?}");
}

/// Records one process with direct probes.
fn is_direct(trace: &Model) {
    let [probes] = &*trace.health.operator_probes else { panic!("{:?}", trace.health.operator_probes) };
    assert_eq!(probes.refused, None);
    assert!(probes.places > 0 && probes.stopped_ns > 0);
}

fn why_not(trace: &Model) -> Why {
    let [probes] = &*trace.health.operator_probes else { panic!("{:?}", trace.health.operator_probes) };
    probes.refused.as_ref().expect("uprobes").why
}

on_engines! {
    direct_newest_dense: "PROFINFER_ENGINE_DIR", "dense-q8";
    direct_newest_moe: "PROFINFER_ENGINE_DIR", "moe-qwen60";
    direct_b4600_dense: "PROFINFER_MID_ENGINE_DIR", "dense-q8";
    direct_b3889_dense: "PROFINFER_OLD_ENGINE_DIR", "dense-q8";
}

/// An engine that does not outlive its test.
struct Engine(Child);

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl std::ops::Deref for Engine {
    type Target = Child;
    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Engine {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

/// An engine that waits for a line before it decodes.
fn paused(parts: &Parts, wrapped: &[&str]) -> Option<Engine> {
    let bin = engine("PROFINFER_ENGINE_DIR")?;
    let (nodes, gguf) = (bin.join("nodes"), model(parts, "dense-q8"));
    let own = [
        nodes.to_str().unwrap(),
        "-m",
        &gguf,
        "-t",
        "2",
        "-p",
        "4",
        "-n",
        "400",
        "-r",
        "1000",
        "--fresh",
        "--pause",
    ];
    let command: Vec<&str> = wrapped.iter().chain(&own).copied().collect();
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("ready"), "{line}");
    // Nobody reads the rest; it must not fill the pipe.
    std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    Some(Engine(child))
}

/// A decoding engine, and its process ID.
fn decoding(parts: &Parts) -> Option<(Engine, u32)> {
    let mut engine = paused(parts, &[])?;
    engine.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let pid = engine.id();
    Some((engine, pid))
}

/// Addresses at which the code of a process differs from its files, in pages. Excludes uprobes,
/// which the kernel removes: a byte 0xcc each.
pub(crate) fn differs(pid: u32) -> Vec<String> {
    let memory = fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let mut found = Vec::new();
    for line in maps.lines().filter(|l| l.contains(" r-xp ") && l.contains('/')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (start, end) = fields[0].split_once('-').unwrap();
        let [start, end, offset] = [start, end, fields[2]].map(|n| u64::from_str_radix(n, 16).unwrap());
        let Ok(file) = fs::File::open(format!("/proc/{pid}/map_files/{}", fields[0])) else { continue };
        let mut is = vec![0; usize::try_from(end - start).unwrap()];
        let mut has = is.clone();
        memory.read_exact_at(&mut is, start).unwrap();
        let mut n = 0;
        while let Ok(more @ 1..) = file.read_at(&mut has[n..], offset + n as u64) {
            n += more;
        }
        if let Some(at) = is.iter().zip(&has).position(|(a, b)| a != b && *a != 0xcc) {
            found.push(format!("{:#x} in {}", start + at as u64, fields[5]));
        }
    }
    found
}

fn agent(parts: &Parts, out: &std::path::Path, options: &[&str], pid: u32) -> Child {
    Command::new(&parts.agent)
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--pid", &pid.to_string()])
        .args(options)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn interrupt(pid: u32) {
    signal(pid, Signal::SIGINT);
}

#[test]
fn a_running_engine_is_probed_and_is_as_before_afterwards() {
    let Some(parts) = parts() else { return };
    let Some((mut engine, pid)) = decoding(&parts) else { return };
    let dir = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let out = dir.path().join("t.pfi");
        let mut agent = agent(&parts, &out, &DIRECT, pid);
        until("its code is changed", || !differs(pid).is_empty());
        until("operators are recorded", || fs::metadata(&out).is_ok_and(|m| m.len() > 60_000));
        interrupt(agent.id());
        assert!(wait(&mut agent));
        assert_eq!(differs(pid), [""; 0], "round {round}");
        let trace = read(&out);
        is_direct(&trace);
        let health = &trace.health;
        let ledger = health.ledger.unwrap();
        assert!(ledger.balances() && ledger.nothing_lost(), "{health:#?}");
        assert!(trace.spans.len() > 1000, "{} spans", trace.spans.len());
        for (call, start) in trace.spans.graph_call.iter().zip(&trace.spans.start_ns) {
            let call = call.0 as usize;
            let begun = trace.graph_calls.start_ns[call];
            assert!((begun..begun + trace.graph_calls.duration_ns[call]).contains(start));
        }
    }
    assert!(engine.try_wait().unwrap().is_none(), "it decodes on");
}

#[test]
fn repair_puts_back_what_a_killed_agent_left() {
    let Some(parts) = parts() else { return };
    let Some((mut engine, pid)) = decoding(&parts) else { return };
    let dir = tempfile::tempdir().unwrap();
    // Killed only after operators came: the first changed code is not yet a probe. Each session writes
    // another file, so its length says what this session has recorded.
    let recording = |name: &str| {
        let out = dir.path().join(name);
        let agent = agent(&parts, &out, &DIRECT, pid);
        until("operators are recorded", || fs::metadata(&out).is_ok_and(|m| m.len() > 60_000));
        (agent, out)
    };
    let killed = |name: &str| {
        let (mut agent, _) = recording(name);
        agent.kill().unwrap();
        agent.wait().unwrap();
    };
    killed("first.pfi");
    assert_ne!(differs(pid), [""; 0]);
    let repair = Command::new(&parts.agent).args(["repair", "--pid", &pid.to_string()]).output().unwrap();
    let said = String::from_utf8_lossy(&repair.stderr).into_owned();
    assert!(repair.status.success() && said.contains("places put back"), "{said}");
    assert_eq!(differs(pid), [""; 0]);
    // A new session repairs them first.
    killed("second.pfi");
    let (mut agent, out) = recording("third.pfi");
    interrupt(agent.id());
    assert!(wait(&mut agent));
    let trace = read(&out);
    is_direct(&trace);
    assert!(trace.health.operator_probes[0].repaired > 0);
    assert_eq!(differs(pid), [""; 0]);
    assert!(engine.try_wait().unwrap().is_none(), "it decodes on");
}

/// If direct probes are refused, uprobes record, with a note.
#[test]
fn counters_and_experts_stay_with_uprobes() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command = [nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "3"];
    for (options, why) in [
        (&["--levels", "token,graph,op", "--counters", "minor-faults"][..], Why::Counters),
        (&["--levels", "token,graph,op,expert"], Why::Experts),
    ] {
        let options: Vec<&str> = ["--probes", "direct"].iter().chain(options).copied().collect();
        let (trace, _) = record(&parts, &options, &command);
        assert_eq!(why_not(&trace), why);
        assert!(trace.health.perfect() && trace.spans.len() > 500);
    }
}

/// Starts a program under a seccomp filter that allows all but the system calls with which Linux handles probes on
/// x86-64 (335, 336): filters with a list of what is allowed do not know them. The kernel must not ask the filter.
const FILTER: &str = "import ctypes,os,struct,sys;\
    p=b''.join(struct.pack('HBBI',*i) for i in [(32,0,0,0),(21,1,0,335),(21,0,1,336),(6,0,0,0x80000000),(6,0,0,0x7fff0000)]);\
    p=ctypes.create_string_buffer(p);\
    f=ctypes.create_string_buffer(struct.pack('HxxxxxxQ',5,ctypes.addressof(p)));l=ctypes.CDLL(None);\
    l.prctl(38,1,0,0,0);assert l.prctl(22,2,f,0,0)==0;os.execv(sys.argv[1],sys.argv[1:])";

/// Kernels that ask it kill the engine at its first return (6.11 to 6.13 on x86-64): `doctor` names them.
#[test]
fn uprobes_record_all_of_an_engine_with_a_seccomp_filter() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let nodes = nodes.to_str().unwrap();
    let command =
        ["python3", "-c", FILTER, nodes, "-m", &gguf, "-t", "2", "-p", "5", "-n", "3", "-c", "512", "--list"];
    let (trace, output) = record(&parts, &["--levels", "token,graph,op"], &command);
    assert!(output.status.success(), "{output:?}");
    let calls = parse(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(calls.len(), 4, "prefill and three decodes");
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    check_trace(&trace, &calls, "dense-q8");
}

#[test]
fn an_engine_with_a_seccomp_filter_is_left_alone() {
    let Some(parts) = parts() else { return };
    let Some(mut engine) = paused(&parts, &["python3", "-c", FILTER]) else { return };
    refused(&parts, &mut engine, Why::Seccomp);
}

#[test]
fn an_engine_that_another_tracer_holds_is_left_alone() {
    let Some(parts) = parts() else { return };
    let Some(mut engine) = paused(&parts, &[]) else { return };
    // PTRACE_SEIZE, then sleep.
    let tracer = "import ctypes,sys,time;l=ctypes.CDLL(None);assert l.ptrace(0x4206,int(sys.argv[1]),0,0)==0;\
        print('held',flush=True);time.sleep(60)";
    let mut tracer = Command::new("python3")
        .args(["-c", tracer, &engine.id().to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    BufReader::new(tracer.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    refused(&parts, &mut engine, Why::Tracer);
    tracer.kill().unwrap();
    tracer.wait().unwrap();
}

/// Direct probes are refused for this reason, uprobes record everything, and the agent changes no
/// code.
fn refused(parts: &Parts, engine: &mut Engine, why: Why) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let pid = engine.id();
    let mut agent = agent(parts, &out, &DIRECT, pid);
    until("probes are in", || fs::metadata(&out).is_ok_and(|m| m.len() > 2000));
    std::thread::sleep(Duration::from_millis(500));
    engine.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    until("operators are recorded", || fs::metadata(&out).is_ok_and(|m| m.len() > 60_000));
    interrupt(agent.id());
    assert!(wait(&mut agent));
    let trace = read(&out);
    assert_eq!(why_not(&trace), why);
    assert!(trace.spans.len() > 1000, "{}", trace.spans.len());
}
