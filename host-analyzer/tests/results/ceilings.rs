//! Which ceiling fits which CPUs, on a board with four fast and four slow cores.

use host_analyzer::analyses::Analysis;
use host_analyzer::analyses::ceiling::{Ceilings, Fit};
use host_analyzer::model::{Ceiling, CeilingKind};
use host_analyzer::views;

use crate::models::small;

fn ceiling(
    kind: CeilingKind,
    core: &str,
    cpus: impl IntoIterator<Item = u16>,
    how: &str,
    median: u64,
) -> Ceiling {
    let (core, how, note) = (core.to_owned(), how.to_owned(), String::new());
    let cpus = cpus.into_iter().collect();
    Ceiling { kind, core, cpus, how, repeats: 7, median, min: median, max: median, note }
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
    Analysis::of(&model).ceiling
}

#[test]
fn the_same_cpus_then_the_same_cores_then_as_many() {
    let ceilings = ceilings();
    let read = |cpus: &[u16]| ceilings.on(CeilingKind::Read, cpus.len(), cpus).map(|f| (f.value, f.fit));
    assert_eq!(read(&[4, 5]), Some((18, Fit::SameCpus)));
    assert_eq!(read(&[5, 4]), Some((18, Fit::SameCpus)));
    assert_eq!(read(&[6, 7]), Some((18, Fit::SameCores)));
    assert_eq!(read(&[6]), Some((12, Fit::SameCores)), "what was not measured on it fits nothing");
    // Three were not measured, and two slow ones only as they are.
    assert_eq!(read(&[4, 5, 6]), None);
    assert_eq!(read(&[1, 2]), Some((18, Fit::AsMany)));
    assert_eq!(read(&(0..8).collect::<Vec<_>>()), Some((19, Fit::SameCpus)));
    // CPUs of unknown types: the fastest; of those that have some of these CPUs, these.
    assert_eq!(read(&[20, 21, 22, 23]), Some((20, Fit::AsMany)));
    assert_eq!(read(&[1, 2, 3, 20]), Some((11, Fit::AsMany)));
    // Two threads that were on four CPUs.
    let moved = ceilings.on(CeilingKind::Read, 2, &[4, 5, 6, 7]).map(|f| (f.value, f.fit));
    assert_eq!(moved, Some((18, Fit::AsMany)));
}

#[test]
fn the_fastest_way_and_the_shortest_time() {
    let ceilings = ceilings();
    let on = |kind, cpus: &[u16]| ceilings.on(kind, cpus.len(), cpus);
    let int8 = on(CeilingKind::Int8, &[4]).map(|f| (f.value, f.ceiling.how.as_str()));
    assert_eq!(int8, Some((160, "smmla")));
    assert_eq!(on(CeilingKind::Barrier, &[6, 7]).map(|f| f.value), Some(300));
    assert_eq!(on(CeilingKind::Copy, &[4]), None);
}

#[test]
fn the_views_show_them() {
    let mut model = small::model();
    model.ceilings = board();
    model.ceilings[0].median = 12_340_000_000;
    let analysis = Analysis::of(&model);
    let mut json = Vec::new();
    views::summary::summary(&model, &analysis, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = json["ceilings"].as_array().unwrap();
    assert_eq!(rows.len(), board().len());
    let first = serde_json::json!({
        "kind": "read", "unit": "bytes_per_s", "core": "big", "threads": 1, "cpus": [4], "how": "ldp q", "repeats": 7,
        "median": 12_340_000_000_u64, "min": 12, "max": 12, "note": "",
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
    views::terminal::terminal(&model, &Analysis::of(&model), &mut without).unwrap();
    let without = String::from_utf8(without).unwrap();
    assert!(!without.contains("sdot") && !without.contains("big+little"), "{without}");
}
