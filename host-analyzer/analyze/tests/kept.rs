//! Ceilings that are kept per machine, as a user meets them: a published recording without ceilings,
//! and a measurement on the same machine.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profinfer_trace::test_support::bytes::frame;
use profinfer_trace::test_support::records::{self, Record, ceiling, ceiling_load, ceiling_point};
use profinfer_wire::frame::{Frame, decode};
use profinfer_wire::hello::HELLO_LEN;
use profinfer_wire::record::kind;
use serde_json::Value;

const RECORDING: &str = "../tests/data/published/2026-11-23/dense-q8.pfi";
const GB: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

/// A recording of the same machine that has only these records.
fn bench(ceilings: &[Record]) -> Vec<u8> {
    let whole = fs::read(published()).unwrap();
    let parts = whole[HELLO_LEN..].split(|b| *b == 0).filter(|p| !p.is_empty());
    let own = parts.filter_map(|part| {
        let mut chunk = part.to_vec();
        let Frame { kind, payload, .. } = decode(&mut chunk).unwrap();
        [kind::SESSION, kind::FACT].contains(&kind).then(|| (kind, payload.to_vec()))
    });
    let mut all: Vec<Record> = own.chain(ceilings.iter().cloned()).collect();
    all.push(records::end(9_000, 0, all.len() as u32));
    (0..).zip(&all).fold(whole[..HELLO_LEN].to_vec(), |mut bytes, (seq, (kind, payload))| {
        bytes.extend(frame(*kind, seq, payload));
        bytes
    })
}

fn published() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDING)
}

/// A read curve of the threads of the recording, and who held the CPUs.
fn curve(rate: u64, doubts: u64, others_ms: u64) -> Vec<Record> {
    let figures = |bytes: u64, rate: u64| [bytes, 7, rate, rate - 1, rate + 1, doubts];
    vec![
        ceiling(0, "A core", "0-1", "AVX2", [7, rate, rate - 1, rate + 1], ""),
        ceiling_point(0, "0-1", "AVX2", figures(1 << 18, 3 * rate), 0),
        ceiling_point(0, "0-1", "AVX2", figures(1 << 27, rate), 1),
        ceiling_load(0, "0-1", "AVX2", [480 * MS, others_ms * MS, others_ms * MS], 42, "python3"),
    ]
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(published(), folder.path().join("run.pfi")).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, ceilings: &[Record]) {
        fs::write(self.0.path().join(name), bench(ceilings)).unwrap();
    }

    fn analyze(&self, arguments: &[&str]) -> (Value, Output) {
        let output = Command::new(env!("CARGO_BIN_EXE_analyze"))
            .current_dir(self.0.path())
            .env("XDG_CONFIG_HOME", self.0.path())
            .env_remove("PROFINFER_CEILINGS")
            .env("XDG_STATE_HOME", self.0.path().join("state"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
        let summary = fs::read(self.0.path().join("profile/summary.json")).unwrap();
        (serde_json::from_slice(&summary).unwrap(), output)
    }
}

/// The ceilings of decode.
fn roof(summary: &Value) -> Value {
    let roofs = summary["work"]["roofs"].as_array().unwrap();
    roofs.iter().find(|r| r["phase"] == "decode").unwrap().clone()
}

/// The text without line ends: the terminal's width breaks lines.
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_measurement_serves_later_recordings_of_the_machine() {
    let folder = Folder::new();
    let (before, output) = folder.analyze(&["run.pfi"]);
    assert_eq!((&roof(&before)["read"], &roof(&before)["no_read"]), (&Value::Null, &"not_measured".into()));
    assert!(!text(&output.stderr).contains("ceilings"), "{}", text(&output.stderr));
    // Beside a neighbour, then better ones.
    folder.write("bench.pfi", &curve(9 * GB, 0, 400));
    let (own, output) = folder.analyze(&["bench.pfi"]);
    assert_eq!(
        (&own["ceilings"][0]["source"], &own["ceilings"][0]["polluted"]),
        (&"recording".into(), &true.into())
    );
    assert!(text(&output.stdout).contains("most by python3 (42)"), "{}", text(&output.stdout));
    let (with, output) = folder.analyze(&["run.pfi"]);
    let read = &roof(&with)["read"];
    assert_eq!((&read["source"], &read["polluted"]), (&"kept".into(), &true.into()));
    assert!(read["kept_unix_ns"].as_u64() > Some(GB), "{read}");
    assert!(text(&output.stderr).contains("measured on this machine before"), "{}", text(&output.stderr));
    assert!(with["work"]["decode"]["mbu"].as_f64() > Some(0.0) && before["work"]["decode"]["mbu"].is_null());
    let shown = text(&output.stdout);
    assert!(shown.contains("kept, 20") && shown.contains(", measured on 20"), "{shown}");
    for (name, curve) in [("better", curve(12 * GB, 0, 0)), ("worse", curve(7 * GB, 0, 0))] {
        folder.write("bench.pfi", &curve);
        folder.analyze(&["bench.pfi"]);
        let (with, _) = folder.analyze(&["run.pfi"]);
        assert_eq!(with["ceilings"][0]["median"], 12 * GB, "{name}");
        assert_eq!(with["ceilings"][0]["polluted"], false, "{name}");
    }
    // A file that the user names takes precedence, also over a doubt.
    folder.write("bench.pfi", &curve(20 * GB, 1, 0));
    let (doubted, output) = folder.analyze(&["--ceilings", "bench.pfi", "run.pfi"]);
    assert_eq!(roof(&doubted)["read"]["source"], "kept");
    assert!(text(&output.stderr).contains("has them with doubts"), "{}", text(&output.stderr));
    folder.write("bench.pfi", &curve(8 * GB, 0, 0));
    let (given, _) = folder.analyze(&["--ceilings", "bench.pfi", "run.pfi"]);
    assert_eq!(roof(&given)["read"]["source"], "given");
}

/// A measurement that cannot be used is the reason, not a missing `--bench`.
#[test]
fn a_doubtful_measurement_is_named_as_the_reason() {
    let folder = Folder::new();
    folder.write("bench.pfi", &curve(20 * GB, 1, 0));
    let (summary, output) = folder.analyze(&["--ceilings", "bench.pfi", "run.pfi"]);
    assert_eq!((&roof(&summary)["read"], &roof(&summary)["no_read"]), (&Value::Null, &"unstable".into()));
    let shown = text(&output.stdout);
    assert!(shown.contains("cannot be used (the repetitions differ too much"), "{shown}");
}

#[test]
fn what_is_wrong_with_the_store_is_said_and_ends_nothing() {
    let folder = Folder::new();
    folder.write("bench.pfi", &curve(9 * GB, 0, 0));
    folder.analyze(&["bench.pfi"]);
    let kept = folder.0.path().join("state/profinfer/ceilings");
    let file = fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, "no JSON \u{1b}[31m").unwrap();
    let (summary, output) = folder.analyze(&["run.pfi"]);
    assert_eq!((output.status.code(), summary["ceilings"].as_array().unwrap().len()), (Some(0), 0));
    assert!(text(&output.stderr).contains("reading the kept ceilings"), "{}", text(&output.stderr));
    folder.analyze(&["bench.pfi"]);
    assert_eq!(folder.analyze(&["run.pfi"]).0["ceilings"][0]["median"], 9 * GB);
    fs::remove_dir_all(&kept).unwrap();
    fs::write(&kept, "").unwrap();
    let (_, output) = folder.analyze(&["bench.pfi"]);
    assert!(
        text(&output.stderr).contains("keeping the ceilings of this machine"),
        "{}",
        text(&output.stderr)
    );
}
