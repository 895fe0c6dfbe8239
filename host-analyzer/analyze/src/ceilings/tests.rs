#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;

use super::store::Store;
use super::{Machine, Measured, Sources, complete, settle};
use profinfer_trace::model::{
    Ceiling, CeilingKind, CeilingLoad, CeilingPoint, CeilingSource, CurveEnd, Doubt, Fact, FactScope,
    FactValue, Model,
};

const MIB: u64 = 1 << 20;
const DAY: u64 = 86_400_000_000_000;

/// A recording of a machine with this much memory, begun on this day of 1970.
fn recording(day: u64, memory: u64, ceilings: Vec<Ceiling>) -> Model {
    let mut model = Model { ceilings, ..Model::default() };
    (model.session.kernel, model.session.cpu_model) = ("6.1.0".to_owned(), "A board".to_owned());
    model.session.start_unix_ns = day * DAY;
    let core = FactValue::Text(model.texts.intern("0x414fd0b1"));
    for (scope, name, value) in [
        (FactScope::System, "memory.total", FactValue::Number(memory)),
        (FactScope::Cpu(0), "cpu.core", core),
        (FactScope::Cpu(1), "cpu.core", core),
        (FactScope::Cpu(1), "cpu.frequency.max", FactValue::Number(2_400_000_000)),
    ] {
        let name = model.texts.intern(name);
        model.facts.rows.push(Fact { at_ns: 0, scope, name, value });
    }
    model
}

/// A read curve of two threads: 1 MiB at twice the rate of 64 MiB.
fn curve(rate: u64) -> Ceiling {
    let point = |working_set_bytes, median| CeilingPoint {
        working_set_bytes,
        repeats: 7,
        median,
        min: median - 1,
        max: median + 1,
        doubts: Vec::new(),
        end: CurveEnd::Cache,
    };
    let points = vec![point(MIB, 2 * rate), point(64 * MIB, rate)];
    ceiling(CeilingKind::Read, points)
}

fn ceiling(kind: CeilingKind, points: Vec<CeilingPoint>) -> Ceiling {
    let last = points.last().unwrap().clone();
    let (core, how) = ("Cortex-A76".to_owned(), "ldp q".to_owned());
    Ceiling {
        kind,
        core,
        cpus: vec![0, 1],
        how,
        repeats: last.repeats,
        median: last.median,
        min: last.min,
        max: last.max,
        note: String::new(),
        points,
        load: None,
        source: CeilingSource::Recording,
    }
}

fn beside(neighbour: &str, c: Ceiling) -> Ceiling {
    let (wall_ns, others_ns) = (480_000_000, 470_000_000);
    let load = CeilingLoad { wall_ns, others_ns, pid: 42, name: neighbour.to_owned(), pid_ns: others_ns };
    Ceiling { load: Some(load), ..c }
}

fn doubtful(mut c: Ceiling) -> Ceiling {
    c.points.iter_mut().for_each(|p| p.doubts = vec![Doubt::Unstable]);
    c
}

struct Kept {
    _folder: tempfile::TempDir,
    path: PathBuf,
    store: Store,
}

fn kept() -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    Kept { store: Store::at(path.clone()), path, _folder: folder }
}

impl Kept {
    fn settle(&self, model: &mut Model, measured: Option<&Measured>) -> Vec<String> {
        let sources = Sources { measured, store: Some(self.store.clone()), boards: None, bench: false };
        settle(model, &sources)
    }

    /// Rates and source of the largest working sets after a recording was read.
    fn read(&self, day: u64, ceilings: Vec<Ceiling>) -> Vec<(u64, CeilingSource)> {
        let mut model = recording(day, 8 << 30, ceilings);
        self.settle(&mut model, None);
        model.ceilings.iter().map(|c| (c.median, c.source)).collect()
    }

    fn file(&self) -> PathBuf {
        let files: Vec<_> = fs::read_dir(&self.path).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }
}

const fn of_day(day: u64) -> CeilingSource {
    CeilingSource::Kept { unix_ns: day * DAY }
}

#[test]
fn a_later_recording_of_the_machine_uses_them() {
    let kept = kept();
    assert_eq!(kept.read(1, vec![]), []);
    assert!(!kept.path.exists(), "nothing to keep, nothing written");
    assert_eq!(kept.read(2, vec![curve(10)]), [(10, CeilingSource::Recording)]);
    let mut model = recording(3, 8 << 30, vec![]);
    let said = kept.settle(&mut model, None);
    assert_eq!(model.ceilings, [Ceiling { source: of_day(2), ..curve(10) }]);
    assert!(said.len() == 1 && said[0].contains("1970-01-03"), "{said:?}");
    // So does a part of a running session.
    let mut part = recording(3, 8 << 30, vec![]);
    complete(&mut part, None, Some(&kept.store));
    assert_eq!(part.ceilings, model.ceilings);
    // Another machine, and a recording that does not identify its machine, do not.
    let mut other = recording(3, 16 << 30, vec![]);
    kept.settle(&mut other, None);
    let mut old = Model::default();
    assert_eq!((kept.settle(&mut old, None), other.ceilings.len(), old.ceilings.len()), (vec![], 0, 0));
    // The kernel of another boot reserves a little more.
    let mut same = recording(3, (8 << 30) - 3 * MIB, vec![]);
    kept.settle(&mut same, None);
    assert_eq!(same.ceilings.len(), 1);
}

#[test]
fn the_identity_has_what_changes_ceilings() {
    let of = |change: &dyn Fn(&mut Model)| {
        let mut model = recording(1, 8 << 30, vec![]);
        change(&mut model);
        Machine::of(&model)
    };
    let here = of(&|_| ()).unwrap();
    assert_eq!(of(&|m| m.session.board = "rk3588".to_owned()).unwrap(), here, "a profile is a choice");
    let changes: [&dyn Fn(&mut Model); 4] = [
        &|m| m.session.kernel.push('1'),
        &|m| m.session.cpu_model.push('1'),
        &|m| m.facts.rows.truncate(2),
        &|m| m.facts.rows[3].value = FactValue::Number(1_800_000_000),
    ];
    let others: Vec<_> = changes.iter().map(|change| of(change).unwrap()).collect();
    assert_eq!(others.iter().map(|o| *o == here).collect::<Vec<_>>(), [false, false, false, false]);
    assert!(others.iter().all(|o| o.file_name() != here.file_name()));
    assert_eq!(of(&|m| m.facts.rows.clear()), None);
    assert_eq!(of(&|m| m.session.kernel.clear()), None);
    assert_eq!(Machine::midrs(&recording(1, 1, vec![])), [0x4100_d0b0; 2]);
}

#[test]
fn the_best_is_kept() {
    let kept = kept();
    kept.read(1, vec![beside("python3", curve(10))]);
    // A clean one of a lower rate proves nothing: the ceiling is at least 10.
    kept.read(2, vec![curve(9)]);
    assert_eq!(kept.read(3, vec![]), [(10, of_day(1))]);
    kept.read(4, vec![curve(12)]);
    kept.read(5, vec![beside("python3", curve(6))]);
    kept.read(6, vec![doubtful(curve(100))]);
    // The rest of a curve would stand for its larger working sets.
    let mut end = curve(100);
    end.points[1].doubts = vec![Doubt::Unstable];
    kept.read(6, vec![Ceiling { how: "other".to_owned(), ..end }]);
    assert_eq!(kept.read(7, vec![]), [(12, of_day(4))]);
    // A polluted one of a higher rate is nearer to the truth.
    kept.read(8, vec![beside("python3", curve(13))]);
    let mut model = recording(9, 8 << 30, vec![]);
    kept.settle(&mut model, None);
    assert_eq!((model.ceilings[0].median, model.ceilings[0].polluted()), (13, true));
    // Points are compared one by one; the last one tells when.
    let mut mixed = curve(11);
    mixed.points[0].median = 1_000;
    mixed.points[0].max = 1_000;
    kept.read(10, vec![mixed]);
    let mut model = recording(11, 8 << 30, vec![]);
    kept.settle(&mut model, None);
    let c = &model.ceilings[0];
    assert_eq!((c.points[0].median, c.points[1].median, c.source), (1_000, 13, of_day(8)));
    // Of times, the smallest. Other kinds and CPUs are ceilings of their own.
    let time = |ns: u64| {
        let point = CeilingPoint { working_set_bytes: 0, ..curve(ns).points[1].clone() };
        ceiling(CeilingKind::Barrier, vec![point])
    };
    kept.read(12, vec![time(500)]);
    kept.read(13, vec![time(700)]);
    kept.read(14, vec![Ceiling { cpus: vec![0], ..curve(5) }]);
    let all = kept.read(15, vec![]);
    assert_eq!(all, [(13, of_day(8)), (500, of_day(12)), (5, of_day(14))]);
}

#[test]
fn the_sessions_own_come_first_unless_something_is_wrong_with_them() {
    let kept = kept();
    kept.read(1, vec![curve(20)]);
    let recorded = CeilingSource::Recording;
    assert_eq!(kept.read(2, vec![curve(15)]), [(15, recorded)]);
    for odd in [doubtful(curve(15)), beside("make", curve(15))] {
        assert_eq!(kept.read(3, vec![odd]), [(15, recorded), (20, of_day(1))]);
    }
    assert_eq!(kept.read(4, vec![Ceiling { cpus: vec![0], ..curve(8) }]), [(8, recorded), (20, of_day(1))]);
    // A recording does not get its own ceilings a second time, also when it is read again.
    for _ in 0..2 {
        let all = kept.read(5, vec![beside("make", curve(30))]);
        assert_eq!(all, [(30, recorded), (8, of_day(4))]);
    }
    // A file that the user names comes before the kept ones, and is kept for its machine.
    let file = Measured {
        name: "bench.pfi".to_owned(),
        cpu_model: "A board".to_owned(),
        ceilings: vec![Ceiling { source: CeilingSource::Given, ..curve(40) }],
        machine: Machine::of(&recording(6, 16 << 30, vec![])),
        unix_ns: 6 * DAY,
    };
    let mut model = recording(7, 8 << 30, vec![curve(1)]);
    let said = kept.settle(&mut model, Some(&file));
    let sources: Vec<_> = model.ceilings.iter().map(|c| c.source).collect();
    assert_eq!(sources, [CeilingSource::Given, of_day(4)]);
    assert!(said.iter().any(|s| s.contains("bench.pfi instead of those of the stream")), "{said:?}");
    let mut other = recording(8, 16 << 30, vec![]);
    kept.settle(&mut other, None);
    assert_eq!((other.ceilings[0].median, other.ceilings[0].source), (40, of_day(6)));
}

#[test]
fn a_damaged_file_is_reported_and_replaced() {
    let kept = kept();
    kept.read(1, vec![curve(20)]);
    let whole = fs::read_to_string(kept.file()).unwrap();
    let change = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from} in {whole}");
        whole.replace(from, to)
    };
    for wrong in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        whole[..whole.len() / 2].to_owned(),
        "\0\u{1}\u{7f}".repeat(1000),
        "[".repeat(100_000),
        change("\"format\":1", "\"format\":2"),
        change("6.1.0", "6.1.1"),
        change("\"read\"", "\"write\""),
        change("[0,1]", "[1,0]"),
        change("[0,1]", "[]"),
        change("[0,1]", "[0,65536]"),
        change("\"repeats\":7", "\"repeats\":0"),
        change("\"min\":19", "\"min\":21"),
        change("\"max\":21", "\"max\":-1"),
        change("67108864", "1"),
        change("\"cache\"", "\"\\u001b[31m\""),
        change("Cortex-A76", &"x".repeat(2000)),
    ] {
        fs::write(kept.file(), &wrong).unwrap();
        let mut model = recording(2, 8 << 30, vec![]);
        let said = kept.settle(&mut model, None);
        assert!(model.ceilings.is_empty(), "{wrong}");
        assert!(said.len() == 1 && said[0].contains("reading the kept ceilings"), "{said:?}");
        assert!(said[0].contains("help: "), "{said:?}");
    }
    kept.read(3, vec![curve(5)]);
    assert_eq!(kept.read(4, vec![]), [(5, of_day(3))]);
    // A folder in place of the file, and one in place of which there is a file.
    let file = kept.file();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let said = kept.settle(&mut recording(5, 8 << 30, vec![]), None);
    assert!(said.len() == 1 && said[0].contains("it is no file"), "{said:?}");
    fs::remove_dir(&file).unwrap();
    fs::remove_dir(&kept.path).unwrap();
    fs::write(&kept.path, "").unwrap();
    let mut model = recording(5, 8 << 30, vec![curve(9)]);
    let said = kept.settle(&mut model, None);
    assert_eq!(model.ceilings, [curve(9)]);
    assert!(said.iter().any(|s| s.contains("keeping the ceilings")), "{said:?}");
}

#[test]
fn the_number_of_machines_is_bounded() {
    let kept = kept();
    for gib in 1..=70 {
        kept.settle(&mut recording(gib, gib << 30, vec![curve(gib + 5)]), None);
    }
    assert_eq!(fs::read_dir(&kept.path).unwrap().count(), 64);
    let mut last = recording(100, 70 << 30, vec![]);
    kept.settle(&mut last, None);
    assert_eq!(last.ceilings[0].median, 75);
}

#[test]
fn a_profile_has_the_memory_of_its_board() {
    let kept = kept();
    let mut model = recording(1, 8 << 30, vec![]);
    kept.settle(&mut model, None);
    assert_eq!(model.board_memory, None);
    for (board, cpu_model) in [("rk3588", ""), ("host", "Raspberry Pi 5 Model B Rev 1.0")] {
        model.session.board = board.to_owned();
        model.session.cpu_model = cpu_model.to_owned();
        kept.settle(&mut model, None);
        let memory = model.board_memory.unwrap();
        assert!(memory.low <= memory.per_s && Some(memory.per_s) < memory.theoretical, "{memory:?}");
    }
}
