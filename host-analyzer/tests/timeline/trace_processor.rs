//! Perfetto's own trace_processor reads what is written for it and, of ftrace's text, sees the same.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use host_analyzer::analyses::Analysis;
use host_analyzer::model::Model;
use host_analyzer::views::ftrace::ftrace;
use host_analyzer::views::perfetto::perfetto;

use crate::large;
use crate::readers::{python, run};
use crate::sample;

/// A slice as trace_processor prints it.
type Slice = (u32, Option<u32>, String, u64, u64);

fn read(python: &Path, path: &Path) -> Vec<Slice> {
    let out = run(python, "trace_processor.py", [path.as_os_str() as &OsStr]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    // The health is an instant at the start of Perfetto's file, of no process.
    let mut slices: Vec<Slice> = rows.filter(|row: &Slice| row.0 != 0).collect();
    slices.sort_by(|a, b| (&a.2, a.3).cmp(&(&b.2, b.3)));
    slices
}

fn both_are_read_alike(model: &Model) {
    let Some(python) = python() else { return };
    let analysis = Analysis::of(model);
    let folder = tempfile::tempdir().expect("a folder");
    let [text, binary] = ["timeline.ftrace", "timeline.pftrace"].map(|name| folder.path().join(name));
    let counted =
        ftrace(model, &analysis, &mut std::fs::File::create(&text).expect("a file")).expect("written");
    perfetto(model, &analysis, &mut std::fs::File::create(&binary).expect("a file")).expect("written");
    let (text, binary) = (read(&python, &text), read(&python, &binary));
    assert_eq!(text.len() as u64, counted);
    assert_eq!(text.len(), binary.len());
    // Its reader of texts takes seconds as binary fractions.
    let near = |a: u64, b: u64| a.abs_diff(b) <= 1;
    let alike = |a: &Slice, b: &Slice| {
        (a.0, a.1, &a.2) == (b.0, b.1, &b.2) && near(a.3, b.3) && a.4.abs_diff(b.4) <= 2
    };
    let differ: Vec<_> = text.iter().zip(&binary).filter(|(a, b)| !alike(a, b)).take(3).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

/// A recording of a real engine, see tests/data/PROVENANCE.toml.
#[test]
fn of_a_real_recording() {
    both_are_read_alike(&host_analyzer::read(include_bytes!("../data/demo.pfi")).expect("a recording"));
}

#[test]
fn of_many_slices() {
    both_are_read_alike(&large::model(20_000, 4, 5));
}

/// Names with new lines, bars and quotes; threads without a process.
#[test]
fn every_line_of_ftrace_is_one_of_ours() {
    let model = sample::model();
    let analysis = Analysis::of(&model);
    let mut bytes = Vec::new();
    let counted = ftrace(&model, &analysis, &mut bytes).expect("written");
    assert_eq!(counted, analysis.track.iter().map(|t| t.slices).sum::<u64>());
    let text = String::from_utf8(bytes).expect("UTF-8");
    let (mut kinds, mut last) = (BTreeMap::<&str, u64>::new(), 0.0);
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let (head, what) = line.split_once(": tracing_mark_write: ").expect("a marker");
        let seconds: f64 = head.rsplit(' ').next().expect("a time").parse().expect("seconds");
        assert!(seconds >= last, "{line}");
        last = seconds;
        let fields: Vec<_> = what.split('|').collect();
        let expected = match fields[0] {
            "B" => 3,
            "E" => 2,
            "S" | "F" | "C" => 4,
            other => panic!("{other} in {line}"),
        };
        assert_eq!(fields.len(), expected, "{line}");
        assert!(fields[1].parse::<u32>().is_ok(), "{line}");
        *kinds.entry(fields[0]).or_default() += 1;
    }
    assert_eq!(kinds["B"], kinds["E"]);
    assert_eq!(kinds["S"], kinds["F"]);
    assert_eq!(kinds["B"] + kinds["S"], counted);
    let points: usize = model.gauges.iter().map(|g| g.at_ns.len()).sum();
    assert!(kinds["C"] > 0 && kinds["C"] <= points as u64, "{kinds:?} of {points}");
}
