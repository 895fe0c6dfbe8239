//! Facts of a real engine, compared with what was set and with the kernel's figures: under a quota,
//! on chosen CPUs, with variables.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_analysis::Analysis;
use profinfer_analysis::fact::Conditions;
use profinfer_analysis::fact::reading::Limit;
use profinfer_trace::model::Model;

use crate::group::Group;
use crate::support::{Parts, engine, model, parts, read, record, signal, tool};

/// Must never appear in a recording.
const SECRET: &str = "geheim-4711";

/// Periods of a control group, throttled periods, and throttled time in ns.
fn stat(group: &Group) -> [u64; 3] {
    let text = group.read("cpu.stat");
    ["nr_periods ", "nr_throttled ", "throttled_time "]
        .map(|key| text.lines().find_map(|l| l.strip_prefix(key)).unwrap().parse().unwrap())
}

/// Ends the engine with the test.
struct Engine(Child);

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Engine {
    /// An engine in the inner group, on the first CPU, that computes until it is ended.
    fn start(parts: &Parts, group: &Group) -> Option<Self> {
        let nodes = engine("PROFINFER_ENGINE_DIR")?.join("nodes");
        let script = format!("echo $$ > {} && exec taskset -c 0 \"$@\"", group.inner_file());
        let gguf = model(parts, "dense-q8");
        let child = Command::new("sh")
            .args(["-c", &script, "sh", nodes.to_str().unwrap(), "-m", &gguf])
            .args(["-t", "2", "-p", "5", "-n", "100", "-r", "100000", "--fresh"])
            .envs([("OMP_WAIT_POLICY", "passive"), ("GGML_TEST", "a b"), ("MY_OWN_SECRET", SECRET)])
            .env("LLAMA_API_KEY", SECRET)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let engine = Self(child);
        // It has loaded its weights and computes.
        let begun = Instant::now();
        while fs::read_dir(format!("/proc/{}/task", engine.0.id())).unwrap().count() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "the engine does not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(engine)
    }
}

fn kib(text: &str, key: &str) -> u64 {
    let line = text.lines().find_map(|l| l.strip_prefix(key)).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() * 1024
}

#[test]
fn facts_are_what_was_set_and_what_the_kernel_counts() {
    let Some(parts) = parts() else { return };
    let Some(group) = Group::new("cpu", &[]) else { return };
    let Some(engine) = Engine::start(&parts, &group) else { return };
    // Set after the weights are loaded. The quota is so small that the engine uses it up even if
    // other programs have most of the CPU.
    group.set("cpu.cfs_period_us", "50000");
    group.set("cpu.cfs_quota_us", "5000");
    let pid = engine.0.id();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let mut agent = Command::new(&parts.agent)
        .args(["record", "--full", "--out", out.to_str().unwrap(), "--pid", &pid.to_string()])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The agent's first reading is between these two.
    let before = stat(&group);
    let begun = Instant::now();
    while fs::metadata(&out).map_or(0, |m| m.len()) < 20_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no trace");
        std::thread::sleep(Duration::from_millis(20));
    }
    let met = stat(&group);
    std::thread::sleep(Duration::from_secs(4));
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    // The agent's last reading is between these two.
    let last = stat(&group);
    signal(agent.id(), Signal::SIGINT);
    assert!(agent.wait().unwrap().success());
    let after = stat(&group);

    let bytes = fs::read(&out).unwrap();
    assert!(!bytes.windows(SECRET.len()).any(|w| w == SECRET.as_bytes()), "a secret is in the recording");
    let trace: Model = read(&out);
    assert!(trace.health.perfect(), "{:?}", trace.health);
    let c: Conditions = Analysis::compute(&trace).conditions;
    let p = c.process(pid).unwrap();

    // The settings.
    assert_eq!((p.variable("OMP_WAIT_POLICY"), p.variable("GGML_TEST")), (Some("passive"), Some("a b")));
    assert_eq!(p.variable("LLAMA_API_KEY"), None);
    assert!(p.environment.iter().all(|v| v.name != "MY_OWN_SECRET"));
    assert_eq!(p.affinity.value().unwrap(), &[0]);
    let Some(Limit::At(quota)) = p.cgroup.quota.value() else { panic!("{:?}", p.cgroup) };
    assert_eq!(
        (quota.quota_us, quota.period_us, quota.milli_cpus, quota.level),
        (5_000, 50_000, 100, Some(1))
    );
    assert_eq!((p.cgroup.version.value(), p.milli_cpus()), (Some(&1), Some(100)));
    assert!(p.cgroup.path.value().unwrap().ends_with("/inner"));
    assert!(p.program.value().unwrap().ends_with("nodes"), "{:?}", p.program);
    assert_eq!(p.nice.value(), Some(&0));

    // The kernel's counters of the group with the quota.
    let rises = [&p.cgroup.periods, &p.cgroup.throttled_periods, &p.cgroup.throttled_ns];
    for (i, rise) in rises.into_iter().enumerate() {
        let rise = rise.value().unwrap();
        let (least, most) = (last[i] - met[i], after[i] - before[i]);
        println!("{rise:?}, by the group from {least} to {most}");
        assert!((least..=most).contains(&rise.whole) && rise.whole > 0);
    }
    let throttled = p.cgroup.throttled_periods.value().unwrap();
    assert!(throttled.decode.is_some_and(|n| n > 0 && n <= throttled.whole), "{throttled:?}");

    // Its memory from the kernel, which changes by a few pages.
    for (ours, key) in [
        (&p.rss_anonymous_bytes, "RssAnon:"),
        (&p.rss_file_bytes, "RssFile:"),
        (&p.rss_shared_bytes, "RssShmem:"),
    ] {
        let (ours, theirs) = (ours.value().unwrap().last, kib(&status, key));
        assert!(ours.abs_diff(theirs) <= 256 << 10, "{key} {theirs}, {ours}");
    }
    assert_eq!(p.threads.value().unwrap().last, kib(&status, "Threads:") / 1024);

    // Two threads on one CPU wait for each other.
    assert_eq!(c.threads.len(), 2, "{:?}", c.threads);
    for thread in &c.threads {
        assert_eq!(thread.affinity.value().unwrap(), &[0]);
        if let Some(run) = thread.run_ns.value() {
            assert!(run.whole > 0 && thread.run_delay_ns.value().unwrap().whole > 0, "{thread:?}");
        }
    }

    // The system, from its own files.
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap();
    assert_eq!(c.system.memory_total_bytes.value(), Some(&kib(&meminfo, "MemTotal:")));
    let available = c.system.memory_available_bytes.value().unwrap();
    assert!(available.min <= available.last && available.max < kib(&meminfo, "MemTotal:"));
    assert!(c.cpu(0).unwrap().core.value().is_some_and(|core| !core.is_empty()));
}

/// The title of the report is the name of the program; the kernel keeps 15 bytes of it.
#[test]
fn a_long_name_is_whole() {
    let Some(parts) = parts() else { return };
    let Some(completion) = tool("llama-completion") else { return };
    let gguf = model(&parts, "dense-q8");
    let command = [completion.to_str().unwrap(), "-m", &gguf, "-p", "a", "-n", "4", "-no-cnv", "-t", "2"];
    let (trace, _) = record(&parts, &[], &command);
    assert_eq!(trace.session.processes.last().unwrap().name, "llama-completion");
    assert_eq!(Analysis::compute(&trace).engine.last().unwrap().name, "llama-completion");
}
