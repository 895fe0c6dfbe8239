//! The borders between the modules, read out of the sources: which module uses which, and which modules touch the outside.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Module, modules and crates of ours that it may use.
const MAY_USE: [(&str, &[&str]); 8] = [
    ("decode", &["profinfer_wire"]),
    ("ingest", &["profinfer_wire", "decode", "model"]),
    ("model", &[]),
    ("gguf", &["model"]),
    ("analyses", &["model"]),
    ("findings", &["model", "analyses"]),
    ("views", &["model", "analyses", "findings"]),
    (
        "commands",
        &[
            "profinfer_wire",
            "profinfer_options",
            "profinfer_scratch",
            "profinfer_secure",
            "profinfer_boards",
            "profinfer_engine",
            "decode",
            "gguf",
            "ingest",
            "model",
            "analyses",
            "findings",
            "views",
            "read",
        ],
    ),
];

/// The outside world: for `commands` alone.
const OUTSIDE: [&str; 10] =
    ["fs", "net", "env", "process", "thread", "clap", "nix", "indicatif", "println", "eprintln"];

/// Crates of ours, and those of ours that each may depend on.
const CRATES: [(&str, &[&str]); 8] = [
    ("scratch", &[]),
    ("wire", &[]),
    ("secure", &[]),
    ("options", &["profinfer-wire"]),
    ("boards", &["profinfer-wire"]),
    ("engine", &[]),
    ("agent-static", &["profinfer-wire", "profinfer-options", "profinfer-secure", "profinfer-engine"]),
    (
        "host-analyzer",
        &[
            "profinfer-wire",
            "profinfer-options",
            "profinfer-scratch",
            "profinfer-secure",
            "profinfer-boards",
            "profinfer-engine",
        ],
    ),
];

/// Words and punctuation of a source, without comments, texts and characters.
fn tokens(source: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let n = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(text) = rest.strip_prefix("r#\"") {
            3 + text.find("\"#").unwrap() + 2
        } else if c == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.unwrap() + 2
        } else if rest.starts_with("'\"'") || rest.starts_with("'{'") || rest.starts_with("'}'") {
            3
        } else if word(c) {
            let n = rest.find(|c| !word(c)).unwrap_or(rest.len());
            out.push(rest[..n].to_owned());
            n
        } else if rest.starts_with("::") {
            out.push("::".to_owned());
            2
        } else {
            if !c.is_whitespace() {
                out.push(c.to_string());
            }
            c.len_utf8()
        };
        rest = &rest[n..];
    }
    out
}

/// What a source of `module` uses from beyond it. `depth`: how many `super` stay inside the module.
fn used(source: &str, module: &str, depth: usize) -> BTreeSet<String> {
    let tokens = tokens(source);
    let mut found = BTreeSet::new();
    let mut i = 0;
    while i < tokens.len() {
        let mut supers = 0;
        while tokens.get(i + 2 * supers).is_some_and(|t| t == "super") {
            supers += 1;
        }
        let path_follows = |i: usize| tokens.get(i + 1).is_some_and(|t| t == "::");
        let from_root = match tokens[i].as_str() {
            "crate" | "host_analyzer" if path_follows(i) => Some(i + 2),
            _ if supers > depth => Some(i + 2 * supers),
            _ => None,
        };
        match from_root {
            Some(at) => found.extend(names(&tokens[at..])),
            None if tokens[i].starts_with("profinfer_") => drop(found.insert(tokens[i].clone())),
            // Outside words count where they are a path's part or a macro, not as names of fields.
            None if OUTSIDE.contains(&tokens[i].as_str()) => {
                let after = tokens.get(i + 1).map_or("", |t| t);
                let before = i.checked_sub(1).map_or("", |b| &tokens[b]);
                let from_std = before == "::" && i >= 2 && tokens[i - 2] == "std";
                let crate_path = after == "::" && before != "::";
                if from_std
                    || after == "!"
                    || (crate_path && ["clap", "nix", "indicatif"].contains(&&*tokens[i]))
                {
                    found.insert(tokens[i].clone());
                }
            }
            // use std::{fs, ...}
            None if tokens[i] == "std" && path_follows(i) && tokens.get(i + 2).is_some_and(|t| t == "{") => {
                found.extend(names(&tokens[i + 2..]).into_iter().filter(|n| OUTSIDE.contains(&n.as_str())));
            }
            None => {}
        }
        i += (2 * supers).max(1);
    }
    found.remove(module);
    found
}

/// The first names of the paths at the front: of one path, or of each in braces.
fn names(tokens: &[String]) -> Vec<String> {
    if tokens.first().is_none_or(|t| t != "{") {
        return tokens.first().cloned().into_iter().collect();
    }
    let (mut level, mut first, mut found) = (0, true, Vec::new());
    for t in tokens {
        match t.as_str() {
            "{" => level += 1,
            "}" => level -= 1,
            "," if level == 1 => first = true,
            name if level == 1 && first => {
                found.push(name.to_owned());
                first = false;
            }
            _ => {}
        }
        if level == 0 {
            break;
        }
    }
    found
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let nested = entries.flat_map(|p| if p.is_dir() { sources(&p) } else { vec![p] });
    nested.filter(|p| p.extension().is_some_and(|e| e == "rs")).collect()
}

fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").unwrap().into()
}

#[test]
fn modules_use_only_what_they_may() {
    let mut wrong = Vec::new();
    for (module, may) in MAY_USE {
        let dir = root().join("src").join(module);
        let files = sources(&dir);
        assert!(!files.is_empty(), "{module} has no sources");
        for file in files {
            let inside = file.strip_prefix(&dir).unwrap();
            // src/module/a.rs and src/module/a/mod.rs are module::a, which is one super below the module.
            let names = inside.components().count();
            let depth = if inside.ends_with("mod.rs") { names - 1 } else { names };
            for name in used(&fs::read_to_string(&file).unwrap(), module, depth) {
                let outside = OUTSIDE.contains(&name.as_str());
                let fine = if outside { module == "commands" } else { may.contains(&name.as_str()) };
                if !fine {
                    wrong.push(format!("{} uses {name}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_its_border() {
    let dirs = fs::read_dir(root().join("src")).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir());
    let modules: BTreeSet<String> =
        dirs.map(|d| d.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(modules, MAY_USE.iter().map(|(module, _)| (*module).to_owned()).collect());
    let files = fs::read_dir(root().join("src")).unwrap().map(|e| e.unwrap().file_name());
    let files: BTreeSet<_> = files.filter(|f| Path::new(f).extension().is_some()).collect();
    assert_eq!(files, ["lib.rs", "main.rs"].map(Into::into).into(), "a source outside the modules");
}

#[test]
fn crates_depend_only_on_what_they_may() {
    for (folder, may) in CRATES {
        let manifest = fs::read_to_string(root().join("..").join(folder).join("Cargo.toml")).unwrap();
        let own = manifest.lines().find(|l| l.starts_with("name")).unwrap();
        // What is built into the program; a build script and tests may read the profiles.
        let mut built_in = true;
        let ours = manifest.lines().filter(|l| {
            if l.starts_with('[') {
                built_in = !l.contains("build-dependencies") && !l.contains("dev-dependencies");
            }
            built_in && !std::ptr::eq(*l, own) && !l.starts_with("name")
        });
        for line in ours.filter(|l| l.starts_with("profinfer-") || l.starts_with("host-analyzer")) {
            let name = line.split(['.', ' ', '=']).next().unwrap();
            assert!(may.contains(&name), "{folder} depends on {name}");
        }
    }
}

/// The reader of sources finds what it has to.
#[test]
fn found_in_samples() {
    let found = |source: &str, depth| used(source, "views", depth).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(found("use crate::model::Model; fn f() { crate::ingest::x() }", 1), "ingest model");
    assert_eq!(
        found("use crate::{analyses::{a, b}, decode::Found as F, model};", 1),
        "analyses decode model"
    );
    assert_eq!(found("use super::super::ingest; use super::other;", 1), "ingest");
    assert_eq!(found("use super::super::{decode, views}; use crate::views::x;", 1), "decode");
    assert_eq!(found("use super::super::sibling;", 2), "");
    assert_eq!(
        found("use profinfer_wire::record; let s = \"crate::decode // \\\" \"; // crate::decode", 1),
        "profinfer_wire"
    );
    assert_eq!(
        found("use std::{io, fs::File}; std::net::x(); self.fs; thread.fs(); println!(\"\")", 1),
        "fs net println"
    );
    assert_eq!(found("clap::Parser; x.nix; r#\"crate::decode\"#; '\"'; super::thread::threads()", 1), "clap");
}
