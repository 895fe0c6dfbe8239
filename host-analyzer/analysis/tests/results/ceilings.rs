//! Which ceiling matches which CPUs, on a board with four fast and four slow cores.

use profinfer_analysis::Analysis;
use profinfer_analysis::ceiling::{At, Ceilings, Fit, NoCeiling};
use profinfer_analysis::ladder::Question;
use profinfer_trace::model::{
    Ceiling, CeilingKind, CeilingLoad, CeilingPoint, CeilingSource, CurveEnd, Doubt, Model,
};
use profinfer_views as views;

use crate::models::small;
use crate::replay::recording;

fn ceiling(
    kind: CeilingKind,
    core: &str,
    cpus: impl IntoIterator<Item = u16>,
    how: &str,
    median: u64,
) -> Ceiling {
    let (core, how, note) = (core.to_owned(), how.to_owned(), String::new());
    let cpus = cpus.into_iter().collect();
    Ceiling {
        kind,
        core,
        cpus,
        how,
        repeats: 7,
        median,
        min: median,
        max: median,
        note,
        points: Vec::new(),
        load: None,
        source: CeilingSource::Recording,
    }
}

fn board() -> Vec<Ceiling> {
    use CeilingKind::{Barrier, Int8, Read};
    let mut unmeasured = ceiling(Read, "big", 6..7, "ldp q", 99);
    unmeasured.repeats = 0;
    vec![
        ceiling(Read, "big", [4], "ldp q", 12),
        ceiling(Read, "big", [4, 5], "ldp q", 18),
        ceiling(Read, "big", 4..8, "ldp q", 20),
        ceiling(Read, "little", [0], "ldp q", 5),
        ceiling(Read, "little", 0..4, "ldp q", 11),
        ceiling(Read, "big+little", 0..8, "ldp q", 19),
        unmeasured,
        ceiling(Int8, "big", [4], "sdot", 80),
        ceiling(Int8, "big", [4], "smmla", 160),
        ceiling(Barrier, "big", [4, 5], "spinning", 300),
        ceiling(Barrier, "little", [0, 1], "spinning", 900),
        ceiling(Barrier, "big", 4..8, "spinning", 500),
    ]
}

fn ceilings() -> Ceilings {
    let mut model = small::model();
    model.ceilings = board();
    Analysis::compute(&model).ceiling
}

#[test]
fn the_same_cpus_then_the_same_cores_then_as_many() {
    let ceilings = ceilings();
    let read =
        |cpus: &[u16]| ceilings.on(CeilingKind::Read, cpus.len(), cpus, None).map(|f| (f.value, f.fit));
    assert_eq!(read(&[4, 5]), Some((18, Fit::SameCpus)));
    assert_eq!(read(&[5, 4]), Some((18, Fit::SameCpus)));
    assert_eq!(read(&[6, 7]), Some((18, Fit::SameCores)));
    assert_eq!(read(&[6]), Some((12, Fit::SameCores)), "what was not measured on it fits nothing");
    // Three were not measured, and two slow ones only on these CPUs.
    assert_eq!(read(&[4, 5, 6]), None);
    assert_eq!(read(&[1, 2]), Some((18, Fit::AsMany)));
    assert_eq!(read(&(0..8).collect::<Vec<_>>()), Some((19, Fit::SameCpus)));
    // CPUs of unknown types: the fastest ceiling. If some of these CPUs are in a ceiling, that one.
    assert_eq!(read(&[20, 21, 22, 23]), Some((20, Fit::AsMany)));
    assert_eq!(read(&[1, 2, 3, 20]), Some((11, Fit::AsMany)));
    // Two threads that ran on four CPUs.
    let moved = ceilings.on(CeilingKind::Read, 2, &[4, 5, 6, 7], None).map(|f| (f.value, f.fit));
    assert_eq!(moved, Some((18, Fit::AsMany)));
}

#[test]
fn the_fastest_way_and_the_shortest_time() {
    let ceilings = ceilings();
    let on = |kind, cpus: &[u16]| ceilings.on(kind, cpus.len(), cpus, Some(1 << 20));
    let int8 = on(CeilingKind::Int8, &[4]).map(|f| (f.value, f.ceiling.how.as_str()));
    assert_eq!(int8, Some((160, "smmla")));
    assert_eq!(on(CeilingKind::Barrier, &[6, 7]).map(|f| f.value), Some(300));
    assert_eq!(on(CeilingKind::Copy, &[4]), None);
}

/// Rate and source of the read ceiling for CPUs 4 and 5.
fn chosen(ceilings: Vec<Ceiling>) -> Option<(u64, CeilingSource)> {
    let model = Model { ceilings, ..small::model() };
    let all = Ceilings::compute(&model);
    all.on(CeilingKind::Read, 2, &[4, 5], None).map(|f| (f.value, f.ceiling.source))
}

#[test]
fn those_of_the_session_come_before_kept_ones() {
    let read = |median| ceiling(CeilingKind::Read, "big", [4, 5], "ldp q", median);
    let source = CeilingSource::Kept { unix_ns: 7 };
    let kept = |median| Ceiling { source, ..read(median) };
    let load = CeilingLoad { wall_ns: 1, others_ns: 100_000_000, pid: 0, name: String::new(), pid_ns: 0 };
    let beside = |median| Ceiling { load: Some(load.clone()), ..read(median) };
    let recording = CeilingSource::Recording;
    assert_eq!(chosen(vec![kept(20), read(18)]), Some((18, recording)));
    assert_eq!(chosen(vec![Ceiling { repeats: 0, ..read(18) }, kept(20)]), Some((20, source)));
    // Beside a neighbour, the faster one.
    assert_eq!(chosen(vec![kept(20), beside(18)]), Some((20, source)));
    assert_eq!(chosen(vec![kept(16), beside(18)]), Some((18, recording)));
    // On the same CPUs rather than in the same session.
    let elsewhere = ceiling(CeilingKind::Read, "little", [0, 1], "ldp q", 5);
    assert_eq!(chosen(vec![elsewhere, kept(20)]), Some((20, source)));
}

#[test]
fn why_there_is_none() {
    let lack = |ceilings| Ceilings::compute(&Model { ceilings, ..small::model() }).lack(CeilingKind::Read, 2);
    let read = |cpus: &[u16]| ceiling(CeilingKind::Read, "big", cpus.iter().copied(), "ldp q", 9);
    assert_eq!(lack(vec![]), NoCeiling::NotMeasured);
    assert_eq!(lack(vec![Ceiling { repeats: 0, ..read(&[0, 1]) }]), NoCeiling::NotMeasured);
    assert_eq!(lack(vec![read(&[0])]), NoCeiling::OtherThreads);
    let noted = Ceiling { note: "an engine ran".to_owned(), ..read(&[0, 1]) };
    assert_eq!(lack(vec![read(&[0]), noted]), NoCeiling::Doubtful(Doubt::Noted));
    let mut curve = read(&[0, 1]);
    curve.points = points(&[(MIB, 20), (64 * MIB, 9)]);
    curve.points[1].doubts = vec![Doubt::Unstable];
    assert_eq!(lack(vec![curve]), NoCeiling::Doubtful(Doubt::Unstable));
}

#[test]
fn the_views_show_them() {
    let mut model = small::model();
    model.ceilings = board();
    model.ceilings[0].median = 12_340_000_000;
    let analysis = Analysis::compute(&model);
    let mut json = Vec::new();
    views::summary::summary(&model, &analysis, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = json["ceilings"].as_array().unwrap();
    assert_eq!(rows.len(), board().len());
    let first = serde_json::json!({
        "kind": "read", "unit": "bytes_per_s", "core": "big", "threads": 1, "cpus": [4], "how": "ldp q", "repeats": 7,
        "median": 12_340_000_000_u64, "min": 12, "max": 12, "note": "",
        "working_set_bytes": null, "doubts": [], "end": null, "points": [],
        "source": "recording", "kept_unix_ns": null, "polluted": false, "load": null,
    });
    assert_eq!(rows[0], first);
    assert_eq!((&rows[6]["repeats"], &rows[6]["median"]), (&0.into(), &serde_json::Value::Null));
    let mut text = Vec::new();
    views::terminal::terminal(&model, &analysis, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let row = |words: [&str; 3]| text.lines().any(|l| words.iter().all(|w| l.contains(w)));
    assert!(row(["read", "big+little", "8"]), "{text}");
    assert!(row(["int8", "big", "sdot"]) && text.contains("and 6 others"), "{text}");
    model.ceilings.clear();
    let mut without = Vec::new();
    views::terminal::terminal(&model, &Analysis::compute(&model), &mut without).unwrap();
    let without = String::from_utf8(without).unwrap();
    assert!(!without.contains("sdot") && !without.contains("big+little"), "{without}");
}

const MIB: u64 = 1 << 20;

/// Points of these bytes and bytes per second.
pub(crate) fn points(of: &[(u64, u64)]) -> Vec<CeilingPoint> {
    let point = |(working_set_bytes, median): &(u64, u64)| CeilingPoint {
        working_set_bytes: *working_set_bytes,
        repeats: 7,
        median: *median,
        min: median - 1,
        max: median + 1,
        doubts: Vec::new(),
        end: CurveEnd::Open,
    };
    of.iter().map(point).collect()
}

/// A curve of one thread on CPU 4 with points of these MiB, some of them doubtful.
fn curve(of: &[(u64, u64)], doubtful: &[u64], end: CurveEnd) -> Ceiling {
    let mut points = points(&of.iter().map(|(mib, rate)| (mib * MIB, *rate)).collect::<Vec<_>>());
    for p in points.iter_mut().filter(|p| doubtful.contains(&(p.working_set_bytes / MIB))) {
        p.doubts = vec![Doubt::Unstable];
    }
    let last = points.last_mut().unwrap();
    last.end = end;
    let median = last.median;
    Ceiling { points, ..ceiling(CeilingKind::Read, "big", [4], "ldp q", median) }
}

fn on(c: Ceiling, reads: Option<u64>) -> Option<(u64, Option<At>)> {
    let mut model = small::model();
    model.ceilings = vec![c];
    Ceilings::compute(&model).on(CeilingKind::Read, 1, &[4], reads).map(|f| (f.value, f.at))
}

/// 1 MiB at 40 GB/s, 2 at 40, 4 at 20, 8 at 10. Reading 3 MiB once takes the mean of the times of 2
/// and 4, 52.4 and 209.7 µs.
const CURVE: [(u64, u64); 4] =
    [(1, 40_000_000_000), (2, 40_000_000_000), (4, 20_000_000_000), (8, 10_000_000_000)];

#[test]
fn the_point_of_what_a_token_reads() {
    let at = |reads: Option<u64>| on(curve(&CURVE, &[], CurveEnd::Cache), reads);
    let is = |value, working_set_bytes, beyond| Some((value, Some(At { working_set_bytes, beyond })));
    // Without a number of bytes, it is the memory: the largest working set.
    assert_eq!(at(None), is(10_000_000_000, 8 * MIB, false));
    assert_eq!(at(Some(1)), is(40_000_000_000, MIB, false));
    assert_eq!(at(Some(MIB)), is(40_000_000_000, MIB, false));
    assert_eq!(at(Some(4 * MIB)), is(20_000_000_000, 4 * MIB, false));
    assert_eq!(at(Some(8 * MIB)), is(10_000_000_000, 8 * MIB, false));
    assert_eq!(at(Some(8 * MIB + 1)), is(10_000_000_000, 8 * MIB, true));
    assert_eq!(at(Some(u64::MAX)), is(10_000_000_000, 8 * MIB, true));
    // Between two points each additional byte costs the same: 3 MiB in the mean of both times is 24
    // GB/s, 6 MiB is 12.
    assert_eq!(at(Some(3 * MIB)), is(24_000_000_000, 3 * MIB, false));
    assert_eq!(at(Some(6 * MIB)), is(12_000_000_000, 6 * MIB, false));
    assert_eq!(at(Some(3 * MIB / 2)).unwrap().0, 40_000_000_000);
}

#[test]
fn what_is_unstable_is_left_out_and_never_extrapolated() {
    let at = |doubtful: &[u64], mib: u64| {
        on(curve(&CURVE, doubtful, CurveEnd::Cache), Some(mib * MIB)).map(|f| f.0)
    };
    // From 2 to 8 MiB without the point between: 4 MiB take 52.4 + (838.9 - 52.4) / 3 µs.
    assert_eq!(at(&[4], 4), Some(13_333_333_333));
    assert_eq!(at(&[4], 2), Some(40_000_000_000));
    assert_eq!(
        at(&[2], 3),
        on(curve(&[CURVE[0], CURVE[2]], &[], CurveEnd::Cache), Some(3 * MIB)).map(|f| f.0)
    );
    // Both neighbours are doubtful; then the first point, and the last.
    assert_eq!(at(&[2, 4], 3), None);
    assert_eq!((at(&[8], 9), at(&[8], 6), at(&[8], 4)), (None, None, Some(20_000_000_000)));
    assert_eq!((at(&[1], 1), at(&[1], 2)), (None, Some(40_000_000_000)));
    assert_eq!(on(curve(&CURVE, &[8], CurveEnd::Cache), None), None);
}

/// Codes decide, not sentences: a note next to points is for people. An older agent without codes
/// has only the note, which then counts as a doubt.
#[test]
fn a_note_is_a_doubt_only_where_there_are_no_codes() {
    let noted = |c: Ceiling| Ceiling { note: "less than 4 times the last cache".to_owned(), ..c };
    let new = noted(curve(&CURVE, &[], CurveEnd::Memory));
    assert_eq!((new.doubts(), on(new.clone(), Some(MIB)).map(|f| f.0)), (&[][..], Some(40_000_000_000)));
    let old = noted(ceiling(CeilingKind::Read, "big", [4], "ldp q", 9));
    assert_eq!((old.doubts(), on(old.clone(), Some(MIB))), (&[Doubt::Noted][..], None));
    let fine = ceiling(CeilingKind::Read, "big", [4], "ldp q", 9);
    assert_eq!((fine.doubts(), on(fine.clone(), Some(MIB))), (&[][..], Some((9, None))));
}

#[test]
fn the_views_show_the_curve() {
    let mut model = small::model();
    model.ceilings = vec![curve(&CURVE, &[2], CurveEnd::Memory)];
    let analysis = Analysis::compute(&model);
    let mut json = Vec::new();
    views::summary::summary(&model, &analysis, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let row = &json["ceilings"][0];
    assert_eq!(
        (&row["working_set_bytes"], &row["end"], &row["doubts"], &row["median"]),
        (&(8 * MIB).into(), &"memory".into(), &serde_json::json!([]), &10_000_000_000_u64.into())
    );
    let second = serde_json::json!({
        "working_set_bytes": 2 * MIB, "repeats": 7, "median": 40_000_000_000_u64, "min": 39_999_999_999_u64,
        "max": 40_000_000_001_u64, "doubts": ["unstable"],
    });
    assert_eq!((row["points"].as_array().unwrap().len(), &row["points"][1]), (4, &second));
    let mut text = Vec::new();
    views::terminal::terminal(&model, &analysis, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.lines().any(|l| ["read", "8.00 MiB", "10.0 GB/s"].iter().all(|w| l.contains(w))), "{text}");
}

/// A model of 3 MiB and two tokens: only the prompt has products that are large enough to show a rate.
#[test]
fn the_best_rate_seen_is_that_of_all_phases_with_as_many_threads() {
    let m = recording("published/2026-11-22/dense-q8.pfi");
    let ladders = Analysis::compute(&m).ladder;
    for question in [Question::Prompt, Question::Decode] {
        let floor = ladders.of(question).unwrap().floor.as_ref();
        let sources = floor.map(|f| (f.source, f.arithmetic_source));
        assert_eq!(sources, Some((None, Some(CeilingSource::BestSeen))), "{question:?}");
    }
}
