//! Mishaps: the disk is full, somebody kills the engine or the agent. The engine is unharmed, the
//! recording is readable up to that point, and the cause is reported.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use profinfer_trace::model::Model;
use profinfer_trace::model::health::EndReason;

use crate::support::{Parts, engine, model, parts, read};

/// An engine that computes for a long time.
fn busy_engine(parts: &Parts) -> Option<Child> {
    let bin = engine("PROFINFER_ENGINE_DIR")?;
    let child = Command::new(bin.join("nodes"))
        .args(["-m", &model(parts, "dense-q8"), "-t", "1", "-p", "4", "-n", "200", "-r", "100000", "--fresh"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    Some(child)
}

fn agent(parts: &Parts, out: &Path, engine: &Child) -> Child {
    Command::new(&parts.agent)
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--pid", &engine.id().to_string()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn wait_for(out: &Path, holds: impl Fn(&Model) -> bool) {
    let begun = Instant::now();
    while !std::fs::read(out).is_ok_and(|b| profinfer_trace::read(&b).is_ok_and(|m| holds(&m))) {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The engine continues to compute: its CPU time grows.
fn computes(engine: &mut Child) -> bool {
    let time = |pid: u32| -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.split(' ').nth(11).unwrap().parse().unwrap()
    };
    let before = time(engine.id());
    std::thread::sleep(Duration::from_millis(500));
    engine.try_wait().unwrap().is_none() && time(engine.id()) > before
}

/// Pages of the engine's code that differ from its files: an installed probe changes one.
fn changed_code(engine: &Child) -> usize {
    let pid = engine.id();
    let mut memory = std::fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let mut changed = 0;
    for line in maps.lines().filter(|l| l.contains(" r-xp ") && l.contains(".so")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (from, to) = words[0].split_once('-').unwrap();
        let [from, to, offset] = [from, to, words[2]].map(|n| u64::from_str_radix(n, 16).unwrap());
        let (mut loaded, mut written) = (vec![0; (to - from) as usize], vec![0; (to - from) as usize]);
        memory.seek(SeekFrom::Start(from)).unwrap();
        memory.read_exact(&mut loaded).unwrap();
        let mut file = std::fs::File::open(words[5]).unwrap();
        file.seek(SeekFrom::Start(offset)).unwrap();
        let n = file.read(&mut written).unwrap();
        changed += loaded[..n].chunks(4096).zip(written[..n].chunks(4096)).filter(|(a, b)| a != b).count();
    }
    changed
}

fn end(mut engine: Child) {
    engine.kill().unwrap();
    engine.wait().unwrap();
}

/// SIGKILL cannot be handled: the kernel removes the probes with the agent's descriptors.
#[test]
fn an_agent_that_is_killed_leaves_no_probe() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let Some(mut engine) = busy_engine(&parts) else { return };
    let before = changed_code(&engine);
    let mut agent = agent(&parts, &out, &engine);
    wait_for(&out, |m| m.spans.len() > 1000);
    assert!(changed_code(&engine) > before, "probes are in the engine's code");
    agent.kill().unwrap();
    agent.wait().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(changed_code(&engine), before, "and are not any more");
    assert!(computes(&mut engine));
    end(engine);
    let trace = read(&out);
    assert!(trace.health.cut_short() && trace.health.damage.is_empty(), "{:#?}", trace.health);
}

#[test]
fn an_engine_that_is_killed() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("t.pfi");
    let Some(engine) = busy_engine(&parts) else { return };
    let agent = agent(&parts, &out, &engine);
    wait_for(&out, |m| m.spans.len() > 1000);
    end(engine);
    let said = agent.wait_with_output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let trace = read(&out);
    assert_eq!(trace.health.end.unwrap().reason, EndReason::EngineEnded);
    assert!(trace.health.damage.is_empty() && trace.health.ledger.unwrap().balances(), "{:#?}", trace.health);
}

#[test]
fn a_disk_that_is_full() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mounted = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).arg(dir.path()).status().is_ok_and(|s| s.success())
    };
    if !mounted("mount", &["-t", "tmpfs", "-o", "size=256k", "tmpfs"]) {
        return profinfer_skip::skip("no file system can be mounted here");
    }
    let out = dir.path().join("t.pfi");
    let Some(mut engine) = busy_engine(&parts) else { return };
    let said = agent(&parts, &out, &engine).wait_with_output().unwrap();
    let recorded = std::fs::read(&out).unwrap();
    let unmounted = mounted("umount", &[]);
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(!said.status.success() && text.contains("No space left") && text.contains("help: "), "{text}");
    assert!(computes(&mut engine) && unmounted);
    end(engine);
    let trace = profinfer_trace::read(&recorded).unwrap();
    assert!(trace.health.cut_short() && trace.health.damage.is_empty(), "{:#?}", trace.health);
    assert!(trace.spans.len() > 1000, "{} spans", trace.spans.len());
}
