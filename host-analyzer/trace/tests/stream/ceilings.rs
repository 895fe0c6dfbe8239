//! Ceilings: each arrives with its CPUs and figures; invalid ones are damage or harmless.

use profinfer_analysis::Analysis;
use profinfer_trace::model::{Ceiling, CeilingKind, CeilingSource, CurveEnd, DamageKind, Doubt};

use crate::whole_session::{damage, model};
use crate::write_views;
use profinfer_trace::test_support::bytes::Fields;
use profinfer_trace::test_support::records::{Record, ceiling, ceiling_load, ceiling_point};

#[test]
fn ceilings_arrive() {
    let mut all = vec![
        ceiling(0, "Cortex-A76", "4-5,7", "ldp q", [7, 18, 17, 19], ""),
        ceiling(2, "Cortex-A76", "4", "sdot", [7, 2, 1, 3], "an engine ran"),
        ceiling(6, "", "", "futex", [0, 0, 0, 0], "interrupted"),
    ];
    let m = model(&all);
    assert_eq!(damage(&m), []);
    let [read, int8, wake_up] = &*m.ceilings else { panic!("{:?}", m.ceilings) };
    let expected = Ceiling {
        kind: CeilingKind::Read,
        core: "Cortex-A76".to_owned(),
        cpus: vec![4, 5, 7],
        how: "ldp q".to_owned(),
        repeats: 7,
        median: 18,
        min: 17,
        max: 19,
        note: String::new(),
        points: Vec::new(),
        load: None,
        source: CeilingSource::Recording,
    };
    assert_eq!(*read, expected);
    assert_eq!(
        (int8.kind, int8.how.as_str(), int8.note.as_str()),
        (CeilingKind::Int8, "sdot", "an engine ran")
    );
    assert_eq!((wake_up.kind, wake_up.measured(), wake_up.cpus.len()), (CeilingKind::WakeUp, false, 0));
    // Sent again, as after a frame that was sent twice; the last one is valid.
    all.push(ceiling(0, "Cortex-A76", "4,5,7", "ldp q", [9, 20, 20, 20], ""));
    let again = model(&all);
    assert_eq!((again.ceilings.len(), again.ceilings[0].median, again.ceilings[0].repeats), (3, 20, 9));
}

#[test]
fn every_kind_has_its_number() {
    let all: Vec<Record> = (0..7).map(|kind| ceiling(kind, "", "0", "", [1, 1, 1, 1], "")).collect();
    let kinds: Vec<CeilingKind> = model(&all).ceilings.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, CeilingKind::ALL);
    assert_eq!(damage(&model(&[ceiling(7, "", "0", "", [1, 1, 1, 1], "")])), [(DamageKind::Malformed, 1)]);
}

#[test]
fn hostile_lists_and_figures() {
    for list in ["x", "3-1", "0-65535", "0-4294967295", "1,,2", ",", "-", "70000"] {
        let m = model(&[ceiling(0, "", list, "", [1, 1, 1, 1], "")]);
        assert_eq!((damage(&m), m.ceilings.len()), (vec![(DamageKind::Malformed, 1)], 0), "{list}");
    }
    let most = u32::MAX.into();
    let figures = [
        ceiling(0, "a+", "0,0,0", "", [most, u64::MAX, u64::MAX, 0], ""),
        ceiling(1, "+", "65535", "", [1, 0, 0, 0], "\x1b[31m"),
        ceiling(2, "", "", "", [1, 5, 9, 1], ""),
        ceiling(5, "", "1", "", [0, u64::MAX, u64::MAX, u64::MAX], ""),
    ];
    let m = model(&figures);
    assert_eq!(damage(&m), []);
    let of = |c: &Ceiling| (c.min, c.median, c.max, c.cpus.len());
    let expected = [(0, u64::MAX, u64::MAX, 1), (0, 0, 0, 1), (1, 5, 9, 0), (0, 0, 0, 1)];
    assert_eq!(m.ceilings.iter().map(of).collect::<Vec<_>>(), expected);
    write_views(&m);
    let ceilings = Analysis::compute(&m).ceiling;
    assert_eq!(ceilings.on(CeilingKind::Read, 1, &[0], None).map(|f| f.value), Some(u64::MAX));
    for kind in CeilingKind::ALL {
        for cpus in [&[][..], &[65535], &[0, 0, 1]] {
            let fit = ceilings.on(kind, cpus.len(), cpus, Some(1));
            assert!(fit.is_none_or(|f| f.value > 0 && kind == CeilingKind::Read), "{fit:?}");
            assert_eq!(ceilings.on(kind, usize::MAX, cpus, None), None);
        }
    }
}

/// The number of ceilings is bounded, since each that comes is compared with those before.
#[test]
fn endless_ceilings() {
    let all: Vec<Record> =
        (0..5_000).map(|i| ceiling(0, "", "0", &i.to_string(), [1, 1, 1, 1], "")).collect();
    let m = model(&all);
    assert_eq!((m.ceilings.len(), damage(&m)), (4096, vec![(DamageKind::Malformed, 904)]));
    let short = (0x0b, Fields::default().uint(0).text("").text("0").0);
    assert_eq!(damage(&model(&[short])), [(DamageKind::Malformed, 1)]);
}

/// Points are assigned to their ceiling by kind, CPUs and way, in order of their working sets,
/// whatever the order of arrival.
#[test]
fn points_arrive() {
    let mut all = vec![
        ceiling(0, "Cortex-A76", "4-5", "ldp q", [7, 18, 17, 19], ""),
        ceiling_point(0, "4-5", "ldp q", [1 << 20, 7, 18, 17, 19, 0], 1),
        ceiling_point(0, "4,5", "ldp q", [1 << 18, 5, 40, 41, 60, 3], 0),
        ceiling(2, "Cortex-A76", "4", "sdot", [7, 2, 1, 3], "an engine ran"),
        ceiling_point(2, "4", "sdot", [0, 7, 2, 1, 3, 2], 0),
    ];
    let m = model(&all);
    assert_eq!(damage(&m), []);
    type Row = (u64, u32, [u64; 3], Vec<Doubt>, CurveEnd);
    let of = |c: &Ceiling| -> Vec<Row> {
        let row = |p: &profinfer_trace::model::CeilingPoint| {
            (p.working_set_bytes, p.repeats, [p.min, p.median, p.max], p.doubts.clone(), p.end)
        };
        c.points.iter().map(row).collect()
    };
    let small = (1 << 18, 5, [40, 41, 60], vec![Doubt::Unstable, Doubt::EngineRan], CurveEnd::Open);
    assert_eq!(of(&m.ceilings[0]), [small.clone(), (1 << 20, 7, [17, 18, 19], vec![], CurveEnd::Cache)]);
    assert_eq!((m.ceilings[0].median, m.ceilings[0].doubts()), (18, &[][..]));
    assert_eq!((m.ceilings.len(), m.ceilings[1].doubts()), (2, &[Doubt::EngineRan][..]));
    // Sent again, as after a frame that was sent twice; the last one is valid, and a ceiling that
    // comes again keeps its points.
    all.push(ceiling_point(0, "4-5", "ldp q", [1 << 20, 9, 20, 20, 20, 1 << 31], 3));
    all.push(ceiling(0, "Cortex-A76", "4-5", "ldp q", [9, 20, 20, 20], ""));
    let again = model(&all);
    assert_eq!(
        of(&again.ceilings[0]),
        [small, (1 << 20, 9, [20, 20, 20], vec![Doubt::Unknown], CurveEnd::Time)]
    );
    assert_eq!(again.ceilings[0].doubts(), [Doubt::Unknown]);
    write_views(&again);
}

#[test]
fn who_held_the_cpus_arrives_with_its_ceiling() {
    const MS: u64 = 1_000_000;
    let busy = |figures| ceiling_load(0, "4,5", "ldp q", figures, 42, "python3");
    let read = ceiling(0, "Cortex-A76", "4-5", "ldp q", [7, 18, 17, 19], "");
    let m = model(&[read.clone(), busy([480 * MS, 470 * MS, 460 * MS])]);
    let load = m.ceilings[0].load.as_ref().unwrap();
    assert_eq!((load.wall_ns, load.others_ns, load.pid_ns), (480 * MS, 470 * MS, 460 * MS));
    assert_eq!((load.pid, load.name.as_str(), m.ceilings[0].polluted()), (42, "python3", true));
    write_views(&m);
    // A tenth of a CPU is the usual work of a system, and two ticks may be counted wrongly.
    for (others, polluted) in [(0, false), (68, false), (69, true)] {
        let again = model(&[read.clone(), busy([480 * MS, others * MS, 0]), read.clone()]);
        assert_eq!((again.ceilings.len(), again.ceilings[0].polluted()), (1, polluted), "{others}");
    }
    let most = model(&[read, busy([u64::MAX; 3])]);
    assert!(damage(&most).is_empty() && most.ceilings[0].polluted());
    // Its ceiling was lost, or its list is invalid.
    let alone = model(&[busy([1, 1, 1])]);
    assert_eq!((damage(&alone), alone.ceilings.len()), (vec![], 0));
    let wrong = model(&[ceiling_load(0, "x", "", [1, 1, 1], 1, "")]);
    assert_eq!(damage(&wrong), [(DamageKind::Malformed, 1)]);
}

/// The frame of the ceiling is lost: its points are enough, and the largest has its figures.
#[test]
fn points_without_their_ceiling() {
    let points = [1 << 20, 1 << 22, 1 << 21];
    let all: Vec<Record> =
        points.iter().map(|b| ceiling_point(0, "0", "AVX2", [*b, 7, 9 + b, 8, 9 + b, 0], 0)).collect();
    let m = model(&all);
    assert_eq!((damage(&m), m.ceilings.len(), m.ceilings[0].points.len()), (vec![], 1, 3));
    assert_eq!((m.ceilings[0].repeats, m.ceilings[0].median), (7, 9 + (1 << 22)));
}

#[test]
fn hostile_points() {
    let most = u64::from(u32::MAX);
    let bad = [
        ceiling_point(0, "x", "", [1, 1, 1, 1, 1, 0], 0),
        ceiling_point(7, "0", "", [1, 1, 1, 1, 1, 0], 0),
        ceiling_point(0, "0", "", [1, 1, 1, 1, 1, 0], 4),
        ceiling_point(0, "0", "", [1, 0, 1, 1, 1, 0], 0),
        (0x18, Fields::default().uint(0).text("").text("0").0),
    ];
    for record in bad {
        let m = model(std::slice::from_ref(&record));
        assert_eq!((damage(&m), m.ceilings.len()), (vec![(DamageKind::Malformed, 1)], 0), "{record:?}");
    }
    let points: Vec<Record> =
        (0..100).map(|i| ceiling_point(0, "0", "", [u64::MAX - i, most, u64::MAX, 0, 0, most], 2)).collect();
    let m = model(&points);
    assert_eq!((m.ceilings[0].points.len(), damage(&m)), (64, vec![(DamageKind::Malformed, 36)]));
    write_views(&m);
    for figures in [[u64::MAX, 1, u64::MAX, 0, u64::MAX, 0], [0, 1, 0, 0, 0, 0]] {
        let m =
            model(&[ceiling_point(0, "0", "", figures, 0), ceiling_point(0, "0", "", [1, 1, 1, 1, 1, 0], 0)]);
        write_views(&m);
        let ceilings = Analysis::compute(&m).ceiling;
        for reads in [None, Some(0), Some(1), Some(2), Some(u64::MAX / 2), Some(u64::MAX)] {
            let fit = ceilings.on(CeilingKind::Read, 1, &[0], reads);
            assert!(fit.is_none_or(|f| f.value > 0), "{fit:?}");
        }
    }
}
