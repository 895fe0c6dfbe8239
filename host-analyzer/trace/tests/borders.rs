//! Rules of this crate that Cargo.toml cannot express: its tables use no wire record, and nothing
//! in it opens a file or a socket, so that every part of it can be fuzzed.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    entries
        .flat_map(|p| if p.is_dir() { sources(&p) } else { vec![p] })
        .filter(|p| p.extension().is_some_and(|e| e == "rs"))
        .collect()
}

/// No file below `folder` may contain one of `words`. Comments count: they link to the names in
/// them.
fn never(folder: &str, words: &[&str]) {
    let files =
        sources(&Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("src").join(folder));
    assert!(!files.is_empty(), "no source in {folder}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for word in words {
            assert!(!text.contains(word), "{} uses {word}", file.display());
        }
    }
}

#[test]
fn tables_know_no_wire_record() {
    never("model", &["profinfer_wire", "crate::decode", "crate::ingest", "super::super::"]);
}

#[test]
fn frames_are_decoded_without_their_meaning() {
    never("decode", &["crate::"]);
}

#[test]
fn nothing_is_opened() {
    // A group of `std` would hide what is used.
    never(
        "",
        &["std::fs", "std::net", "std::env", "std::process", "std::thread", "std::{", "println!", "dbg!"],
    );
}
