//! Properties of CPUs: a governor's limit, and cores of two speeds, on a copy of the system's files
//! that only the agent and the engine see.

use std::fs;
use std::process::{Command, Stdio};

use profinfer_trace::model::Model;

use super::causes::generate;
use super::{Beside, find, findings, kept_by};
use crate::support::{Parts, parts, read};

/// Runs the engine under the agent, with these files in every CPU's folder in sysfs.
fn with_files(
    parts: &Parts,
    options: &[&str],
    command: &[String],
    files: &dyn Fn(usize) -> Vec<(&'static str, String)>,
) -> Model {
    let dir = tempfile::tempdir().unwrap();
    let (tree, out) = (dir.path().join("cpu"), dir.path().join("trace.pfi"));
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    fs::create_dir_all(&tree).unwrap();
    for file in ["online", "possible", "present"] {
        fs::write(tree.join(file), fs::read(format!("/sys/devices/system/cpu/{file}")).unwrap()).unwrap();
    }
    for cpu in 0..cpus {
        for (file, text) in files(cpu) {
            let path = tree.join(format!("cpu{cpu}/{file}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text + "\n").unwrap();
        }
    }
    let script = "mount --bind \"$0\" /sys/devices/system/cpu && exec \"$@\"";
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script, tree.to_str().unwrap()])
        .arg(&parts.agent)
        .args(["record", "--out", out.to_str().unwrap()])
        .args(options)
        .arg("--")
        .args(command)
        .stdout(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    read(&out)
}

/// A maximum clock of 2.4 GHz and this limit, kHz.
fn limit(limit_khz: u32) -> impl Fn(usize) -> Vec<(&'static str, String)> {
    move |_| {
        vec![
            ("cpufreq/cpuinfo_max_freq", "2400000".to_owned()),
            ("cpufreq/cpuinfo_min_freq", "400000".to_owned()),
            ("cpufreq/scaling_min_freq", "400000".to_owned()),
            ("cpufreq/scaling_max_freq", limit_khz.to_string()),
            ("cpufreq/scaling_governor", "powersave".to_owned()),
        ]
    }
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_limit_of_the_clock() {
    let Some(parts) = parts() else { return };
    let Some(run) = generate(&parts, "1", "32") else { return };
    let limited = findings(&with_files(&parts, &[], &run.command, &limit(1_200_000)));
    let finding = find(&limited, "clock_limit").unwrap_or_else(|| panic!("{limited:#?}"));
    // Half of the clock: at most half of the token, at least a fifth of that.
    let (gain, token) = (finding.found.gain.unwrap(), limited.headline.token_ns.unwrap() as f64);
    assert!((gain.high_ns as f64 / token - 0.5).abs() < 0.01, "{gain:?}");
    assert!((gain.low_ns as f64 / token - 0.1).abs() < 0.01, "{gain:?}");
    let free = findings(&with_files(&parts, &[], &run.command, &limit(2_400_000)));
    assert!(find(&free, "clock_limit").is_none(), "{free:#?}");
    assert!(free.ruled_out.iter().any(|(rule, _)| rule.code == "clock_limit"), "{free:#?}");
}

/// CPU 1 as a slower core: a task with higher priority uses it for one of every two tenths of a
/// millisecond. Without the scheduler level, that cannot be distinguished from a slow core.
const SLOW: &str = "
import os, time
os.sched_setaffinity(0, {1})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
while True:
    end = time.monotonic() + 1e-4
    while time.monotonic() < end:
        pass
    time.sleep(1e-4)
";

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_slow_core() {
    let Some(parts) = parts() else { return };
    let (Some(both), Some(fast)) = (generate(&parts, "2", "48"), generate(&parts, "1", "48")) else { return };
    let capacity = |cpu: usize| vec![("cpu_capacity", if cpu == 1 { "512" } else { "1024" }.to_owned())];
    let levels = ["--levels", "token,graph,op"];
    let on = |cpus: &str, command: &[String]| {
        // Each thread stays on its core; otherwise the kernel would move both to the free one.
        let affinity = format!("GOMP_CPU_AFFINITY={cpus}");
        let pinned: Vec<String> = ["env", &affinity, "taskset", "-c", cpus].map(str::to_owned).into();
        with_files(&parts, &levels, &[&pinned[..], command].concat(), &capacity)
    };
    let slowed = |run: &dyn Fn() -> Model| {
        let slow = Command::new("python3").args(["-c", SLOW]).spawn().unwrap();
        let _slow = Beside(slow);
        run()
    };
    kept_by("mixed_cores", &|| slowed(&|| on("0,1", &both.command)), &|| slowed(&|| on("0", &fast.command)));
    // A core that is slow by name only is no cause, and there is one CPU per thread.
    let even = findings(&on("0,1", &both.command));
    for code in ["mixed_cores", "too_many_threads"] {
        assert!(find(&even, code).is_none(), "{even:#?}");
    }
}
