//! Perfetto's trace_processor reads its file and the ftrace text, and finds the same slices.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;
use profinfer_views::ftrace::ftrace;
use profinfer_views::perfetto::{Part, WAIT_FROM_NS, part, parts, perfetto};

use crate::large;
use crate::readers::{python, run};
use crate::sample;

/// A slice as trace_processor prints it.
type Slice = (u32, Option<u32>, String, u64, u64);

fn ask<'a>(python: &Path, arguments: impl IntoIterator<Item = &'a OsStr>) -> String {
    let out = run(python, "trace_processor.py", arguments);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("UTF-8")
}

fn read(python: &Path, path: &Path) -> Vec<Slice> {
    let text = ask(python, [path.as_os_str()]);
    let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    // The health is an instant at the start of Perfetto's file, outside all processes.
    let mut slices: Vec<Slice> = rows.filter(|row: &Slice| row.0 != 0).collect();
    slices.sort_by(|a, b| (&a.2, a.3).cmp(&(&b.2, b.3)));
    slices
}

fn both_are_read_alike(model: &Model) {
    let Some(python) = python() else { return };
    let analysis = Analysis::compute(model);
    let folder = tempfile::tempdir().expect("a folder");
    let [text, binary] = ["timeline.ftrace", "timeline.pftrace"].map(|name| folder.path().join(name));
    let counted =
        ftrace(model, &analysis, &mut std::fs::File::create(&text).expect("a file")).expect("written");
    perfetto(model, &analysis, &mut std::fs::File::create(&binary).expect("a file")).expect("written");
    let (mut text, mut binary) = (read(&python, &text), read(&python, &binary));
    assert_eq!(text.len() as u64, counted);
    let limit = u64::from(WAIT_FROM_NS);
    let waits = model.spans.wait_ns.iter().filter(|wait| (1..WAIT_FROM_NS).contains(*wait)).count();
    assert!(waits > 0 && !binary.iter().any(|s| s.2 == "barrier" && s.4 < limit), "{waits} left out");
    for slices in [&mut text, &mut binary] {
        slices.sort_by(|a, b| (a.1, &a.2, a.3).cmp(&(b.1, &b.2, b.3)));
    }
    // The text also has waits that are too short; its reader's lengths may cross the limit.
    let mut next = binary.iter().peekable();
    let before = text.len();
    text.retain(|t| {
        let same = next.next_if(|b| (t.1, &t.2) == (b.1, &b.2) && t.3.abs_diff(b.3) <= 1);
        same.is_some() || t.2 != "barrier" || t.4 > limit + 2
    });
    assert_eq!((text.len(), before - text.len()), (binary.len(), waits));
    // The text reader of trace_processor reads seconds as binary fractions.
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
    both_are_read_alike(
        &profinfer_trace::read(include_bytes!("../../../tests/data/demo.pfi")).expect("a recording"),
    );
}

#[test]
fn of_many_slices() {
    both_are_read_alike(&large::model(20_000, 4, 5));
}

/// Name, category, CPU, waits left out, number, sum of lengths.
type Group = (String, Option<String>, Option<u64>, Option<u64>, u64, u64);

/// By name, category and arguments, trace_processor counts and sums the same slices as the tables.
#[test]
fn of_arguments_and_of_what_is_left_out() {
    let Some(python) = python() else { return };
    let mut model =
        profinfer_trace::read(include_bytes!("../../../tests/data/demo.pfi")).expect("a recording");
    for i in (0..model.spans.len()).step_by(7) {
        model.spans.cpu[i] = (i % 3 > 0).then_some(i as u16 % 5);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("timeline.pftrace");
    perfetto(&model, &Analysis::compute(&model), &mut std::fs::File::create(&path).expect("a file"))
        .expect("written");
    let text = ask(&python, [path.as_os_str(), OsStr::new("--args")]);
    let groups: Vec<Group> = text.lines().map(|line| serde_json::from_str(line).expect("a group")).collect();

    let mut expected: BTreeMap<(String, Option<u64>), (u64, u64)> = BTreeMap::new();
    let spans = &model.spans;
    for i in 0..spans.len() {
        let topology = model.graph_calls.topology[spans.graph_call[i].0 as usize].expect("a topology");
        let node = &model.topologies.rows[topology.0 as usize].nodes[spans.node[i].0 as usize];
        let key = (model.texts.get(node.name).to_owned(), spans.cpu[i].map(u64::from));
        let group = expected.entry(key).or_default();
        *group = (group.0 + 1, group.1 + spans.work_ns[i]);
    }
    let calls = ["token", "graph", "barrier"];
    let is_work = |g: &&Group| g.1.as_deref().is_some_and(|category| !calls.contains(&category));
    let mut found: BTreeMap<(String, Option<u64>), (u64, u64)> = BTreeMap::new();
    for (name, _, cpu, _, count, sum) in groups.iter().filter(is_work) {
        // The operators of two graphs may have the same name.
        let group = found.entry((name.clone(), *cpu)).or_default();
        *group = (group.0 + count, group.1 + sum);
    }
    assert_eq!(found, expected);
    let short: Vec<u32> = spans.wait_ns.iter().copied().filter(|w| (1..WAIT_FROM_NS).contains(w)).collect();
    let shown = spans.wait_ns.iter().filter(|w| (WAIT_FROM_NS..u32::MAX).contains(*w));
    let (count, sum) = shown.fold((0, 0), |(count, sum), wait| (count + 1, sum + u64::from(*wait)));
    let barriers: Vec<_> = groups.iter().filter(|g| g.1.as_deref() == Some("barrier")).collect();
    assert_eq!(barriers.iter().map(|g| (g.4, g.5)).collect::<Vec<_>>(), [(count, sum)]);
    let left_out: Vec<_> = groups.iter().filter_map(|g| g.3.map(|waits| (waits, g.4))).collect();
    assert_eq!(left_out, [(short.len() as u64, 1)]);
}

/// Each part is a separate trace, and together they have the slices of the undivided file.
#[test]
fn of_parts() {
    let Some(python) = python() else { return };
    let model = large::model(20_000, 4, 5);
    let analysis = Analysis::compute(&model);
    let folder = tempfile::tempdir().expect("a folder");
    let read_part = |p: Part| {
        let path = folder.path().join(p.name());
        part(&model, &analysis, p, &mut std::fs::File::create(&path).expect("a file")).expect("written");
        read(&python, &path)
    };
    let parts = parts(&model, &analysis, 12_000);
    assert_eq!(
        parts.iter().map(Part::name).collect::<Vec<_>>(),
        ["timeline-1.pftrace", "timeline-2.pftrace", "timeline-3.pftrace"]
    );
    let mut together: Vec<Slice> = parts.into_iter().flat_map(read_part).collect();
    together.sort();
    let mut whole = read_part(Part::WHOLE);
    whole.sort();
    assert!(together == whole, "{} slices in parts, {} in one file", together.len(), whole.len());
}

/// Names with new lines, bars and quotes; threads without a process.
#[test]
fn every_line_of_ftrace_is_one_of_ours() {
    let model = sample::model();
    let analysis = Analysis::compute(&model);
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
