//! A complete stream: from its frames to every view.
//!
//! The function computes the checksums, because no fuzzer finds them. Checked: nothing panics,
//! every view can be written, and the terminal output has no control sequences.

use std::io::{self, Write};

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;
use profinfer_trace::read;
use profinfer_views as all;
use profinfer_wire::WIRE_VERSION;
use profinfer_wire::hello::Hello;

use crate::agent::plan::frames;

type View = fn(&Model, &Analysis, &mut dyn Write) -> io::Result<()>;

const VIEWS: [View; 14] = [
    all::report::report,
    all::summary::summary,
    all::perfetto::perfetto,
    all::chrome::chrome,
    all::dag::dag,
    all::dot::dot,
    all::tables::ops_parquet,
    all::tables::tokens_parquet,
    all::tables::experts_parquet,
    all::tables::threads_parquet,
    all::tables::ops_csv,
    all::tables::tokens_csv,
    all::tables::experts_csv,
    all::tables::threads_csv,
];

/// Frames in order: kind and length of two bytes each, and the payload.
pub fn views(bytes: &[u8]) {
    let stream = stream(bytes);
    let model = read(&stream).expect("a hello of this version");
    let analysis = Analysis::compute(&model);
    for view in VIEWS {
        view(&model, &analysis, &mut io::sink()).expect("nothing is written anywhere");
    }
    let mut seen = Vec::new();
    all::terminal::terminal(&model, &analysis, &mut seen).expect("writing into memory");
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
