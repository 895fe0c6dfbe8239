//! Ceilings: each arrives with its CPUs and figures; what makes no sense is damage or harmless.

use host_analyzer::analyses::Analysis;
use host_analyzer::model::{Ceiling, CeilingKind, DamageKind};

use crate::synth::bytes::Fields;
use crate::synth::records::{Record, ceiling};
use crate::whole_session::{damage, model};
use crate::write_views;

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
    };
    assert_eq!(*read, expected);
    assert_eq!(
        (int8.kind, int8.how.as_str(), int8.note.as_str()),
        (CeilingKind::Int8, "sdot", "an engine ran")
    );
    assert_eq!((wake_up.kind, wake_up.measured(), wake_up.cpus.len()), (CeilingKind::WakeUp, false, 0));
    // Told again, as after a frame that was sent twice; the last word holds.
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
    let ceilings = Analysis::of(&m).ceiling;
    assert_eq!(ceilings.on(CeilingKind::Read, 1, &[0]).map(|f| f.value), Some(u64::MAX));
    for kind in CeilingKind::ALL {
        for cpus in [&[][..], &[65535], &[0, 0, 1]] {
            let fit = ceilings.on(kind, cpus.len(), cpus);
            assert!(fit.is_none_or(|f| f.value > 0 && kind == CeilingKind::Read), "{fit:?}");
            assert_eq!(ceilings.on(kind, usize::MAX, cpus), None);
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
