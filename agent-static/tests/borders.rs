//! The borders between the agent's folders, checked in the sources: a folder uses only those before
//! it.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files of `src/`, each after those that it may use.
const LAYERS: [&str; 20] = [
    // Basics that everything uses.
    "error",
    "clock",
    "proc_file",
    "kernel_options",
    "signals",
    // The system interface and the link.
    "sys",
    "confine",
    "link",
    // The kernel side, the request, the target, and observations without probes.
    "bpf",
    "request",
    "target",
    "observe",
    // From events to records.
    "direct",
    "lower",
    // Probes of processes, capture control, and the loop.
    "probes",
    "schedule",
    "session",
    // Commands.
    "doctor",
    "cli",
    "commands",
];

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let nested = entries.flat_map(|p| if p.is_dir() { sources(&p) } else { vec![p] });
    nested.filter(|p| p.extension().is_some_and(|e| e == "rs")).collect()
}

/// A source without its comments, and without the tests at its end.
fn code(source: &str) -> String {
    let end = source.find("#[cfg(test)]\nmod tests {").or_else(|| source.find("#[cfg(test)]\n#[expect"));
    let lines = source[..end.unwrap_or(source.len())].lines();
    lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first names of all paths in a source that begin at the crate.
fn used(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, word) in source.match_indices("crate::") {
        let rest = &source[at + word.len()..];
        let name = |text: &str| {
            let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
            text[..end].to_owned()
        };
        match rest.strip_prefix('{') {
            // A group of folders has no nested groups, as formatted by rustfmt.
            Some(group) => {
                let inside = &group[..group.find('}').unwrap()];
                found.extend(inside.split(',').map(|part| name(part.trim())).filter(|n| !n.is_empty()));
            }
            None => {
                found.insert(name(rest));
            }
        }
    }
    found
}

fn layer(name: &str) -> usize {
    let at = LAYERS.iter().position(|layer| *layer == name);
    at.unwrap_or_else(|| panic!("`{name}` is in no layer: add it to LAYERS"))
}

#[test]
fn a_folder_uses_only_those_before_it() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("src");
    let mut wrong = Vec::new();
    for file in sources(&root) {
        let inside = file.strip_prefix(&root).unwrap();
        if ["lib.rs", "main.rs"].iter().any(|top| inside == Path::new(top)) {
            continue;
        }
        let own = inside.with_extension("").iter().next().unwrap().to_string_lossy().into_owned();
        // Tests in separate files may use everything.
        if inside.file_stem().is_some_and(|stem| stem == "tests" || stem == "verified") {
            continue;
        }
        for other in used(&code(&fs::read_to_string(&file).unwrap())) {
            if layer(&other) > layer(&own) {
                wrong.push(format!("{} uses {other}, which comes after {own}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `foo/mod.rs`, never `foo.rs` next to `foo/`: one way to find a module.
#[test]
fn a_folder_contains_its_mod_file() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("src");
    for file in sources(&root) {
        let folder = file.with_extension("");
        assert!(
            !folder.is_dir(),
            "{} has a folder with the same name: move it there as mod.rs",
            file.display()
        );
    }
}

/// Positive control of the source reader.
#[test]
fn found_in_samples() {
    let found = |source: &str| used(&code(source)).into_iter().collect::<Vec<_>>();
    assert_eq!(
        found("use crate::bpf::{Bpf, ring};\nuse crate::{clock, link::Output};"),
        ["bpf", "clock", "link"]
    );
    assert_eq!(found("//! [`crate::lower`]\nfn f() { crate::sys::go() } // crate::session"), ["sys"]);
    assert_eq!(found("use crate::clock;\n#[cfg(test)]\nmod tests { use crate::session; }"), ["clock"]);
}
