//! A governor's limit, on a copy of the system's files that only the agent and the engine see.

use std::fs;
use std::process::{Command, Stdio};

use super::causes::generate;
use super::{find, findings};
use crate::support::{Parts, parts, read};

/// Runs the engine under the agent where every CPU has a highest clock of 2.4 GHz and this limit, kHz.
fn with_limit(parts: &Parts, command: &[String], limit_khz: u32) -> host_analyzer::model::Model {
    let dir = tempfile::tempdir().unwrap();
    let (tree, out) = (dir.path().join("cpu"), dir.path().join("trace.pfi"));
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    fs::create_dir_all(&tree).unwrap();
    for file in ["online", "possible", "present"] {
        fs::write(tree.join(file), fs::read(format!("/sys/devices/system/cpu/{file}")).unwrap()).unwrap();
    }
    for cpu in 0..cpus {
        let policy = tree.join(format!("cpu{cpu}/cpufreq"));
        fs::create_dir_all(&policy).unwrap();
        let files = [
            ("cpuinfo_max_freq", "2400000".to_owned()),
            ("cpuinfo_min_freq", "400000".to_owned()),
            ("scaling_min_freq", "400000".to_owned()),
            ("scaling_max_freq", limit_khz.to_string()),
            ("scaling_governor", "powersave".to_owned()),
        ];
        for (file, text) in files {
            fs::write(policy.join(file), text + "\n").unwrap();
        }
    }
    let script = "mount --bind \"$0\" /sys/devices/system/cpu && exec \"$@\"";
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script, tree.to_str().unwrap()])
        .arg(&parts.agent)
        .args(["record", "--out", out.to_str().unwrap(), "--"])
        .args(command)
        .stdout(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    read(&out)
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_limit_of_the_clock() {
    let Some(parts) = parts() else { return };
    let Some(run) = generate(&parts, "1", "32") else { return };
    let limited = findings(&with_limit(&parts, &run.command, 1_200_000));
    let finding = find(&limited, "clock_limit").unwrap_or_else(|| panic!("{limited:#?}"));
    // Half of the clock: at most half of the token, at least a fifth of that.
    let (gain, token) = (finding.found.gain.unwrap(), limited.headline.token_ns.unwrap() as f64);
    assert!((gain.high_ns as f64 / token - 0.5).abs() < 0.01, "{gain:?}");
    assert!((gain.low_ns as f64 / token - 0.1).abs() < 0.01, "{gain:?}");
    let free = findings(&with_limit(&parts, &run.command, 2_400_000));
    assert!(find(&free, "clock_limit").is_none(), "{free:#?}");
    assert!(free.ruled_out.iter().any(|(rule, _)| rule.code == "clock_limit"), "{free:#?}");
}
