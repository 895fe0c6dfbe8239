//! Symbols by name and by address.
//!
//! Some programs carry GGML under a prefix, so that two copies can live in one process (`lm_ggml_…` in
//! llama.rn, `wsp_ggml_…` in whisper.rn). Lookups here are by GGML's own name.

use std::collections::HashMap;

use super::backend_function;
use super::elf::{Image, Symbol};
use super::messages::Found;
use super::paths::NEVER_RETURN;

pub(super) const PREFIXES: [&str; 2] = ["lm_", "wsp_"];

/// The name without a vendor's prefix.
pub(crate) fn plain(name: &str) -> &str {
    let own = |rest: &&str| rest.starts_with("ggml_") || rest.starts_with("llama_");
    PREFIXES.iter().find_map(|p| name.strip_prefix(p).filter(own)).unwrap_or(name)
}

/// The symbols that one file defines.
#[derive(Debug)]
pub(crate) struct Names<'d> {
    /// GGML's and llama.cpp's own, by name without prefix.
    own: HashMap<&'d str, Symbol<'d>>,
    /// Functions whose names say that they belong to them, and those that never return, by address.
    by_address: Vec<(u64, &'d str)>,
    /// How those were found that the file does not name.
    unnamed: HashMap<&'d str, Found>,
}

impl<'d> Names<'d> {
    pub(crate) fn read(image: &Image<'d>) -> Self {
        let mut own = HashMap::new();
        let mut by_address = Vec::new();
        // Of 85,000 names in one file, half are other people's; on a board they would be megabytes.
        let relevant = |name: &str| {
            ["ggml", "llama", "LLAMA"].iter().any(|own| name.contains(own))
                || NEVER_RETURN.contains(&name)
                || backend_function::known(name).is_some()
        };
        for symbol in image.symbols().filter(|s| relevant(s.name)) {
            if image.is_code(symbol.address) {
                by_address.push((symbol.address, symbol.name));
            }
            let plain = plain(symbol.name);
            if let Some(known) = backend_function::known(symbol.name) {
                own.entry(known).or_insert(symbol);
            } else if ["ggml_", "llama_", "LLAMA_"].iter().any(|own| plain.starts_with(own)) {
                // Exported ones come first and stay.
                own.entry(plain).or_insert(symbol);
            }
        }
        by_address.sort_unstable();
        by_address.dedup();
        Self { own, by_address, unnamed: HashMap::new() }
    }

    /// Adds a function that the file does not name.
    pub(crate) fn add(&mut self, found: Found) {
        let symbol = found.symbol;
        self.own.insert(symbol.name, symbol);
        let at = self.by_address.partition_point(|(address, _)| *address < symbol.address);
        self.by_address.insert(at, (symbol.address, symbol.name));
        self.unnamed.insert(symbol.name, found);
    }

    /// How the function was found, if the file does not name it.
    pub(crate) fn unnamed(&self, name: &str) -> Option<&Found> {
        self.unnamed.get(name)
    }

    /// The symbol of GGML or llama.cpp with this name, with or without a vendor's prefix.
    pub(crate) fn get(&self, name: &str) -> Option<Symbol<'d>> {
        self.own.get(name).copied()
    }

    /// Symbols of GGML and llama.cpp that pass a test on the name without prefix, in order of address.
    pub(crate) fn matching(&self, test: impl Fn(&str) -> bool) -> Vec<Symbol<'d>> {
        let passing = self.by_address.iter().map(|(_, name)| plain(name)).filter(|name| test(name));
        let mut found: Vec<_> = passing.filter_map(|name| self.get(name)).collect();
        found.dedup_by_key(|s| s.address);
        found
    }

    /// Name of what is at the address.
    pub(crate) fn at(&self, address: u64) -> Option<&'d str> {
        let first = self.by_address.partition_point(|(a, _)| *a < address);
        self.by_address.get(first).filter(|(a, _)| *a == address).map(|(_, name)| *name)
    }
}
