//! Tracks, `timeline.json` and `timeline.pftrace`: hand-computed slices of a small model, read back by
//! readers that share no code with the writers; and models with many, unusual, and no slices.

mod large;
mod overlap;
mod readers;
mod sample;
mod size;
mod trace_processor;

use profinfer_analysis::Analysis;
use profinfer_analysis::track::TrackKind;
use profinfer_trace::model::Model;
use profinfer_views::chrome::chrome;
use profinfer_views::perfetto::WAIT_FROM_NS;
use readers::{Files, python, run};
use sample::{T0, TRACKS};
use serde_json::Value;

#[test]
fn tracks_of_the_sample_are_those_computed_by_hand() {
    let kind = |k| match k {
        TrackKind::Token => "token",
        TrackKind::Graph => "graph",
        TrackKind::Thread => "thread",
    };
    let tracks = Analysis::compute(&sample::model()).track;
    let rows: Vec<_> =
        tracks.iter().map(|t| (t.process, &*t.track, kind(t.kind), t.tid, t.slices, t.total_ns)).collect();
    assert_eq!(rows, TRACKS);
}

#[test]
fn chrome_times_are_exact_and_texts_are_escaped() {
    let model = sample::model();
    let mut bytes = Vec::new();
    chrome(&model, &Analysis::compute(&model), &mut bytes).expect("written");
    let text = String::from_utf8(bytes).expect("UTF-8");
    // The times as text, everything else as JSON: a parser would round the times.
    let event = |line: &str| -> Option<(String, Value)> {
        let (time, fields) = line.strip_prefix(r#"{"ts":"#)?.split_once(',')?;
        Some((time.to_owned(), serde_json::from_str(&format!("{{{}", fields.trim_end_matches(','))).ok()?))
    };
    let expected = [
        r#"{"ts":1.160,"ph":"B","pid":100,"tid":100,"name":"n\"or\\m\n\u0001","cat":"RMS_NORM","args":{"tensor":"f32 4x8 from </script> q8_0 4x1x2, node 5 (description lost)","fused":"mul→é","cpu":0}}"#,
        r#"{"ts":1.400,"ph":"B","pid":100,"tid":101,"name":"node 3 (description lost)","cat":"","args":{}}"#,
        r#"{"ts":3.040,"ph":"B","pid":0,"tid":400,"name":"barrier","cat":"barrier","args":{}}"#,
        r#"{"ts":3.045,"ph":"E","pid":0,"tid":400,"name":"barrier"}"#,
    ];
    assert!(text.contains(&format!(r#""origin_ns":"{T0}""#)));
    assert!(text.contains(r#""lla\"ma""#));
    for line in expected {
        let wanted = event(line);
        assert!(wanted.is_some());
        assert_eq!(text.lines().filter(|l| event(l) == wanted).count(), 1, "{line}\nin\n{text}");
    }
}

#[test]
fn readers_see_the_slices_computed_by_hand() {
    let Some(python) = python() else { return };
    let files = Files::write(&sample::model());
    assert_eq!(files.chrome_slices(&python), sample::slices());
    assert_eq!(files.perfetto_slices(&python), shown(sample::slices()));
}

/// The slices of `timeline.json` that `timeline.pftrace` has too.
fn shown(mut slices: Vec<Value>) -> Vec<Value> {
    let length = |s: &Value| s[4].as_u64().expect("an end") - s[3].as_u64().expect("a start");
    slices.retain(|s| s[6] != "barrier" || length(s) >= u64::from(WAIT_FROM_NS));
    slices
}

#[test]
fn readers_refuse_damaged_files() {
    let Some(python) = python() else { return };
    let files = Files::write(&sample::model());
    let paths = ["timeline.json", "timeline.pftrace", "summary.json"].map(|name| files.path(name));
    let out = run(&python, "check_readers.py", paths.iter().map(|p| p.as_os_str()));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    println!("{}", String::from_utf8_lossy(&out.stdout));
}

fn both_agree(model: &Model) -> Option<usize> {
    let python = python()?;
    let files = Files::write(model);
    let slices = files.chrome_slices(&python);
    let perfetto = files.perfetto_slices(&python);
    assert!(shown(slices.clone()) == perfetto, "timeline.json and timeline.pftrace differ");
    Some(slices.len())
}

#[test]
fn both_files_agree_on_many_slices() {
    let model = large::model(20_000, 4, 5);
    let Some(slices) = both_agree(&model) else { return };
    let waits = model.spans.wait_ns.iter().filter(|w| **w != 0).count();
    assert_eq!(slices, model.spans.len() + waits + model.llama_calls.len() + model.graph_calls.len());
}

#[test]
fn both_files_agree_on_slices_that_overlap() {
    let calls: Vec<_> = (0..40).map(|i| (i * 7 % 50, i * 11 % 23)).collect();
    // In µs: shorter waits would be left out.
    let spans: Vec<_> =
        (0..200).map(|i| (i * 13 % 97 * 1000, i * 17 % 31 * 1000, (i * 5 % 9) as u32 * 1000)).collect();
    let model = overlap::model(&calls, &spans);
    let Some(slices) = both_agree(&model) else { return };
    let waits = model.spans.wait_ns.iter().filter(|w| **w != 0).count();
    assert_eq!(slices, 40 + 1 + 200 + waits);
}

#[test]
fn both_files_agree_on_nothing() {
    let Some(slices) = both_agree(&Model::default()) else { return };
    assert_eq!(slices, 0);
}

/// A recording of a real engine, see tests/data/PROVENANCE.toml.
#[test]
fn both_files_agree_on_a_real_recording() {
    let bytes = include_bytes!("../../../tests/data/demo.pfi");
    let model = profinfer_trace::read(bytes).expect("a recording");
    assert!(model.health.perfect(), "{:?}", model.health);
    let Some(slices) = both_agree(&model) else { return };
    let waits = model.spans.wait_ns.iter().filter(|w| **w != 0).count();
    assert_eq!(slices, model.spans.len() + waits + model.llama_calls.len() + model.graph_calls.len());
}
