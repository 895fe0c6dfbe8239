//! No import cycles between the files of a crate, checked in the sources of all crates.
//!
//! A file that uses its parent module is not a cycle: every Rust module may. Every other path back
//! to the start is one, because a reader then has to switch between the files to follow one event.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// Crates of the workspace with more than two files.
const CRATES: [&str; 9] = [
    "wire",
    "secure",
    "engine",
    "boards",
    "agent-static",
    "host-analyzer/trace",
    "host-analyzer/analysis",
    "host-analyzer/views",
    "host-analyzer/analyze",
];

/// Files that may use each other, with the reason.
const ALLOWED: [(&str, &[&str], &str); 0] = [];

/// Path of a module, from the crate root.
type Module = Vec<String>;

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are `a::b`; `lib.rs` and `main.rs` are the root.
fn module_of(relative: &Path) -> Module {
    let mut parts: Module =
        relative.with_extension("").iter().map(|p| p.to_str().unwrap().to_owned()).collect();
    if ["mod", "lib", "main"].contains(&parts.last().unwrap().as_str()) {
        parts.pop();
    }
    parts
}

/// Collects the modules of the same crate that a file names.
struct Uses<'a> {
    /// The current module, modules within the file included.
    here: Module,
    modules: &'a BTreeSet<Module>,
    found: BTreeSet<Module>,
}

impl Uses<'_> {
    /// Adds the longest prefix of the path that is a module with a separate file.
    fn path(&mut self, segments: &[String]) {
        let mut at = match segments.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.here.clone(),
            // A module within this file, or something of another crate.
            Some(_) => [&self.here[..], &segments[..1]].concat(),
            None => return,
        };
        let mut rest = &segments[1..];
        if segments[0] == "super" {
            at.pop();
        }
        while rest.first().is_some_and(|s| s == "super") {
            at.pop();
            rest = &rest[1..];
        }
        if !self.modules.contains(&at) {
            return;
        }
        for segment in rest {
            at.push(segment.clone());
            if !self.modules.contains(&at) {
                at.pop();
                break;
            }
        }
        self.found.insert(at);
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(p) => self.tree(&p.tree, &with(&p.ident)),
            syn::UseTree::Name(n) => self.path(&with(&n.ident)),
            syn::UseTree::Rename(r) => self.path(&with(&r.ident)),
            syn::UseTree::Glob(_) => self.path(before),
            syn::UseTree::Group(g) => g.items.iter().for_each(|t| self.tree(t, before)),
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("cfg") && a.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, &[]);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            self.here.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.here.pop();
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if segments.len() > 1 {
            self.path(&segments);
        }
        visit::visit_path(self, path);
    }
}

/// The modules that each module of a crate uses.
fn arrows(crate_dir: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let src = crate_dir.join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let named: Vec<_> = files.iter().map(|f| (f, module_of(f.strip_prefix(&src).unwrap()))).collect();
    let modules: BTreeSet<Module> = named.iter().map(|(_, module)| module.clone()).collect();
    let mut all: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (file, module) in named {
        let parsed = syn::parse_file(&fs::read_to_string(file).unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut uses = Uses { here: module.clone(), modules: &modules, found: BTreeSet::new() };
        uses.visit_file(&parsed);
        // Its parents, and itself by the name of a module within it.
        uses.found.retain(|used| !module.starts_with(used));
        all.entry(module).or_default().extend(uses.found);
    }
    all
}

/// The modules that can be reached from a module.
fn reached(arrows: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&Module> = arrows[from].iter().collect();
    while let Some(module) = next.pop() {
        if seen.insert(module.clone()) {
            next.extend(arrows.get(module).into_iter().flatten());
        }
    }
    seen
}

/// The cycles, each as its modules sorted by name.
fn circles(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<_, _> = arrows.keys().map(|m| (m, reached(arrows, m))).collect();
    let in_circle = |m: &Module| reached[m].contains(m);
    arrows
        .keys()
        .filter(|m| in_circle(m))
        .map(|m| {
            let with = reached.iter().filter(|(o, back)| reached[m].contains(**o) && back.contains(m));
            with.map(|(o, _)| o.join("::")).collect()
        })
        .collect()
}

#[test]
fn files_of_a_crate_use_each_other_in_one_direction() {
    let mut wrong = Vec::new();
    let root = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    for name in CRATES {
        let arrows = arrows(&root.join(name));
        assert!(arrows.values().map(BTreeSet::len).sum::<usize>() > 5, "{name}: hardly a use was found");
        for circle in circles(&arrows) {
            let allowed = ALLOWED.iter().any(|(of, files, _)| *of == name && *files == circle);
            if !allowed {
                wrong.push(format!("{name}: {}", circle.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "files use each other in a circle:\n{}", wrong.join("\n"));
}

/// Tests the test: it finds a cycle of three, and accepts a child that uses its parent.
#[test]
fn a_circle_is_found_and_a_parent_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join("src").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod a; mod b; mod c; pub struct Root; use a::A;");
    write("a.rs", "use crate::{Root, b::B}; pub struct A(B, Root); #[cfg(test)] mod t { use crate::c::C; }");
    write("b/mod.rs", "mod d; pub struct B; fn f() { super::c::g(d::D) }");
    write("b/d.rs", "use super::B; pub struct D(B);");
    write("c.rs", "pub struct C; pub fn g(_: u8) {}");
    assert_eq!(circles(&arrows(dir.path())), BTreeSet::new());
    write("c.rs", "pub struct C(pub crate::a::A); pub fn g(_: u8) {}");
    let found = circles(&arrows(dir.path()));
    assert_eq!(found, BTreeSet::from([vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]]));
}
