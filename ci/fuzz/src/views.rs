//! A complete stream: from its frames to every view.
//!
//! The function computes the checksums, because no fuzzer finds them. Checked: nothing panics,
//! every view can be written, and the terminal output has no control sequences.

use std::io;

use profinfer_analysis::Analysis;
use profinfer_trace::read;
use profinfer_views::files::{CHROME, CSV, VIEWS};
use profinfer_views::terminal::terminal;
use profinfer_wire::WIRE_VERSION;
use profinfer_wire::hello::Hello;

use crate::agent::plan::frames;

/// Frames one after the other: kind and length of two bytes each, and the payload.
pub fn views(bytes: &[u8]) {
    let stream = stream(bytes);
    let model = read(&stream).expect("a hello of this version");
    let analysis = Analysis::compute(&model);
    for (_, view) in VIEWS.iter().chain(&CSV).chain([&CHROME]) {
        view(&model, &analysis, &mut io::sink()).expect("nothing is written anywhere");
    }
    let mut seen = Vec::new();
    terminal(&model, &analysis, &mut seen).expect("writing into memory");
    let seen = String::from_utf8(seen).expect("text");
    // Colours are ours: ESC [ digits m.
    for piece in seen.split('\u{1b}').skip(1) {
        let rest = piece.trim_start_matches(|c: char| c == '[' || c == ';' || c.is_ascii_digit());
        assert!(
            piece.starts_with('[') && rest.starts_with('m'),
            "the terminal output has a control sequence: {piece:?}"
        );
    }
    let steers = |c: char| c.is_control() && c != '\n' && c != '\u{1b}';
    assert!(!seen.contains(steers), "the terminal output has a control sequence: {seen:?}");
}

/// A stream of these frames, as an agent would write it.
fn stream(bytes: &[u8]) -> Vec<u8> {
    let hello = Hello { wire_version: WIRE_VERSION, agent_version: [0, 1, 0], build: [0; 8], nonce: [0; 16] };
    [hello.to_bytes().as_slice(), &frames(bytes)].concat()
}
