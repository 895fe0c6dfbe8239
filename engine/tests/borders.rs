//! The borders between the layers, checked in the sources: a folder uses only those above it, files
//! have no import cycle, and nothing uses the outside.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders. Each is below those that it may use.
const LAYERS: [&str; 7] = ["file", "code", "symbols", "facts", "probes", "direct", "plan"];

/// Bytes come from the caller. A group of `std` would hide what is used.
const OUTSIDE: [&str; 8] =
    ["std::fs", "std::net", "std::env", "std::process", "std::thread", "std::{", "println!", "unsafe "];

/// Path of a module from the crate's root.
type Module = Vec<String>;

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a folder").map(|e| e.expect("readable").path());
    let nested = entries.flat_map(|p| if p.is_dir() { sources(&p) } else { vec![p] });
    nested.filter(|p| p.extension().is_some_and(|e| e == "rs")).collect()
}

/// Every module with a separate file, with its source without comments and tests. `lib.rs` and
/// `mod.rs` are left out.
fn modules() -> BTreeMap<Module, String> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src");
    let mut all = BTreeMap::new();
    for file in sources(&root) {
        let source = code(&fs::read_to_string(&file).expect("readable"));
        if file.ends_with("mod.rs") || file.ends_with("lib.rs") {
            assert!(!source.contains("fn "), "{} holds more than names of modules", file.display());
            continue;
        }
        let inside = file.strip_prefix(&root).expect("inside").with_extension("");
        let module: Module = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        all.insert(module, source);
    }
    assert!(all.len() > LAYERS.len(), "{all:?}");
    all
}

/// A source without its comments, and without the tests at its end.
fn code(source: &str) -> String {
    let end = ["#[cfg(test)]", "#[cfg(all(test"].iter().filter_map(|t| source.find(t)).min();
    let lines = source[..end.unwrap_or(source.len())].lines();
    lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// All paths in a source that begin at the crate or above the module, from the root.
fn paths(source: &str, module: &[String]) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    for (word, above) in [("crate::", module.len()), ("super::", 1)] {
        for (at, _) in source.match_indices(word) {
            let begins = source[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
            if begins && !source[..at].ends_with("super::") {
                let (mut rest, mut base) = (&source[at + word.len()..], module.len() - above);
                while let Some(further) = rest.strip_prefix("super::") {
                    (rest, base) = (further, base - 1);
                }
                tree(rest, &module[..base], &mut found);
            }
        }
    }
    found
}

/// Adds the paths of `a::b` or `a::{b, c::d}` after `base`; returns their length.
fn tree(text: &str, base: &[String], found: &mut BTreeSet<Module>) -> usize {
    if let Some(inside) = text.strip_prefix('{') {
        let mut at = 0;
        while !inside[at..].starts_with('}') {
            at += tree(&inside[at..], base, found);
            let separators = |c: char| c.is_whitespace() || c == ',';
            at += inside[at..].find(|c| !separators(c)).expect("a closing brace");
        }
        return at + 2;
    }
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '*';
    let start = text.find(word).expect("a name");
    let end = start + text[start..].find(|c| !word(c)).unwrap_or(text.len() - start);
    let path = [base, &[text[start..end].to_owned()]].concat();
    if let Some(rest) = text[end..].strip_prefix("::") {
        return end + 2 + tree(rest, &path, found);
    }
    found.insert(path);
    end
}

/// For every module, those that it uses.
fn uses(modules: &BTreeMap<Module, String>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let of = |module: &Module, source: &str| {
        let mut used = BTreeSet::new();
        for path in paths(source, module) {
            let prefix = (1..=path.len()).rev().find_map(|n| modules.get_key_value(&path[..n]));
            let (other, _) =
                prefix.unwrap_or_else(|| panic!("{module:?} uses {path:?}, which is in no file"));
            used.insert(other);
        }
        used.remove(module);
        used
    };
    modules.iter().map(|(module, source)| (module, of(module, source))).collect()
}

fn layer(module: &Module) -> usize {
    let folder = LAYERS.iter().position(|layer| *layer == module[0]);
    folder.unwrap_or_else(|| panic!("{module:?} is in none of the layers"))
}

#[test]
fn a_folder_uses_only_those_above_it() {
    let modules = modules();
    let mut wrong = Vec::new();
    for (module, used) in uses(&modules) {
        let below = used.into_iter().filter(|other| layer(other) > layer(module));
        wrong.extend(below.map(|other| format!("{} uses {}", module.join("::"), other.join("::"))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let modules = modules();
    let mut uses = uses(&modules);
    // A module that uses no remaining one, or is used by none, is in no cycle.
    loop {
        let left: BTreeSet<&Module> = uses.keys().copied().collect();
        let used: BTreeSet<&Module> = uses.values().flatten().copied().collect();
        uses.retain(|module, others| used.contains(module) && others.iter().any(|o| left.contains(o)));
        if uses.len() == left.len() {
            break;
        }
    }
    let circle: Vec<_> = uses.keys().map(|m| m.join("::")).collect();
    assert!(circle.is_empty(), "in circles, or between two: {}", circle.join(", "));
}

#[test]
fn nothing_touches_the_outside() {
    for (module, source) in modules() {
        let touched: Vec<_> = OUTSIDE.iter().filter(|outside| source.contains(**outside)).collect();
        assert!(touched.is_empty(), "{}: {touched:?}", module.join("::"));
    }
}

/// The reader of sources finds the paths.
#[test]
fn found_in_samples() {
    let module = ["plan", "describe", "way"].map(str::to_owned);
    let found = |source: &str| {
        let paths = paths(&code(source), &module).into_iter();
        paths.map(|p| p.join("::")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("use crate::file::elf::{self, Image};"), "file::elf::Image file::elf::self");
    assert_eq!(
        found("use super::{found::{kind, note},\n    layout,\n};"),
        "plan::describe::found::kind plan::describe::found::note plan::describe::layout"
    );
    assert_eq!(found("use super::super::types::Role;"), "plan::types::Role");
    assert_eq!(found("let x = crate::code::decode::effect(i); // crate::a::b"), "code::decode::effect");
    assert_eq!(found("my_crate::x; fn f() {} #[cfg(test)] mod tests { use super::*; }"), "");
}
