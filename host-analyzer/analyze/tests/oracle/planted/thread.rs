//! One thread of the engine is stopped again and again. A SIGSTOP would stop all of them, whichever
//! thread gets it. A debugger can stop one, which is the same state for the kernel's scheduler.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use profinfer_analysis::budget::{Budget, Class, TokenBudget};
use profinfer_analysis::phase::{Phase, Phases};
use profinfer_trace::model::Model;

use super::{Checked, holds, only_in};
use crate::support::{Parts, engine, model, parts, read, started};

const STOPS: usize = 40;
const STOP: Duration = Duration::from_millis(5);

/// Stops a thread for [`STOP`] again and again. Returns the total time, ns.
fn stop_again_and_again(tid: i32) -> u64 {
    let thread = Pid::from_raw(tid);
    ptrace::seize(thread, Options::empty()).expect("nobody else traces it");
    let mut stopped = Duration::ZERO;
    for _ in 0..STOPS {
        ptrace::interrupt(thread).expect("the engine ended before the last stop");
        waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap();
        let since = Instant::now();
        std::thread::sleep(STOP);
        ptrace::cont(thread, None).unwrap();
        stopped += since.elapsed();
        std::thread::sleep(STOP * 2);
    }
    ptrace::interrupt(thread).expect("the engine ended before the last stop");
    waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap();
    ptrace::detach(thread, None).unwrap();
    stopped.as_nanos() as u64
}

/// Runs an engine with two threads, and stops one. Returns the total time in ns, the ID of that
/// thread, and that of the other.
fn with_stops(parts: &Parts, bin: &Path) -> (Model, u64, [u32; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let (driver, gguf) = (bin.join("nodes"), model(parts, "dense-q8"));
    let mut command = Command::new(&parts.agent);
    command
        .args(["record", "--out", out.to_str().unwrap(), "--", driver.to_str().unwrap(), "-m", &gguf])
        .args(["-t", "2", "-p", "8", "-n", "1500"])
        // So that no thread sleeps by itself.
        .env("OMP_WAIT_POLICY", "active");
    let (mut agent, engine) = started(&mut command, &out, 100_000);
    let pid = engine.pid();
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let tids = tasks.map(|t| t.unwrap().file_name().to_str().unwrap().parse::<u32>().unwrap());
    let worker = tids.filter(|tid| *tid != pid).max().expect("two threads compute");
    let planted = stop_again_and_again(worker.cast_signed());
    assert!(agent.wait().unwrap().success());
    (read(&out), planted, [worker, pid])
}

/// The time is `blocked` for the stopped thread, waiting for a blocked thread for the other one,
/// and `blocked` for the token. The affected tokens have more of it than the others, and of nothing
/// else.
fn check(trace: &Model, planted: u64, [worker, caller]: [u32; 2]) -> Checked {
    let budget = Budget::compute(trace, &Phases::compute(trace));
    let decode = budget.phase(Phase::Decode).unwrap();
    let of = |tid: u32| decode.threads.iter().find(|t| t.tid == Some(tid)).unwrap().parts;
    // A thread that is stopped while it is idle delays nobody. Between graphs, OpenMP's own barrier
    // waits for it, which no operator shows.
    let parts = [
        ("blocked of the thread", of(worker).get(Class::Blocked), 0.85),
        ("waited for by the other", of(caller).get(Class::WaitBlocked), 0.3),
        ("blocked of the tokens", decode.wall.get(Class::Blocked), 0.3),
    ];
    for (what, ns, least) in parts {
        let part = ns as f64 / planted as f64;
        println!("{what}: {part:.2} of {:.1} ms", planted as f64 / 1e6);
        if !(least..1.3).contains(&part) {
            return Err(format!("{part:.2} of {planted} ns are {what}"));
        }
    }
    let stop = STOP.as_nanos() as u64;
    let tokens = budget.tokens.into_iter().filter(|t| t.phase == Phase::Decode).skip(1);
    let (hit, missed): (Vec<TokenBudget>, Vec<TokenBudget>) =
        tokens.partition(|t| t.wall.get(Class::Blocked) > stop / 2);
    if !(STOPS / 4..=STOPS).contains(&hit.len()) {
        return Err(format!("{STOPS} stops hit {} tokens", hit.len()));
    }
    only_in(Class::Blocked, stop, &hit, &missed)
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_worker_that_is_stopped() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    holds(|| {
        let (trace, planted, threads) = with_stops(&parts, &bin);
        check(&trace, planted, threads)
    });
}
