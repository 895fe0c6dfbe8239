//! The clues for functions in files without names, compared with real files that have names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use profinfer_engine::{Image, stripped_functions};
use profinfer_skip::needed_path;

use crate::oracle;
use crate::real::libraries;

/// Functions that were found and have names: file, name. Panics where a name is not the function's.
fn held_against_names(files: &[PathBuf]) -> Vec<(PathBuf, &'static str)> {
    let mut right = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).expect("readable");
        let Ok(image) = Image::parse(&file.display().to_string(), &bytes) else { continue };
        let found = stripped_functions(&image);
        let symbols = if found.is_empty() { BTreeMap::new() } else { oracle::symbols(file) };
        for (name, address) in found {
            // Some files name nothing, some only their exports.
            let Some((known, _)) = symbols.get(name) else { continue };
            assert_eq!(address, *known, "{name} in {}", file.display());
            right.push((file.clone(), name));
        }
    }
    right
}

fn count(right: &[(PathBuf, &str)], name: &str) -> usize {
    right.iter().filter(|(_, found)| *found == name).count()
}

#[test]
fn what_is_found_is_named_so() {
    for variable in ["PROFINFER_ENGINE_DIR", "PROFINFER_MID_ENGINE_DIR", "PROFINFER_OLD_ENGINE_DIR"] {
        let Some(files) = libraries(variable) else { continue };
        let right = held_against_names(&files);
        for name in ["ggml_graph_compute", "llama_decode", "llama_encode", "ggml_backend_tensor_alloc"] {
            assert!(count(&right, name) > 0, "{name} is not found by its messages in {variable}: {right:?}");
        }
    }
}

/// Every build in the cache, which `ci/engines/matrix.sh` fills and names.
#[test]
#[ignore = "ci/engines/matrix.sh runs it"]
fn what_is_found_is_named_so_in_every_build() {
    let Some(cache) = needed_path("PROFINFER_ENGINE_CACHE", "ci/engines/matrix.sh") else { return };
    let mut files = Vec::new();
    for folder in ["engine", "engine-arm64", "board"] {
        collect(&cache.join(folder), 0, &mut files);
    }
    let right = held_against_names(&files);
    let mut table: BTreeMap<&str, usize> = BTreeMap::new();
    right.iter().for_each(|(_, name)| *table.entry(name).or_default() += 1);
    println!("{} files, found and right: {table:?}", files.len());
    assert!(count(&right, "ggml_graph_compute") >= 5, "{table:?}");
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()).filter(|p| !p.is_symlink()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let engine =
            ["libggml", "libllama", "llama-addon", "xllamacpp", "lib"].iter().any(|p| name.starts_with(p));
        if path.is_dir() && depth < 8 {
            collect(&path, depth + 1, files);
        } else if engine && (name.contains(".so") || name.ends_with(".node")) || name == "nodes" {
            files.push(path);
        }
    }
}
