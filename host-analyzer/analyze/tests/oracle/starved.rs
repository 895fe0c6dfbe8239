//! An agent that is slower than its engine: it loses operators, counts them, and continues to write
//! and listen.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{engine, model, parts, read};

/// A CPU that this process may run on.
fn a_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
    allowed.trim().split([',', '-']).next().unwrap().to_owned()
}

/// Killed when the test ends, in any case.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &[&str], out: &Path) -> Killed {
    let log = std::fs::File::create(out).unwrap();
    let child = Command::new(command[0]).args(&command[1..]).stdout(Stdio::null()).stderr(log).spawn();
    Killed(child.unwrap())
}

fn until(what: &str, seconds: u64, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(seconds), "{what}: not within {seconds} s");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Engine and agent share one CPU, which the kernel gives to the agent only for moments: the ring
/// buffer is never empty.
#[test]
fn an_agent_without_a_cpu_goes_on_looking_around() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_MID_ENGINE_DIR")) else { return };
    let dir = tempfile::tempdir().unwrap();
    let (cpu, out, log) = (a_cpu(), dir.path().join("t.pfi"), dir.path().join("agent.log"));
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let calls = ["-t", "1", "-p", "5", "-n", "100", "-c", "512", "-r", "1000000", "--fresh"];
    let engine = [&["taskset", "-c", &cpu, nodes.to_str().unwrap(), "-m", &gguf], &calls[..]].concat();
    let engine = start(&engine, &dir.path().join("engine.log"));
    let (pid, agent) = (engine.0.id().to_string(), parts.agent.to_str().unwrap());
    let how =
        ["--probes", "uprobe", "--levels", "token,graph,op", "--ring", "1M", "--out", out.to_str().unwrap()];
    let agent = [&["taskset", "-c", &cpu, agent, "record", "--full", "--pid", &pid], &how[..]];
    let mut agent = start(&agent.concat(), &log);
    until("a recording", 120, || std::fs::metadata(&out).is_ok_and(|m| m.len() > 8_000));
    let weigh = |id: u32, nice: &str| {
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
        let tasks = tasks.map(|task| task.unwrap().file_name());
        let done = Command::new("renice").args(["-n", nice, "-p"]).args(tasks).output().unwrap();
        assert!(done.status.success(), "renice {nice}: {done:?}");
    };
    let size = || std::fs::metadata(&out).unwrap().len();
    let grown = || {
        let before = size();
        std::thread::sleep(Duration::from_secs(3));
        size() - before
    };
    let usual = grown();
    // The agent has raised its own priority. SCHED_IDLE would give it a fifth of this, and sometimes nothing for minutes.
    weigh(agent.0.id(), "19");
    // On a fast machine that is enough for it, so the engine gets more.
    let starved = ["0", "-4", "-8", "-12"].into_iter().any(|nice| {
        weigh(engine.0.id(), nice);
        std::thread::sleep(Duration::from_secs(1));
        grown() < usual / 2
    });
    assert!(starved, "the agent keeps up, whatever the engine's priority");
    // Its loop runs: it writes, handles signals, and listens to its host.
    let before = size();
    until("the recording grows", 200, || size() > before + 4_000);
    weigh(engine.0.id(), "0");
    weigh(agent.0.id(), "0");
    kill(Pid::from_raw(agent.0.id().cast_signed()), Signal::SIGINT).unwrap();
    until("the agent's end", 120, || agent.0.try_wait().unwrap().is_some());
    drop(engine);
    let said = std::fs::read_to_string(&log).unwrap();
    let trace = read(&out);
    let ledger = trace.health.ledger.unwrap();
    assert!(!trace.health.cut_short() && ledger.balances(), "{said}\n{ledger:?}");
    assert!(ledger.spans_ring_full > 0, "the agent was not slower than the engine: {said}");
    assert_eq!(trace.health.spans_received, ledger.spans_sent, "{said}");
}
