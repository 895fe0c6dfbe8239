//! Gauges on files that another thread changes while the agent's code samples them; the host's code
//! reads the stream. Values and times must match the writes.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[path = "common/files.rs"]
mod files;
#[path = "common/stream.rs"]
mod stream;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use profinfer_agent::clock::monotonic_ns;
use profinfer_agent::observe::gauge::Gauges;
use profinfer_agent::request::boards::Board;
use profinfer_agent::request::plan::{GaugeRequest, GaugeSource};
use profinfer_trace::model::{self, Model};
use profinfer_wire::record::gauge::{GaugeKind, GaugeParse, GaugeUnit};

use files::put;

const POLICY: &str = "sys/devices/system/cpu/cpufreq";
const ZONES: &str = "sys/class/thermal";
const NPU: &str = "sys/kernel/debug/rknpu/load";
const LOAD: &str = "sys/class/devfreq/dmc/load";

/// Like the vendor's kernel for the RK3588, without the PMU of a memory controller.
fn tree(root: &Path) {
    put(root, &format!("{POLICY}/policy0/scaling_cur_freq"), "1800000\n");
    put(root, &format!("{POLICY}/policy4/scaling_cur_freq"), "2256000\n");
    for (zone, kind, value) in [
        (0, "soc-thermal\n", "46230\n"),
        (1, "bigcore0-thermal\n", "47153\n"),
        (10, "soc-thermal\n", "-5000\n"),
    ] {
        put(root, &format!("{ZONES}/thermal_zone{zone}/temp"), value);
        put(root, &format!("{ZONES}/thermal_zone{zone}/type"), kind);
    }
    put(root, LOAD, "45@1560000000Hz\n");
    put(root, "sys/class/devfreq/dmc/cur_freq", "1560000000\n");
    put(root, NPU, "NPU load:  Core0: 12%, Core1:  0%, Core2:  3%,\n");
}

/// Samples for a while and returns the model that the host reads.
fn sampled(gauges: &mut Gauges, out: &Path, while_: &mut dyn FnMut() -> bool) -> Model {
    let mut emit = stream::begin(out);
    gauges.emit(&mut emit);
    while while_() {
        gauges.sample(&mut emit, false);
        emit.flush();
        std::thread::sleep(gauges.due_in().unwrap_or(Duration::from_millis(1)));
    }
    gauges.sample(&mut emit, true);
    stream::finish(emit, out)
}

fn rk3588() -> Vec<GaugeRequest> {
    Board::find("rk3588").unwrap().gauges(10)
}

#[test]
fn the_sensors_of_a_board_and_missing_ones() {
    let dir = tempfile::tempdir().unwrap();
    tree(dir.path());
    let mut gauges = Gauges::open(&rk3588(), dir.path());
    let mut rounds = 0;
    let model = sampled(&mut gauges, &dir.path().join("out.pfi"), &mut || {
        rounds += 1;
        rounds <= 3
    });
    let value = |g: &model::Gauge| g.values.iter().map(|v| v.unwrap()).max();
    let read: Vec<_> =
        model.gauges.iter().filter(|g| g.attached).map(|g| (g.name.as_str(), value(g).unwrap())).collect();
    assert_eq!(
        read,
        [
            ("CPU frequency policy0", 1_800_000_000),
            ("CPU frequency policy4", 2_256_000_000),
            ("temperature soc-thermal", 46_230),
            ("temperature bigcore0-thermal", 47_153),
            ("temperature soc-thermal thermal_zone10", -5_000),
            ("memory frequency", 1_560_000_000),
            ("memory load", 45),
            ("NPU load core 0", 12),
            ("NPU load core 1", 0),
            ("NPU load core 2", 3),
        ]
    );
    let absent: Vec<_> =
        model.gauges.iter().filter(|g| !g.attached).map(|g| (g.name.as_str(), g.note.as_str())).collect();
    assert_eq!(
        absent,
        [
            ("memory traffic read-bytes", "the kernel has no such PMU"),
            ("memory traffic write-bytes", "the kernel has no such PMU"),
            ("NPU frequency", "there is no such file"),
            ("GPU frequency", "there is no such file"),
        ]
    );
    assert_eq!(model.gauges[0].source, "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq");
    assert!(model.gauges.iter().all(|g| g.attached != g.values.is_empty()));
}

/// The frequency changes every 35 ms; each step is recorded with the times before and after.
#[test]
fn values_and_times_match_the_writes() {
    let dir = tempfile::tempdir().unwrap();
    let file = put(dir.path(), &format!("{POLICY}/policy0/scaling_cur_freq"), "1000000\n");
    let mut gauges = Gauges::open(&rk3588()[..1], dir.path());
    let done = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&done);
    let writer = std::thread::spawn(move || {
        // In place and with constant length, because a kernel file is never half written.
        let file = File::options().write(true).open(file).unwrap();
        let mut steps = vec![(1_000_000_000, 0, 0)];
        for step in 1..=20 {
            std::thread::sleep(Duration::from_millis(35));
            let before = monotonic_ns();
            file.write_all_at(format!("{}\n", 1_000_000 + step * 1000).as_bytes(), 0).unwrap();
            steps.push((1_000_000_000 + step * 1_000_000, before, monotonic_ns()));
        }
        std::thread::sleep(Duration::from_millis(35));
        over.store(true, Ordering::Relaxed);
        steps
    });
    let begun = monotonic_ns();
    let model = sampled(&mut gauges, &dir.path().join("out.pfi"), &mut || !done.load(Ordering::Relaxed));
    let ended = monotonic_ns();
    let steps = writer.join().unwrap();
    let gauge = &model.gauges[0];
    assert!(gauge.at_ns.len() > 20, "{} samples in 20 steps", gauge.at_ns.len());
    let (mut seen, mut worst) = (0, 0);
    for (i, (at, value)) in gauge.at_ns.iter().zip(&gauge.values).enumerate() {
        assert!((begun..=ended).contains(at));
        let step = steps.iter().position(|s| Some(s.0) == *value).expect("a value that was written");
        // Read after its time and before the next sample's: so it was written before that and
        // replaced after this.
        let next = gauge.at_ns.get(i + 1).copied().unwrap_or(ended);
        assert!(steps[step].1 <= next, "sample {i} shows a value written later");
        if let Some((_, _, replaced)) = steps.get(step + 1) {
            assert!(at <= replaced, "sample {i} shows a replaced value");
        }
        worst = worst.max(next - at);
        seen |= 1 << step;
    }
    assert!(u32::count_ones(seen) >= 15, "only {} of 21 steps were seen", u32::count_ones(seen));
    println!("{} samples, at most {} ms apart", gauge.at_ns.len(), worst / 1_000_000);
}

#[test]
fn a_failing_sensor_has_no_value_and_the_others_continue() {
    let dir = tempfile::tempdir().unwrap();
    tree(dir.path());
    let npu = dir.path().join(NPU);
    let mut gauges = Gauges::open(&rk3588(), dir.path());
    let begun = Instant::now();
    let (mut broken, mut mended) = (false, false);
    let model = sampled(&mut gauges, &dir.path().join("out.pfi"), &mut || {
        let ms = begun.elapsed().as_millis();
        if ms > 60 && !broken {
            broken = true;
            fs::write(&npu, "NPU load:  off\n").unwrap();
        }
        if ms > 150 && !mended {
            mended = true;
            fs::write(&npu, "NPU load:  Core0: 50%, Core1:  0%, Core2:  3%,\n").unwrap();
        }
        ms < 220
    });
    let of = |name: &str| model.gauges.iter().find(|g| g.name == name).unwrap();
    let (core, load) = (of("NPU load core 0"), of("memory load"));
    let absent = core.values.iter().filter(|v| v.is_none()).count();
    assert!((2..core.values.len() - 2).contains(&absent), "{:?}", core.values);
    assert_eq!((core.values[0], *core.values.last().unwrap()), (Some(12), Some(50)));
    assert!(core.note.contains("not the load of an NPU"), "{}", core.note);
    assert!(core.attached);
    assert!(load.values.iter().all(|v| *v == Some(45)) && load.note.is_empty());
    assert_eq!(load.values.len(), core.values.len());
}

/// Bytes count from the session's start, and a decreasing count is invalid.
#[test]
fn bytes_begin_at_zero() {
    let dir = tempfile::tempdir().unwrap();
    let file = put(dir.path(), "sys/class/devfreq/traffic", "5000000\n");
    let source =
        GaugeSource::File { path: "/sys/class/devfreq/traffic".to_owned(), parse: GaugeParse::Integer };
    let (name, kind, unit) = ("traffic".to_owned(), GaugeKind::Ddr, GaugeUnit::Bytes);
    let mut gauges = Gauges::open(&[GaugeRequest { name, kind, unit, source, period_ms: 10 }], dir.path());
    let mut texts = ["5000000\n", "5004096\n", "5004096\n", "4000000\n", "5010000\n"].iter();
    let model = sampled(&mut gauges, &dir.path().join("out.pfi"), &mut || {
        texts.next().is_some_and(|text| fs::write(&file, text).is_ok())
    });
    let values = &model.gauges[0].values;
    let expected = [Some(0), Some(4096), Some(4096), None, Some(10_000), Some(10_000)];
    assert_eq!(values.as_slice(), expected);
}

#[test]
fn the_number_of_gauges_is_limited() {
    let dir = tempfile::tempdir().unwrap();
    for zone in 0..70 {
        put(dir.path(), &format!("{ZONES}/thermal_zone{zone}/temp"), "1\n");
    }
    let gauges = Gauges::open(&rk3588(), dir.path());
    // The missing frequency takes a place, too.
    assert_eq!(gauges.all.iter().filter(|g| g.attached).count(), 63);
    let last = gauges.all.last().unwrap();
    assert!(!last.attached && last.note.contains("more sensors than the 64"), "{last:?}");
}

#[test]
fn samples_skipped_by_a_pause_are_not_made_up() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), &format!("{POLICY}/policy0/scaling_cur_freq"), "1000000\n");
    let period_ms = 1000;
    let request = GaugeRequest { period_ms, ..rk3588().remove(0) };
    let mut gauges = Gauges::open(&[request], dir.path());
    std::thread::sleep(Duration::from_millis(1100));
    let out = dir.path().join("out.pfi");
    let mut emit = stream::begin(&out);
    gauges.emit(&mut emit);
    (0..3).for_each(|_| gauges.sample(&mut emit, false));
    let model = stream::finish(emit, &out);
    assert_eq!(model.gauges[0].values, [Some(1_000_000_000)]);
    assert!(gauges.due_in() > Some(Duration::from_millis(500)));
}
