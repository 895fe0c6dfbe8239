//! Gauges from end to end: this test writes a kernel file while the agent samples it for a host.
//! The file is the wake-up latency limit of CPU 0, mounted as a sensor: the agent must read what
//! the test writes, and nothing else depends on it.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use profinfer_trace::model::GaugeUnit;
use serde_json::Value;

use crate::links::Served;
use crate::support::{engine, model, parts, read, record};

fn monotonic_ns() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
    u64::try_from(now.tv_sec()).unwrap() * 1_000_000_000 + u64::try_from(now.tv_nsec()).unwrap()
}

fn board(sensor: &str) -> String {
    format!(
        "name = \"mine\"\ndescription = \"d\"\nsoc = \"any\"\nmachine = \"any\"\nlevels = [\"token\"]\n\
         cores = [\"x86-64\"]\nprovenance = \"vendor: x\"\n\
         [[uncore]]\nname = \"planted\"\nkind = \"frequency\"\npath = \"{sensor}\"\nunit = \"kilohertz\"\n\
         parse = \"integer\"\nprovenance = \"vendor: x\"\n\
         [[uncore]]\nname = \"missing\"\nkind = \"temperature\"\npath = \"/sys/class/thermal/nothing*/temp\"\n\
         unit = \"millidegrees\"\nparse = \"integer\"\nprovenance = \"vendor: x\"\n\
         [[uncore]]\nname = \"traffic\"\nkind = \"ddr\"\npmu = \"no_such_ddr\"\nevents = [\"read-bytes\"]\n\
         unit = \"bytes\"\nprovenance = \"vendor: x\"\n"
    )
}

#[test]
fn values_and_times_are_those_that_were_written() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let sensor = "/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us";
    let Ok(before) = std::fs::read_to_string(sensor) else {
        return profinfer_skip::skip("this kernel has no file among its sensors that a test may write");
    };
    std::fs::create_dir(dir.path().join("boards")).unwrap();
    std::fs::write(dir.path().join("boards/mine.toml"), board(sensor)).unwrap();
    std::fs::write(sensor, "500").unwrap();
    let run = ["-n", "300", "-r", "8"];
    let Some(mut served) = Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &run) else { return };
    let address = format!("tcp:127.0.0.1:{}", served.port());
    let done = AtomicBool::new(false);
    let steps = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut steps = vec![(500_000i64, 0, 0)];
            while !done.load(Ordering::Relaxed) && steps.len() < 400 {
                std::thread::sleep(Duration::from_millis(70));
                let value = 500 + steps.len() as i64;
                let begun = monotonic_ns();
                std::fs::write(sensor, value.to_string()).unwrap();
                steps.push((value * 1000, begun, monotonic_ns()));
            }
            steps
        });
        let output = Command::new(env!("CARGO_BIN_EXE_analyze"))
            .args(["--boards", "boards", "--board", "mine", "--sample-hz", "50", &address])
            .current_dir(dir.path())
            .output()
            .unwrap();
        done.store(true, Ordering::Relaxed);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("planted") && said.contains("missing: there is no such file"), "{said}");
        writer.join().unwrap()
    });
    served.agent.wait().unwrap();
    let _ = std::fs::write(sensor, before.trim());

    let trace = read(&dir.path().join("profile/recording.pfi"));
    assert!(trace.health.perfect(), "{:?}", trace.health);
    let [planted, missing, traffic] = &*trace.gauges else { panic!("{:?}", trace.gauges) };
    assert_eq!((missing.attached, missing.note.as_str()), (false, "there is no such file"));
    assert_eq!((traffic.attached, traffic.note.as_str()), (false, "the kernel has no such PMU"));
    assert_eq!((planted.unit, planted.source.as_str()), (GaugeUnit::Hertz, sensor));
    let rows = planted.at_ns.len();
    let mut seen = std::collections::BTreeSet::new();
    for (i, (at, value)) in planted.at_ns.iter().zip(&planted.values).enumerate() {
        let step = steps.iter().position(|s| Some(s.0) == *value).expect("a value that was written");
        seen.insert(step);
        // This value was in the file when it was read, which was after this sample's time and
        // before the next one's.
        let next = planted.at_ns.get(i + 1).copied().unwrap_or(u64::MAX);
        assert!(steps[step].1 <= next, "sample {i} of {rows} shows what was written later");
        let replaced = steps.get(step + 1).map_or(u64::MAX, |s| s.2);
        assert!(*at <= replaced, "sample {i} of {rows} shows what had been replaced");
    }
    let seconds = (planted.at_ns[rows - 1] - planted.at_ns[0]) as f64 / 1e9;
    println!("{rows} samples in {seconds:.2} s, {} of {} steps seen", seen.len(), steps.len());
    // While the agent examines the engine, it reads no sensors.
    assert!(seconds > 1.0 && rows as f64 > (seconds - 1.5) * 25.0, "{rows} samples in {seconds} s");
    let summary = std::fs::read(dir.path().join("profile/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let row = &summary["gauges"][0];
    let values = || planted.values.iter().map(|v| v.unwrap() as f64);
    assert_eq!(row["samples"].as_u64(), Some(rows as u64));
    assert_eq!(row["session"]["min"].as_f64(), values().reduce(f64::min));
    assert_eq!(row["session"]["max"].as_f64(), values().reduce(f64::max));
    assert!(row["decode"]["covered_ns"].as_u64() > Some(0), "{row}");
}

/// Samples what this machine's kernel has, and reports what is missing; with 0, nothing is
/// requested.
#[test]
fn record_samples_what_many_kernels_have() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command = [driver.to_str().unwrap(), "-m", &gguf, "-n", "2"];
    let (trace, _) = record(&parts, &[], &command);
    let named = |name: &str| trace.gauges.iter().filter(|g| g.name.starts_with(name)).collect::<Vec<_>>();
    for (name, there) in [
        ("CPU frequency", std::path::Path::new("/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq")),
        ("temperature", std::path::Path::new("/sys/class/thermal/thermal_zone0/temp")),
    ] {
        let gauges = named(name);
        assert!(!gauges.is_empty(), "{name}");
        assert!(gauges.iter().all(|g| g.attached != g.values.is_empty() && g.attached == g.note.is_empty()));
        assert!(there.exists() || gauges.iter().all(|g| !g.attached), "{gauges:?}");
    }
    assert_eq!(record(&parts, &["--sample-hz", "0"], &command).0.gauges, []);
}
