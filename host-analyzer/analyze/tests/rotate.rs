//! A recording in pieces: joined it is the stream byte for byte, and each piece is readable alone.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use profinfer_analysis::Analysis;
use profinfer_analysis::health::Remark;
use profinfer_trace::model::WAIT_UNKNOWN;
use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::{Frame, MAX_ENCODED, encode};
use profinfer_wire::hello::HELLO_LEN;
use profinfer_wire::record::kind;

const REAL: &[u8] = include_bytes!("../../tests/data/demo.pfi");

fn analyze(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_analyze"));
    command
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The demo with `n` clock readings after each frame: more bytes for the same `llama_decode` calls.
fn padded(readings: usize) -> Vec<u8> {
    let (mut stream, mut rest, mut accumulator) =
        (REAL[..HELLO_LEN].to_vec(), &REAL[HELLO_LEN..], Accumulator::new());
    let (mut seq, mut clock) = (0, None);
    while !rest.is_empty() {
        let Some(Found::Frame(frame)) = accumulator.feed(&mut rest) else { break };
        if frame.kind == kind::CLOCK {
            clock = Some(frame.payload.to_vec());
        }
        let readings =
            clock.iter().flat_map(|payload| (0..readings).map(|_| (kind::CLOCK, payload.as_slice())));
        // Keep the end last.
        let of_both = readings.filter(|_| frame.kind != kind::END).chain([(frame.kind, frame.payload)]);
        for (kind, payload) in of_both {
            let mut bytes = [0; MAX_ENCODED];
            let len = encode(&Frame { kind, seq, payload }, &mut bytes).unwrap();
            stream.extend_from_slice(&bytes[..len]);
            seq += 1;
        }
    }
    stream
}

/// A capture of the demo in pieces of `limit`. Returns the pieces in order.
fn captured(folder: &Path, limit: &str) -> Vec<PathBuf> {
    captured_of(REAL.to_vec(), folder, limit)
}

fn captured_of(stream: Vec<u8>, folder: &Path, limit: &str) -> Vec<PathBuf> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("tcp:{}", listener.local_addr().unwrap());
    let agent = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        assert!(socket.read(&mut [0; 4096]).unwrap() > 0, "it sends a plan");
        socket.write_all(&stream).unwrap();
        // Closing a socket with unread bytes resets it, and the other end may lose data.
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let output = analyze(folder, &[&source, "--rotate", limit]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    agent.join().unwrap();
    let files = std::fs::read_dir(folder.join("profile")).unwrap().map(|e| e.unwrap().path());
    let mut pieces: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "pfi")).collect();
    pieces.sort();
    pieces
}

fn summary(folder: &Path, sources: &[&str]) -> String {
    let output = analyze(folder, &[sources, &["--out", "joined"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(folder.join("joined/summary.json")).unwrap()
}

#[test]
fn pieces_that_are_joined_give_what_one_recording_gives() {
    // One piece ends after a `llama_decode` call, the other in the middle of a topology.
    for (limit, least) in [("72K", 2), ("64K", 2), ("1h,64K", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let pieces = captured(folder.path(), limit);
        assert!(pieces.len() >= least, "{pieces:?}");
        std::fs::write(folder.path().join("one.pfi"), REAL).unwrap();
        let one = summary(folder.path(), &["one.pfi"]);
        assert_eq!(summary(folder.path(), &["profile"]), one, "{limit}, the folder");
        let mut named: Vec<&str> = pieces.iter().map(|p| p.to_str().unwrap()).collect();
        named.reverse();
        assert_eq!(summary(folder.path(), &named), one, "{limit}, in any order");
        let after_capture = std::fs::read_to_string(folder.path().join("profile/summary.json")).unwrap();
        assert_eq!(after_capture, one, "{limit}, what the capture itself wrote");
    }
}

#[test]
fn each_piece_is_readable_alone() {
    let folder = tempfile::tempdir().unwrap();
    let pieces = captured(folder.path(), "72K");
    let whole = profinfer_trace::read(REAL).unwrap();
    let (mut spans, mut calls) = (0, 0);
    for (n, path) in (1..).zip(&pieces) {
        let model = profinfer_trace::read(&std::fs::read(path).unwrap()).unwrap();
        assert!(model.health.damage.is_empty() && !model.health.cut_short(), "{n}: {:#?}", model.health);
        assert_eq!(model.session.processes, whole.session.processes);
        assert_eq!(model.session.probes.len(), whole.session.probes.len());
        assert!(model.topologies.rows.iter().all(|t| t.complete));
        let named = |m: &profinfer_trace::model::Model, i: usize| {
            let node = m.spans.node[i].0 as usize;
            let call = m.graph_calls.topology[m.spans.graph_call[i].0 as usize].unwrap();
            m.texts.get(m.topologies.rows[call.0 as usize].nodes[node].name).to_owned()
        };
        for i in 0..model.spans.len() {
            assert_eq!(named(&model, i), named(&whole, spans + i));
            assert_eq!(model.spans.work_ns[i], whole.spans.work_ns[spans + i]);
        }
        // Without totals, as in a piece before the first of them, some waits are unknown.
        let waits = model.spans.wait_ns.iter().zip(&whole.spans.wait_ns[spans..]);
        assert!(waits.clone().all(|(w, all)| w == all || *w == WAIT_UNKNOWN), "{n}");
        assert!(waits.filter(|(w, all)| w != all).count() * 50 < model.spans.len(), "{n}");
        (spans, calls) = (spans + model.spans.len(), calls + model.llama_calls.len());
        let health = Analysis::compute(&model).health;
        let last = n == pieces.len();
        let told = |r: &Remark| matches!(r, Remark::Piece { goes_on, .. } if *goes_on != last);
        assert!(health.remarks.iter().any(told), "{n}: {:#?}", health.remarks);
        assert!(health.spans.unaccounted.is_none_or(|u| u <= 0), "{n}: {:#?}", health.spans);
        // The totals cover all pieces; the last piece accounts for all of them.
        assert_eq!(health.perfect, last, "{n}: {:#?}", health.remarks);
    }
    assert_eq!((spans, calls), (whole.spans.len(), whole.llama_calls.len()));
}

#[test]
fn what_is_no_recording_in_pieces_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    captured(folder.path(), "72K");
    std::fs::write(folder.path().join("other.pfi"), {
        let mut other = REAL.to_vec();
        let hello = profinfer_wire::hello::Hello::parse(&other).unwrap();
        let hello = profinfer_wire::hello::Hello { nonce: [9; 16], ..hello };
        other[..64].copy_from_slice(&hello.to_bytes());
        other
    })
    .unwrap();
    let first = "profile/recording-0001.pfi";
    for (sources, word) in [
        (&[first, "other.pfi"][..], "another session"),
        (&[first, first], "the same piece"),
        (&[first, "nothing.pfi"], "No such file"),
        (&[first, "--rotate", "10"], "--rotate <SIZE|TIME>"),
    ] {
        let output = analyze(folder.path(), sources);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(word), "{said}");
    }
}

/// A piece in the middle is missing: its frames are a gap, and the next piece repeats what it
/// needs.
#[test]
fn a_piece_that_is_gone_is_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let pieces = captured_of(padded(8), folder.path(), "64K");
    let received =
        |path: &PathBuf| profinfer_trace::read(&std::fs::read(path).unwrap()).unwrap().spans.len() as u64;
    let between = &pieces[1..pieces.len() - 1];
    let (gone, missing) = between.iter().map(|p| (p, received(p))).max_by_key(|(_, n)| *n).unwrap();
    assert!(missing > 0, "{pieces:?}");
    let named: Vec<&str> = pieces.iter().filter(|p| *p != gone).map(|p| p.to_str().unwrap()).collect();
    let summary: serde_json::Value = serde_json::from_str(&summary(folder.path(), &named)).unwrap();
    let health = &summary["health"];
    assert!(health.to_string().contains("frames missing"), "{health}");
    // The totals of the last piece give the number of missing spans.
    let spans = |key: &str| health["spans"][key].as_u64().unwrap();
    assert_eq!(spans("received") + missing, spans("kernel"), "{health}");
    assert_eq!(health["perfect"], false, "{health}");
}
