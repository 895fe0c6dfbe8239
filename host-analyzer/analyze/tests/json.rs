//! `--format json` of every command: the object on standard output against files, streams and
//! folders that the test reads itself.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use profinfer_schema::{Backends, Comparison, EndingCode, Findings, Ladder, LadderSum, Summary, Tuning};
use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::Frame;
use profinfer_wire::hello::HELLO_LEN;
use profinfer_wire::record::{Record, kind};
use serde::de::DeserializeOwned;
use serde_json::Value;

const DEMO: &[u8] = include_bytes!("../../tests/data/demo.pfi");

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name)
}

/// A folder with recordings under short names.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in [
        ("demo.pfi", "demo.pfi"),
        ("dense.pfi", "published/2026-11-23/dense-q8.pfi"),
        ("dense-22.pfi", "published/2026-11-22/dense-q8.pfi"),
        ("moe.pfi", "published/2026-11-23/moe-mixtral8.pfi"),
    ] {
        fs::copy(data(from), folder.path().join(name)).unwrap();
    }
    folder
}

fn analyze(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_analyze"))
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder)
        .args(arguments)
        .output()
        .unwrap()
}

/// The one object that a command prints.
fn object(folder: &Path, arguments: &[&str]) -> Value {
    let output = analyze(folder, &[arguments, &["--format", "json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches('\n').count(), 1, "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap()
}

fn file(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A value as a struct of the schema, which must lose nothing of it.
fn typed<T: DeserializeOwned + serde::Serialize>(value: &Value) -> T {
    let typed: T = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&typed).unwrap(), *value);
    typed
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

/// An agent that reads a request and answers with parts of a stream, with a pause between them.
fn serve(parts: Vec<Vec<u8>>, pause: Duration) -> (String, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("tcp:{}", listener.local_addr().unwrap());
    let agent = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let (mut accumulator, mut buffer) = (Accumulator::new(), [0; 512]);
        'request: loop {
            let n = socket.read(&mut buffer).unwrap();
            assert!(n > 0, "the host sends a start");
            let mut input = &buffer[..n];
            while !input.is_empty() {
                if let Some(Found::Frame(Frame { kind: kind::START, .. })) = accumulator.feed(&mut input) {
                    break 'request;
                }
            }
        }
        for (i, part) in parts.iter().enumerate() {
            thread::sleep(if i == 0 { Duration::ZERO } else { pause });
            socket.write_all(part).unwrap();
        }
    });
    (source, agent)
}

#[test]
fn a_recording() {
    let folder = folder();
    let found = object(folder.path(), &["demo.pfi"]);
    assert_eq!((texts(&found["recording"]), texts(&found["reported"])), (vec!["demo.pfi"], vec!["demo.pfi"]));
    assert_eq!((&found["exit_status"], texts(&found["messages"])), (&0.into(), vec![]));
    let [result] = &found["results"].as_array().unwrap()[..] else { panic!("{}", found["results"]) };
    assert_eq!((&result["pid"], &result["folder"]), (&Value::Null, &"profile".into()));
    let mut names: Vec<_> = fs::read_dir(folder.path().join("profile"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(texts(&result["files"]), names);
    assert_eq!(result["summary"], file(&folder.path().join("profile/summary.json")));
    let summary: Summary = typed(&result["summary"]);
    assert_eq!(summary.ending.code, EndingCode::Computed);

    // The summary is complete if other files are requested.
    let only = object(folder.path(), &["demo.pfi", "--only", "dag.json", "--out", "only"]);
    assert_eq!(texts(&only["results"][0]["files"]), ["dag.json"]);
    assert_eq!(only["results"][0]["summary"], result["summary"]);
}

#[test]
fn a_recording_without_calls() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cut.pfi"), &DEMO[..1000]).unwrap();
    let output = analyze(folder.path(), &["cut.pfi", "--format", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        (&found["exit_status"], &found["results"][0]["summary"]["ending"]["code"]),
        (&3.into(), &"cut_short".into())
    );
}

#[test]
fn a_capture_names_its_recording() {
    for (options, name) in
        [(&[][..], "profile/recording.pfi"), (&["--rotate", "64M"], "profile/recording-0001.pfi")]
    {
        let folder = tempfile::tempdir().unwrap();
        let (source, agent) = serve(vec![DEMO.to_vec()], Duration::ZERO);
        let found = object(folder.path(), &[options, &[&source]].concat());
        agent.join().unwrap();
        assert_eq!((texts(&found["recording"]), texts(&found["reported"])), (vec![name], vec![name]));
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), DEMO);
    }
}

#[test]
fn watch_prints_a_line_per_update_and_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let parts: Vec<Vec<u8>> = DEMO.chunks(DEMO.len() / 3).map(<[u8]>::to_vec).collect();
    let (source, agent) = serve(parts, Duration::from_millis(1500));
    let output = analyze(folder.path(), &["watch", "--format", "json", &source]);
    agent.join().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let result = lines.pop().unwrap();
    assert_eq!((&result["kind"], &result["exit_status"]), (&"result".into(), &0.into()));
    let summary = &result["results"][0]["summary"];
    assert_eq!(*summary, file(&folder.path().join("profile/summary.json")));
    assert!(!lines.is_empty());
    let mut before = 0;
    for line in &lines {
        assert_eq!(line["kind"], "update");
        let bytes = line["stream_bytes"].as_u64().unwrap();
        assert!(before < bytes && bytes <= DEMO.len() as u64, "{line}");
        before = bytes;
        assert!(line["window"]["duration_ns"].as_u64() <= summary["session"]["duration_ns"].as_u64());
        typed::<Findings>(&line["window"]["findings"]);
        for ladder in line["window"]["ladders"].as_array().unwrap() {
            typed::<Ladder>(ladder);
        }
        for sum in line["ladders"].as_array().unwrap() {
            let sum = typed::<LadderSum>(sum);
            assert_eq!(sum.steps.iter().map(|step| step.ns).sum::<u64>(), sum.measured_ns);
        }
    }
    // The last second of the recording may be in no window.
    for sum in lines.last().unwrap()["ladders"].as_array().unwrap() {
        let mut ladders = summary["ladders"].as_array().unwrap().iter();
        let ladder = ladders.find(|ladder| ladder["question"] == sum["question"]).unwrap();
        assert!(sum["units"].as_u64() <= ladder["units"].as_u64(), "{sum} {ladder}");
        assert!(sum["measured_ns"].as_u64() <= ladder["measured_ns"].as_u64(), "{sum} {ladder}");
    }
}

#[test]
fn published_documents() {
    let folder = folder();
    let root = folder.path();
    let compared = object(root, &["compare", "dense-22.pfi", "dense.pfi", "--warm-up", "0"]);
    assert_eq!(compared, file(&root.join("comparison/compare.json")));
    typed::<Comparison>(&compared);
    let other = object(root, &["backends", "demo.pfi", "moe.pfi"]);
    assert_eq!(other, file(&root.join("backends/backends.json")));
    typed::<Backends>(&other);
    for (setting, run) in [("t1", "dense.pfi"), ("t2", "dense-22.pfi")] {
        fs::create_dir_all(root.join("series").join(setting)).unwrap();
        fs::copy(root.join(run), root.join("series").join(setting).join("1.pfi")).unwrap();
    }
    let tuned = object(root, &["tune", "series", "--warm-up", "0"]);
    assert_eq!(tuned, file(&root.join("tuning/tune.json")));
    typed::<Tuning>(&tuned);
}

#[test]
fn inspected_frames_are_those_of_the_stream() {
    let folder = folder();
    let found = object(folder.path(), &["inspect", "demo.pfi"]);
    let frames = found["frames"].as_array().unwrap();
    assert_eq!((&found["file"], &frames[0]["kind"]), (&"demo.pfi".into(), &"hello".into()));
    let (mut accumulator, mut input, mut n) = (Accumulator::new(), &DEMO[HELLO_LEN..], 0);
    while !input.is_empty() {
        let before = input.len();
        let Some(Found::Frame(frame)) = accumulator.feed(&mut input) else { continue };
        n += 1;
        let item = &frames[n];
        let end = item["offset"].as_u64().unwrap() + item["bytes"].as_u64().unwrap();
        assert!(before > input.len());
        assert_eq!((item["seq"].as_u64(), end), (Some(frame.seq.into()), (DEMO.len() - input.len()) as u64));
        let record = Record::decode(&frame).unwrap();
        match record {
            Record::Session(s) => assert_eq!(item["content"]["kernel"], s.kernel, "{item}"),
            Record::End(e) => assert_eq!(item["content"]["frames"], e.frames, "{item}"),
            _ => {}
        }
        let debug = format!("{record:?}");
        assert_eq!(item["record"].as_str(), debug.split('(').next(), "{item}");
    }
    assert_eq!(n + 1, frames.len());
}

#[test]
fn boards_are_the_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boards");
    let names: BTreeSet<String> = fs::read_dir(&profiles)
        .unwrap()
        .filter_map(|e| Some(e.unwrap().file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
        .filter(|name| name != "Cargo")
        .collect();
    let all = object(folder.path(), &["boards"]);
    let found: BTreeSet<String> =
        all["boards"].as_array().unwrap().iter().map(|b| b["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(found, names);

    let one = object(folder.path(), &["boards", "rk3588"]);
    let board = &one["boards"][0];
    assert!(
        all["boards"].as_array().unwrap().contains(board) && one["boards"].as_array().unwrap().len() == 1
    );
    let cpus: Vec<u64> = board["clusters"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|c| c["cpus"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()))
        .collect();
    assert_eq!(cpus, (0..8).collect::<Vec<_>>());
    for core in board["cores"].as_array().unwrap() {
        let path = profiles.join("cores").join(format!("{}.toml", core["name"].as_str().unwrap()));
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(core["events"].as_array().unwrap().len(), text.matches("[[events]]").count());
        assert!(text.contains(core["description"].as_str().unwrap()));
    }
}

#[test]
fn findings_are_those_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings.md")).unwrap();
    let codes: Vec<&str> =
        page.lines().filter_map(|line| Some(line.strip_prefix('`')?.split_once("` ·")?.0)).collect();
    let all = object(folder.path(), &["findings"]);
    let found: Vec<_> =
        all["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert!(codes.len() > 10);
    assert_eq!(found, codes);
    let one = object(folder.path(), &["findings", "preempted"]);
    assert_eq!(
        (&one["findings"][0]["code"], one["findings"].as_array().unwrap().len()),
        (&"preempted".into(), 1)
    );
}

#[test]
fn exports_count_what_is_in_the_file() {
    let folder = folder();
    let root = folder.path();
    let pins = object(root, &["export", "expert-pins", "moe.pfi", "--out", "pins.csv"]);
    let csv = fs::read_to_string(root.join("pins.csv")).unwrap();
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    let layers: BTreeSet<&str> = rows.iter().filter_map(|row| row.split(',').next()).collect();
    assert_eq!((&pins["file"], &pins["experts"]), (&"pins.csv".into(), &rows.len().into()));
    assert_eq!((&pins["layers"], &pins["left_out_selections"]), (&layers.len().into(), &0.into()));

    let ftrace = object(root, &["export", "ftrace", "demo.pfi", "--out", "demo.ftrace"]);
    let text = fs::read_to_string(root.join("demo.ftrace")).unwrap();
    let begins = ["tracing_mark_write: B|", "tracing_mark_write: S|"];
    let slices = text.lines().filter(|line| begins.iter().any(|begin| line.contains(begin))).count();
    assert_eq!((&ftrace["file"], &ftrace["slices"]), (&"demo.ftrace".into(), &slices.into()));
}

#[test]
fn an_engine_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_analyze");
    let output = analyze(folder.path(), &["engine", program, "--format", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &found["complete"]), (Some(1), &false.into()));
    assert_eq!(found["files"][0]["path"], program);
    assert_eq!(found["levels"].as_array().unwrap().len(), 3);
    assert!(found["levels"].as_array().unwrap().iter().all(|level| level["traced"] == false));
}

#[test]
fn errors_are_the_last_line_of_standard_error() {
    let folder = folder();
    for (arguments, tried) in [
        (&["nowhere.pfi"][..], "nowhere.pfi"),
        (&["inspect", "nowhere.pfi"], "nowhere.pfi"),
        (&["engine", "nowhere.so"], "nowhere.so"),
        (&["compare", "demo.pfi", "nowhere.pfi"], "nowhere.pfi"),
        (&["backends", "nowhere.pfi"], "nowhere.pfi"),
        (&["predict", "nowhere.gguf", "--from", "demo.pfi"], "nowhere.gguf"),
        (&["tune", "nowhere.pfi"], "nowhere.pfi"),
        (&["findings", "nothing"], "nothing"),
        (&["boards", "nothing"], "nothing"),
        (&["export", "expert-pins", "nowhere.pfi", "--out", "pins.csv"], "nowhere.pfi"),
        (&["export", "ftrace", "demo.pfi"], "standard output"),
        (&["watch", "demo.pfi"], "demo.pfi"),
        (&["tcp:127.0.0.1:1", "--wait", "0"], "127.0.0.1:1"),
    ] {
        let output = analyze(folder.path(), &[arguments, &["--format", "json"]].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}: {text}");
        let found: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let part = |key: &str| found["error"][key].as_str().unwrap();
        assert!(part("tried").contains(tried), "{found}");
        assert!(!part("answer").is_empty() && !part("help").is_empty(), "{found}");
    }
    // A program that is not installed: its arguments name the format.
    let output = Command::new(env!("CARGO_BIN_EXE_analyze"))
        .env("PATH", "")
        .args(["fleet", "add", "x", "--to", "y", "--format=json"])
        .output()
        .unwrap();
    if !Path::new(env!("CARGO_BIN_EXE_analyze")).with_file_name("analyze-fleet").exists() {
        let found: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert!(found["error"]["tried"].as_str().unwrap().contains("analyze-fleet"), "{found}");
    }
}
