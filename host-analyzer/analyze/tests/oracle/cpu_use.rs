//! Who had which CPU, compared with the kernel's own account of the same tasks.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use profinfer_analysis::Analysis;
use profinfer_analysis::cpu_use::CpuUseIndex;
use profinfer_skip::skip;
use profinfer_trace::model::Model;

use crate::sched::{Ended, Killed, PLANTED, accounts, descendant, plant, wait_for};
use crate::support::{engine, model, parts, read, record};

/// Time of a task on a CPU between two times, ns.
fn had(trace: &Model, cpu: u16, tid: u32, from: u64, to: u64) -> u64 {
    let index = CpuUseIndex::new(trace).expect("recorded");
    let of = index.busy(cpu, from, to).filter(|(task, _)| trace.sched.tasks[task.0 as usize].tid == tid);
    of.map(|(_, ns)| ns).sum()
}

/// The engine may move, so its threads leave the CPU to the planted task, and none waits there.
#[test]
fn a_busy_cpu_has_its_holder_although_the_engine_has_left_it() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    if !Path::new("/proc/self/schedstat").exists() {
        return skip("this kernel keeps no accounts of waiting (CONFIG_SCHED_INFO)");
    }
    let dir = tempfile::tempdir().unwrap();
    let planted = plant(dir.path());
    let (driver, gguf, out) = (bin.join("nodes"), model(&parts, "dense-q8"), dir.path().join("trace.pfi"));
    let agent = Command::new(&parts.agent)
        .args(["record", "--levels", "token,graph,sched", "--out", out.to_str().unwrap(), "--"])
        .arg(driver)
        .args(["-m", &gguf, "-t", "2", "-p", "5", "-n", "100", "-r", "100000", "--fresh"])
        .stdout(Stdio::null())
        .spawn();
    let mut agent = Killed(agent.unwrap());
    let pid = wait_for("the engine", || descendant(agent.0.id(), "nodes"));
    let engine = Ended(pid);
    wait_for("both threads", || (accounts(&[pid]).of.len() >= 2).then_some(()));
    std::thread::sleep(Duration::from_millis(1000));
    let culprit = planted.0.id();
    let before = accounts(&[culprit]);
    std::thread::sleep(Duration::from_secs(4));
    let after = accounts(&[culprit]);
    drop(engine);
    agent.0.wait().unwrap();
    let trace = read(&out);
    let ledger = trace.health.cpu_use.expect("its totals");
    assert!(ledger.nothing_lost() && trace.sched.cpu_use_gaps.is_empty(), "{ledger:?}");
    assert_eq!(ledger.sent, trace.health.cpu_use_received);

    let (from, to) = (before.at_ns, after.at_ns);
    let had = had(&trace, 0, culprit, from, to);
    let ran = after.of[&culprit].ran_ns - before.of[&culprit].ran_ns;
    let unsure = before.took_ns + after.took_ns + (after.stolen_ns - before.stolen_ns) + 20_000_000;
    println!("planted: {} of {} ns on CPU 0, the kernel says {ran}; {ledger:?}", had, to - from);
    assert!(had.abs_diff(ran) <= unsure + ran / 50, "{had} ns against {ran} ns");

    let analysis = Analysis::compute(&trace);
    let cpu = analysis.sched.cpu_holders.iter().find(|c| c.cpu == 0).expect("CPU 0");
    let holder = cpu.holders.iter().find(|h| h.tid == culprit).expect("the planted task");
    assert_eq!((holder.pid, holder.name.as_str(), holder.engine), (culprit, PLANTED, false));
    assert!(holder.command.ends_with(PLANTED) && holder.cgroup.starts_with('/'), "{holder:?}");
    assert!(holder.decode_ns > had / 2 && holder.decode_ns <= holder.busy_ns, "{holder:?}");
    // No more than a CPU has, with the engine's own time.
    let all: u64 = cpu.holders.iter().map(|h| h.busy_ns).sum::<u64>() + cpu.rest_ns;
    assert!(all <= trace.health.cpu_use.map_or(0, |l| l.at_ns) - trace.session.start_ns, "{cpu:?}");
}

#[test]
fn what_only_the_engine_uses_is_not_sent_and_without_the_level_nothing_is_said() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command = [driver.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "100"];
    let (on, _) = record(&parts, &["--levels", "token,graph,sched"], &command);
    let rows = &on.sched.cpu_use;
    assert!(on.sched.cpu_use_recorded && on.health.cpu_use.unwrap().nothing_lost());
    // A window has 10 ms, unless it was open at the end or a turn of 2 ms follows; and it has time of other
    // tasks, or some that nobody is known to have had.
    let all: Vec<usize> = (0..rows.len()).collect();
    let same = |a: &usize, b: &usize| (rows.cpu[*a], rows.start_ns[*a]) == (rows.cpu[*b], rows.start_ns[*b]);
    let windows: Vec<&[usize]> = all.chunk_by(same).collect();
    for (at, window) in windows.iter().enumerate() {
        let (cpu, start, length) =
            (rows.cpu[window[0]], rows.start_ns[window[0]], rows.duration_ns[window[0]]);
        let mut behind = windows[at + 1..].iter().map(|w| w[0]).filter(|i| rows.cpu[*i] == cpu);
        let long = behind.nth(1).is_none_or(|i| rows.start_ns[i] - start >= 2_000_000);
        assert!(length >= 10_000_000 || long, "{length} ns");
        let had = window.iter().map(|i| rows.busy_ns[*i]).sum::<u64>();
        assert!(had <= length, "{window:?}");
        let task = |i: &usize| &on.sched.tasks[rows.task[*i].0 as usize];
        let own = |pid: u32| on.session.processes.iter().any(|p| p.pid == pid);
        let others = window.iter().filter(|i| task(i).tid != 0 && !own(task(i).pid));
        let others = others.map(|i| rows.busy_ns[*i]).sum::<u64>();
        assert!(others + (length - had) >= 50_000, "{window:?}");
    }
    let (off, _) = record(&parts, &["--levels", "token,graph"], &command);
    assert!(!off.sched.cpu_use_recorded && off.sched.cpu_use.is_empty() && off.health.cpu_use.is_none());
}
