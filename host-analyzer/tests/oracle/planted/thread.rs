//! One thread of the engine is stopped again and again. A SIGSTOP would stop all of them, whichever thread it is sent to; a debugger
//! can stop one, which is the same state for the kernel's scheduler.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host_analyzer::analyses::budget::{Budget, Class, TokenBudget};
use host_analyzer::analyses::phase::{Phase, Phases};
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::only_in;
use crate::support::{engine, model, parts, read};

const STOPS: usize = 40;
const STOP: Duration = Duration::from_millis(5);

/// Stops a thread for [`STOP`] again and again; for how long in all, ns.
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

/// The time is `blocked` of the thread that was stopped, waiting for a blocked thread of the other one, and `blocked` of the token. The
/// tokens that were hit have it more than the others, and nothing else.
#[test]
fn a_worker_that_is_stopped() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "smollm2"));
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--out", out.to_str().unwrap(), "--", driver.to_str().unwrap(), "-m", &gguf])
        .args(["-t", "2", "-p", "8", "-n", "400"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It decodes: the recording grows.
    let begun = Instant::now();
    while fs::metadata(&out).map_or(0, |m| m.len()) < 300_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(5));
    }
    let children = Command::new("pgrep").args(["-P", &agent.id().to_string()]).output().unwrap().stdout;
    let pid = String::from_utf8_lossy(&children).trim().to_owned();
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let tids = tasks.map(|t| t.unwrap().file_name().to_str().unwrap().parse::<i32>().unwrap());
    let worker = tids.filter(|tid| tid.to_string() != pid).max().expect("two threads compute");
    let planted = stop_again_and_again(worker) as f64;
    assert!(agent.wait().unwrap().success());

    let trace = read(&out);
    let budget = Budget::of(&trace, &Phases::of(&trace));
    let decode = budget.phase(Phase::Decode).unwrap();
    let of = |tid: i32| decode.threads.iter().find(|t| t.tid == Some(tid.cast_unsigned())).unwrap();
    let (stopped, other) = (of(worker).parts, of(pid.parse().unwrap()).parts);
    let part = |ns: u64| ns as f64 / planted;
    let sums = [
        part(stopped.get(Class::Blocked)),
        part(other.get(Class::WaitBlocked)),
        part(decode.wall.get(Class::Blocked)),
    ];
    println!(
        "stopped for {:.1} ms; of it blocked, waited for, and lost by tokens: {sums:.2?}",
        planted / 1e6
    );
    // A thread that is stopped while it has nothing to do delays nobody, and the other may have done its part by then.
    assert!((0.85..1.3).contains(&sums[0]), "{stopped:?}");
    assert!((0.6..1.3).contains(&sums[1]), "{other:?}");
    assert!((0.6..1.3).contains(&sums[2]), "{:?}", decode.wall);
    let half = STOP.as_nanos() as u64 / 2;
    let tokens = budget.tokens.into_iter().filter(|t| t.phase == Phase::Decode).skip(1);
    let (hit, missed): (Vec<TokenBudget>, Vec<TokenBudget>) =
        tokens.partition(|t| t.wall.get(Class::Blocked) > half);
    println!("{} tokens were hit, {} were not", hit.len(), missed.len());
    assert!((STOPS / 2..=STOPS).contains(&hit.len()), "{} tokens", hit.len());
    only_in(Class::Blocked, STOP.as_nanos() as u64, &hit, &missed);
}
