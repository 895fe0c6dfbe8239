//! The scheduler level compared with the kernel's own accounts of the same threads
//! (/proc/PID/task/TID/schedstat), with a planted task next to the engine on its only CPU.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_analysis::Analysis;
use profinfer_skip::skip;
use profinfer_trace::model::{Model, ThreadState};

use crate::support::{Parts, engine, model, parts, read, record, try_signal};

/// Shorter than the 15 letters that the kernel keeps.
pub(crate) const PLANTED: &str = "planted-busy";

/// Time on a CPU and time waiting for one, ns, since the thread started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) ran_ns: u64,
    pub(crate) waited_ns: u64,
}

/// The kernel's accounts of the threads of some processes.
pub(crate) struct Accounts {
    /// Time before they were read, ns.
    pub(crate) at_ns: u64,
    /// Duration of the reads, ns: the reader may have waited.
    pub(crate) took_ns: u64,
    /// Time that a hypervisor has taken of the CPUs so far, ns. The kernel adds it to no thread's
    /// account.
    pub(crate) stolen_ns: u64,
    pub(crate) of: BTreeMap<u32, Account>,
}

pub(crate) fn accounts(pids: &[u32]) -> Accounts {
    let now = || {
        let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
        u64::try_from(now.tv_sec()).unwrap() * 1_000_000_000 + u64::try_from(now.tv_nsec()).unwrap()
    };
    let at_ns = now();
    let account = |pid: u32, tid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
        let mut numbers = text.split_whitespace().map(|n| n.parse().unwrap());
        Some(Account { ran_ns: numbers.next()?, waited_ns: numbers.next()? })
    };
    let of = |pid: u32| {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let tids = tasks.filter_map(|t| t.file_name().to_str()?.parse().ok());
        tids.filter_map(move |tid| Some((tid, account(pid, tid)?))).collect::<Vec<_>>()
    };
    let of = pids.iter().flat_map(|pid| of(*pid)).collect();
    // The eighth number of the line for all CPUs (proc_stat(5)), in hundredths of a second.
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let stolen: u64 = stat.split_whitespace().nth(8).unwrap().parse().unwrap();
    Accounts { at_ns, took_ns: now() - at_ns, stolen_ns: stolen * 10_000_000, of }
}

/// The process named `name` that `parent` or one of its children started.
pub(crate) fn descendant(parent: u32, name: &str) -> Option<u32> {
    let field = |pid: u32, field: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|l| Some(l.strip_prefix(field)?.trim().to_owned()))
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let children = processes
        .filter_map(|p| p.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| field(*pid, "PPid:") == Some(parent.to_string()));
    children.into_iter().find_map(|child| match field(child, "Name:") {
        Some(found) if found == name => Some(child),
        _ => descendant(child, name),
    })
}

pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The engine. It ends also if the test fails: its parent is the agent.
pub(crate) struct Ended(pub(crate) u32);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = try_signal(self.0, Signal::SIGTERM);
    }
}

/// A shell that does nothing as fast as it can, under a unique name, on the first CPU.
pub(crate) fn plant(dir: &Path) -> Killed {
    let path = dir.join(PLANTED);
    std::os::unix::fs::symlink("/bin/sh", &path).unwrap();
    let child =
        Command::new("taskset").args(["-c", "0"]).arg(&path).args(["-c", "while :; do :; done"]).spawn();
    Killed(child.unwrap())
}

/// Time in the states between two times, ns.
fn in_states(model: &Model, tid: u32, states: &[ThreadState], from: u64, to: u64) -> u64 {
    let rows = &model.sched.states;
    let of = (0..rows.len())
        .filter(|i| model.threads.get(rows.thread[*i]).tid == tid && states.contains(&rows.state[*i]));
    of.map(|i| overlap(rows.start_ns[i], rows.duration_ns[i], from, to)).sum()
}

fn overlap(start: u64, length: u64, from: u64, to: u64) -> u64 {
    (start + length).min(to).saturating_sub(start.max(from))
}

/// The two differ by what the kernel has not accounted yet: for a running thread, the time since
/// the last tick (10 ms at most); for a waiting one, the complete wait (time slices of all others
/// on the CPU, about 100 ms on a busy machine). Any other difference would grow with time.
fn agree(what: &str, ours: u64, theirs: u64, books_ns: u64) {
    let allowed = books_ns + theirs / 50;
    println!("{what}: {:.1} ms, the kernel says {:.1} ms", ours as f64 / 1e6, theirs as f64 / 1e6);
    assert!(ours.abs_diff(theirs) <= allowed, "{what}: {ours} ns against {theirs} ns");
}

#[test]
fn a_planted_task_is_the_culprit_by_the_kernels_own_accounts() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    if !Path::new("/proc/self/schedstat").exists() {
        return skip("this kernel keeps no accounts of waiting (CONFIG_SCHED_INFO)");
    }
    let dir = tempfile::tempdir().unwrap();
    let planted = plant(dir.path());
    let (driver, gguf, out) = (bin.join("nodes"), model(&parts, "dense-q8"), dir.path().join("trace.pfi"));
    let agent = Command::new(&parts.agent)
        .args([
            "record",
            "--levels",
            "token,graph,sched",
            "--out",
            out.to_str().unwrap(),
            "--",
            "taskset",
            "-c",
            "0",
        ])
        .arg(driver)
        .args(["-m", &gguf, "-t", "2", "-p", "5", "-n", "100", "-r", "100000", "--fresh"])
        .stdout(Stdio::null())
        .spawn();
    let mut agent = Killed(agent.unwrap());
    let pid = wait_for("the engine", || descendant(agent.0.id(), "nodes"));
    let engine = Ended(pid);
    wait_for("both threads", || (accounts(&[pid]).of.len() >= 2).then_some(()));
    std::thread::sleep(Duration::from_millis(1500));
    let culprit = planted.0.id();
    let before = accounts(&[pid, culprit]);
    std::thread::sleep(Duration::from_secs(4));
    let after = accounts(&[pid, culprit]);
    let (from, to) = (before.at_ns, after.at_ns);
    // Differences that neither can know. Two ticks are the rounding of /proc/stat.
    let unsure = before.took_ns + after.took_ns + (after.stolen_ns - before.stolen_ns) + 20_000_000;
    println!(
        "reading took {} and {} ns, stolen {} ns",
        before.took_ns,
        after.took_ns,
        after.stolen_ns - before.stolen_ns
    );
    let (before, after) = (before.of, after.of);
    drop(engine);
    agent.0.wait().unwrap();
    let trace = read(&out);
    assert!(trace.sched.recorded && trace.health.perfect(), "{:?}", trace.health);

    let workers: Vec<u32> =
        after.keys().copied().filter(|t| *t != culprit && before.contains_key(t)).collect();
    assert!(workers.len() >= 2, "{after:?}");
    for tid in workers {
        let (was, is) = (before[&tid], after[&tid]);
        let of = |states: &[ThreadState]| in_states(&trace, tid, states, from, to);
        let ran = is.ran_ns - was.ran_ns;
        agree(&format!("{tid} on a CPU"), of(&[ThreadState::Running]), ran, unsure);
        let waits = of(&[ThreadState::Preempted, ThreadState::Woken]);
        agree(&format!("{tid} waiting"), waits, is.waited_ns - was.waited_ns, 200_000_000 + unsure);
    }
    // The engine always wanted its only CPU: two threads that never sleep for long.
    let turns = &trace.sched.turns;
    let of_culprit = (0..turns.len()).filter(|i| trace.sched.tasks[turns.task[*i].0 as usize].tid == culprit);
    let time: u64 = of_culprit.map(|i| overlap(turns.start_ns[i], turns.duration_ns[i], from, to)).sum();
    let ran = after[&culprit].ran_ns - before[&culprit].ran_ns;
    agree("the planted task", time, ran, unsure + ran / 10);

    let analysis = Analysis::compute(&trace);
    let row = analysis.sched.interference.iter().find(|r| r.tid == culprit).expect("the culprit");
    assert_eq!((row.pid, row.name.as_str(), row.engine, row.idle), (culprit, PLANTED, false, false));
    assert!(row.command.ends_with("planted-busy"), "{}", row.command);
    assert!(row.cgroup.starts_with('/'), "{}", row.cgroup);
    assert_eq!(row.cpus.iter().map(|c| c.cpu).collect::<Vec<_>>(), [0]);
    assert!(row.turns > 5 && row.decode_ns > time / 2 && row.threads.len() >= 2, "{row:?}");
    // Only what the kernel omitted is unknown. It counts the programs that it did not run because a
    // map was in use. But kernels of some virtual machines also hide the threads of their
    // supervisor from every tracer: they report a switch to one, but not the switch away (also with
    // ftrace and bpftrace), until the engine's thread appears again.
    let missed = analysis.conditions.system.sched_missed.value().copied();
    println!("runs of programs that the kernel left out: {missed:?}");
    for thread in &analysis.sched.threads {
        let (whole, computes) = (&thread.whole, thread.decode.unknown_ns + thread.prefill.unknown_ns);
        println!("{}: {} ns unknown, {computes} of them while it computes", thread.tid, whole.unknown_ns);
        let wanted = [&thread.decode, &thread.prefill].map(|t| t.running_ns + t.preempted_ns);
        assert!(computes <= 1_000_000 + wanted.iter().sum::<u64>() / 50, "{missed:?} {thread:?}");
        // While it starts, the agent stops and continues it again and again.
        assert!(
            whole.unknown_ns <= 10_000_000 + (whole.running_ns + whole.preempted_ns) / 50,
            "{missed:?} {thread:?}"
        );
    }
}

fn short(parts: &Parts, levels: &str) -> Option<Model> {
    let bin = engine("PROFINFER_ENGINE_DIR")?;
    let (driver, gguf) = (bin.join("nodes"), model(parts, "dense-q8"));
    let command = [driver.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "10"];
    Some(record(parts, &["--levels", levels], &command).0)
}

#[test]
fn without_it_nobody_of_that_name_is_blamed_and_without_the_level_nothing_is_said() {
    let Some(parts) = parts() else { return };
    let Some(on) = short(&parts, "all") else { return };
    assert!(on.sched.recorded && !on.sched.states.is_empty() && on.health.perfect(), "{:?}", on.health);
    let sched = Analysis::compute(&on).sched;
    assert!(sched.interference.iter().all(|r| r.name != PLANTED));
    // Both threads ran operators, and ran for at least that time.
    for thread in Analysis::compute(&on).thread.iter().filter(|t| t.spans > 0) {
        let times = sched.threads.iter().find(|t| t.tid == thread.tid).expect("its states");
        let on_cpu_or_waiting = times.whole.running_ns + times.whole.preempted_ns + times.whole.woken_ns;
        assert!(on_cpu_or_waiting + 1_000_000 > thread.work_ns, "{times:?} {thread:?}");
    }
    let Some(off) = short(&parts, "token,graph,op") else { return };
    assert!(!off.sched.recorded && off.sched.states.is_empty() && off.health.sched.is_none());
    assert!(off.session.probes.iter().all(|p| !p.symbol.starts_with("sched:")));
}

/// Old engines without OpenMP start a thread for each graph. On one CPU it waits there for the calling
/// thread, which spins: the wait is recorded from its start on, before its first probe.
#[test]
fn a_thread_that_lasts_one_graph_is_seen_to_wait_for_its_first_cpu() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_OLD_ENGINE_DIR") else { return };
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command =
        ["taskset", "-c", "0", driver.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "10"];
    let m = record(&parts, &["--levels", "all"], &command).0;
    let caller = m.llama_calls.thread[0];
    let mut first_spans = BTreeMap::new();
    for (thread, start) in m.spans.thread.iter().zip(&m.spans.start_ns) {
        first_spans
            .entry(thread.0)
            .and_modify(|first: &mut u64| *first = (*first).min(*start))
            .or_insert(*start);
    }
    first_spans.remove(&caller.0);
    assert!(first_spans.len() >= 10, "a thread for each graph: {first_spans:?}");
    for (thread, span) in first_spans {
        let states = &m.sched.states;
        let first = (0..states.len()).find(|i| states.thread[*i].0 == thread).expect("its states");
        let seen = (states.state[first], states.start_ns[first] < span);
        assert_eq!(seen, (ThreadState::Woken, true), "thread {thread}");
    }
}
