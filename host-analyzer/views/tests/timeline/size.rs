//! The size of `timeline.pftrace`, the waits it leaves out, and its parts.

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;
use profinfer_views::perfetto::{Part, WAIT_FROM_NS, bytes, part, parts, perfetto};
use serde_json::Value;

use crate::readers::{Files, python};
use crate::{large, overlap, sample};

/// Maximum bytes of the file per span, everything included.
const BYTES_A_SPAN: usize = 30;

/// Bytes of the file: at most the limit for its model, and about the announced size.
fn checked_len(model: &Model) -> usize {
    let analysis = Analysis::compute(model);
    let mut file = Vec::new();
    perfetto(model, &analysis, &mut file).expect("written");
    let (len, spans) = (file.len(), model.spans.len());
    let announced = bytes(model, &analysis) as usize;
    println!(
        "{len} bytes, {:.1} for each of {spans} spans; announced: {announced}",
        len as f64 / spans as f64
    );
    assert!(len <= BYTES_A_SPAN * spans, "{len} bytes of {spans} spans");
    assert!((len * 3 / 4..len * 4 / 3).contains(&announced), "{announced} bytes announced, {len} written");
    len
}

/// A recording of a real engine, so short that every text matters; see tests/data/PROVENANCE.toml.
#[test]
fn a_span_of_a_real_recording_takes_30_bytes_at_most() {
    checked_len(&profinfer_trace::read(include_bytes!("../../../tests/data/demo.pfi")).expect("a recording"));
}

/// Everything takes `times` times as long.
fn slower(model: &mut Model, times: u64) {
    let start = model.session.start_ns;
    let Model { spans, llama_calls, graph_calls, .. } = model;
    for at in spans.start_ns.iter_mut().chain(&mut llama_calls.start_ns).chain(&mut graph_calls.start_ns) {
        *at = start + (*at - start) * times;
    }
    let lengths =
        spans.work_ns.iter_mut().chain(&mut llama_calls.duration_ns).chain(&mut graph_calls.duration_ns);
    lengths.for_each(|ns| *ns *= times);
    spans.wait_ns.iter_mut().for_each(|ns| *ns *= times as u32);
}

/// With 30 layers the same node recurs within the 32 KiB window of the compression, with 200 it does
/// not.
#[test]
fn a_span_takes_30_bytes_at_most_if_every_wait_is_shown() {
    for layers in [30, 200] {
        let mut model = large::model(200_000, 4, layers);
        slower(&mut model, 20);
        assert!(model.spans.wait_ns.iter().all(|wait| *wait >= WAIT_FROM_NS));
        checked_len(&model);
        for (i, cpu) in model.spans.cpu.iter_mut().enumerate() {
            *cpu = Some((i * i / 13 % 4) as u16);
        }
        checked_len(&model);
    }
}

#[test]
fn waits_from_a_microsecond_on_are_shown() {
    let Some(python) = python() else { return };
    let waits = [WAIT_FROM_NS - 1, WAIT_FROM_NS, 0, 1, u32::MAX, WAIT_FROM_NS + 1];
    let spans: Vec<_> = (0..).zip(waits).map(|(i, wait)| (10_000 * i, 5_000, wait)).collect();
    let slices = Files::write(&overlap::model(&[], &spans)).perfetto_slices(&python);
    let lengths: Vec<_> = slices
        .iter()
        .filter(|s| s[6] == "barrier")
        .map(|s| s[4].as_u64().expect("an end") - s[3].as_u64().expect("a start"))
        .collect();
    assert_eq!(lengths, [1_000, 1_001]);
}

/// The parts, and the slices of each and of the undivided file.
type Parts = (Vec<Part>, Vec<Vec<Value>>, Vec<Value>);

/// Slices of each part, from the reader.
fn read_parts(model: &Model, at_most: u64) -> Option<Parts> {
    let python = python()?;
    let files = Files::write(model);
    let analysis = Analysis::compute(model);
    let parts = parts(model, &analysis, at_most);
    assert!(parts.len() > 1, "{parts:?}");
    let read = |p: &Part| {
        let mut file = std::fs::File::create(files.path(&p.name())).expect("a file");
        part(model, &analysis, *p, &mut file).expect("written");
        files.perfetto_slices_of(&python, &p.name(), &["--part"])
    };
    let slices = parts.iter().map(read).collect();
    Some((parts, slices, files.perfetto_slices(&python)))
}

/// Every slice is in the part where it begins and in no other, and no part has too many.
fn parts_have_each_slice_once(model: &Model, at_most: u64) {
    let Some((parts, slices, whole)) = read_parts(model, at_most) else { return };
    for (i, (p, slices)) in parts.iter().zip(&slices).enumerate() {
        assert_eq!((p.number, p.of), (i + 1, parts.len()));
        assert_eq!(p.to_ns, parts.get(i + 1).map_or(u64::MAX, |next| next.from_ns));
        assert!((1..=at_most as usize).contains(&slices.len()), "{} slices in {p:?}", slices.len());
        for s in slices {
            assert!((p.from_ns..p.to_ns).contains(&s[3].as_u64().expect("a start")), "{s} in {p:?}");
        }
    }
    // Depth in a part does not count slices that began before it.
    let without_depth = |slices: Vec<Value>| {
        let text = |mut s: Value| {
            s[2] = Value::Null;
            s.to_string()
        };
        let mut texts: Vec<String> = slices.into_iter().map(text).collect();
        texts.sort();
        texts
    };
    assert!(without_depth(slices.concat()) == without_depth(whole), "parts and one file differ");
}

#[test]
fn parts_begin_with_calls() {
    let model = large::model(20_000, 4, 5);
    let (spans_of_a_call, starts) = (12 * 5 * 4, &model.llama_calls.start_ns);
    let parts = parts(&model, &Analysis::compute(&model), spans_of_a_call * 10);
    assert!(parts.len() > 5, "{parts:?}");
    assert!(parts[1..].iter().all(|p| starts.contains(&p.from_ns)), "{parts:?}");
    parts_have_each_slice_once(&model, spans_of_a_call * 10);
}

#[test]
fn a_call_of_too_many_slices_is_cut_by_time() {
    parts_have_each_slice_once(&large::model(2_000, 4, 5), 200);
    parts_have_each_slice_once(&large::model(3_000, 2, 100), 500);
}

#[test]
fn what_begins_at_one_time_stays_together() {
    let model = overlap::model(&[], &[(5, 1, 0), (5, 1, 0), (5, 1, 0), (9, 1, 0)]);
    let cut = parts(&model, &Analysis::compute(&model), 2);
    assert_eq!(cut.iter().map(|p| p.from_ns).collect::<Vec<_>>(), [0, 5, 6]);
    let nothing = Model::default();
    assert_eq!(parts(&nothing, &Analysis::compute(&nothing), 0), [Part::WHOLE]);
}

/// Health, gauges and threads without a process.
#[test]
fn parts_of_the_sample_have_each_slice_once() {
    parts_have_each_slice_once(&sample::model(), 5);
}
