//! A recording with more operator spans than the limit of `timeline.json`.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};

use flate2::read::GzDecoder;

use profinfer_trace::test_support::session::{Size, session};

/// As in `write.rs`.
const UP_TO: usize = 200_000;

fn analyze(folder: &Path, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_analyze"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("analyze runs");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8_lossy(&stdout).into_owned()
}

#[test]
fn a_timeline_of_many_spans_is_written_as_json_only_if_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join("profile").join(name);
    let (small, large) = (session(1, size(20)), session(2, size(80)));
    assert!(small.truth.spans.len() <= UP_TO && large.truth.spans.len() > UP_TO);
    fs::write(folder.path().join("small.pfi"), small.bytes()).expect("written");
    fs::write(folder.path().join("large.pfi"), large.bytes()).expect("written");
    let left_out = "timeline.json was left out";

    assert!(!analyze(folder.path(), &["small.pfi"]).contains(left_out));
    assert!(at("timeline.json").exists());
    // Files of the other recording must not remain next to the views of this one.
    assert!(analyze(folder.path(), &["large.pfi"]).contains(left_out));
    assert!(!at("timeline.json").exists() && !at("timeline.json.gz").exists());
    assert!(at("timeline.pftrace").exists());

    assert!(!analyze(folder.path(), &["large.pfi", "--timeline-json"]).contains(left_out));
    assert!(!at("timeline.json").exists());
    let mut json = String::new();
    let compressed = File::open(at("timeline.json.gz")).expect("it is there");
    GzDecoder::new(compressed).read_to_string(&mut json).expect("whole");
    let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let events = read["traceEvents"].as_array().expect("events");
    let ops = events.iter().filter(|e| e["ph"] == "B" && e["args"]["tensor"].is_string()).count();
    assert_eq!(ops, large.truth.spans.len());

    assert!(!analyze(folder.path(), &["small.pfi", "--timeline-json"]).contains(left_out));
    assert!(at("timeline.json").exists() && !at("timeline.json.gz").exists());
}

fn size(llama_calls: u32) -> Size {
    Size { threads: 2, llama_calls, nodes: 1500, views_run: false }
}
