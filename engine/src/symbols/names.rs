//! Symbols by name and by address.
//!
//! Some programs have GGML with a prefix, so that two copies can be in one process (`lm_ggml_…` in
//! llama.rn, `wsp_ggml_…` in whisper.rn). Lookups here use GGML's own name.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::file::elf::{Image, Symbol};

const PREFIXES: [&str; 2] = ["lm_", "wsp_"];

/// Functions that never return: code after their call is not reached from it.
pub(crate) const NEVER_RETURN: [&str; 8] = [
    "abort",
    "exit",
    "__stack_chk_fail",
    "__assert_fail",
    "__cxa_throw",
    "_Unwind_Resume",
    "_ZSt9terminatev",
    "ggml_abort",
];

/// A function of a backend other than the CPU that is probed wherever an engine's files have it.
/// The backend profiles list them, and the caller passes the list in; a function's index in it is
/// its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendFunction {
    /// Symbol, mangled where it is C++.
    pub symbol: String,
    /// Name of the backend, for people.
    pub backend: String,
    /// A call is one complete operator of a scheduler split of the backend; otherwise it works
    /// inside operators.
    pub whole: bool,
}

/// Identifies a function that its file does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clue {
    /// It is the only function that refers to all of these texts.
    Texts(&'static [&'static str]),
    /// It is called before this text, which its caller prints on failure.
    CalledBefore(&'static str),
    /// It is called with this text.
    CalledWith(&'static str),
    /// It is called before the switch over the operator in the function at this address.
    BeforeSwitch(u64),
    /// It is called without the one before the switch, and returns to the place where all operators
    /// meet.
    InsteadOfSwitch,
}

/// The kind of a [`Clue`], for a level's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Its own texts.
    Messages,
    /// Its caller's texts.
    CallersMessages,
    /// The place of its call.
    Position,
}

impl Clue {
    /// Its kind.
    #[must_use]
    pub const fn by(self) -> By {
        match self {
            Self::Texts(_) | Self::CalledWith(_) => By::Messages,
            Self::CalledBefore(_) => By::CallersMessages,
            Self::BeforeSwitch(_) | Self::InsteadOfSwitch => By::Position,
        }
    }
}

/// A function that the file does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recovered {
    pub(crate) symbol: Symbol<'static>,
    pub(crate) clue: Clue,
}

/// The name without a vendor's prefix.
pub(crate) fn plain(name: &str) -> &str {
    let own = |rest: &&str| rest.starts_with("ggml_") || rest.starts_with("llama_");
    PREFIXES.iter().find_map(|p| name.strip_prefix(p).filter(own)).unwrap_or(name)
}

/// A name without the prefixes that some programs add to GGML's names; in a mangled one, its length
/// precedes every name.
fn unprefixed(name: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(plain(name));
    for prefix in PREFIXES {
        let ours = format!("{prefix}ggml_");
        while let Some(at) = plain.find(&ours).filter(|_| plain.starts_with("_Z")) {
            let digits = plain[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
            let Ok(length) = plain[at - digits..at].parse::<usize>() else { break };
            let rest = &plain[at + prefix.len()..];
            let shorter = length.saturating_sub(prefix.len());
            plain = Cow::Owned(format!("{}{shorter}{rest}", &plain[..at - digits]));
        }
    }
    plain
}

/// The slot of the backend function with this name in a file, with or without a vendor's prefix.
fn slot(backends: &[BackendFunction], name: &str) -> Option<usize> {
    let plain = unprefixed(name);
    backends.iter().position(|f| f.symbol == plain)
}

/// The symbols that one file defines.
#[derive(Debug)]
pub(crate) struct Names<'d> {
    /// GGML's and llama.cpp's own, by name without prefix.
    own: HashMap<&'d str, Symbol<'d>>,
    /// Functions of other backends, by slot.
    backends: Vec<Option<Symbol<'d>>>,
    /// Functions with names of the engine, and those that never return, by address.
    by_address: Vec<(u64, &'d str)>,
    /// The clues for those that the file does not name.
    recovered: HashMap<&'d str, Clue>,
}

impl<'d> Names<'d> {
    pub(crate) fn read(image: &Image<'d>, functions: &[BackendFunction]) -> Self {
        let (mut own, mut by_address) = (HashMap::new(), Vec::new());
        let mut backends = vec![None; functions.len()];
        for symbol in image.symbols() {
            let slot = slot(functions, symbol.name);
            // Of 85,000 names in one file, half are other people's; on a board they would be
            // megabytes.
            let relevant = ["ggml", "llama", "LLAMA"].iter().any(|own| symbol.name.contains(own))
                || NEVER_RETURN.contains(&symbol.name)
                || slot.is_some();
            if !relevant {
                continue;
            }
            if image.is_code(symbol.address) {
                by_address.push((symbol.address, symbol.name));
            }
            let plain = plain(symbol.name);
            // Exported ones come first and stay.
            if let Some(slot) = slot {
                backends[slot].get_or_insert(symbol);
            } else if ["ggml_", "llama_", "LLAMA_"].iter().any(|own| plain.starts_with(own)) {
                own.entry(plain).or_insert(symbol);
            }
        }
        by_address.sort_unstable();
        by_address.dedup();
        Self { own, backends, by_address, recovered: HashMap::new() }
    }

    /// Adds a function that the file does not name.
    pub(crate) fn add(&mut self, found: Recovered) {
        let symbol = found.symbol;
        self.own.insert(symbol.name, symbol);
        let at = self.by_address.partition_point(|(address, _)| *address < symbol.address);
        self.by_address.insert(at, (symbol.address, symbol.name));
        self.recovered.insert(symbol.name, found.clue);
    }

    /// The function's clue, if the file does not name it.
    pub(crate) fn clue(&self, name: &str) -> Option<Clue> {
        self.recovered.get(name).copied()
    }

    /// The symbol of GGML or llama.cpp with this name, with or without a vendor's prefix.
    pub(crate) fn get(&self, name: &str) -> Option<Symbol<'d>> {
        self.own.get(name).copied()
    }

    /// The functions of other backends that the file defines, with their slots.
    pub(crate) fn backends(&self) -> impl Iterator<Item = (usize, Symbol<'d>)> + '_ {
        self.backends.iter().enumerate().filter_map(|(slot, symbol)| Some((slot, (*symbol)?)))
    }

    /// Symbols of GGML and llama.cpp that pass a test on the name without prefix, in order of
    /// address.
    pub(crate) fn matching(&self, test: impl Fn(&str) -> bool) -> Vec<Symbol<'d>> {
        let passing = self.by_address.iter().map(|(_, name)| plain(name)).filter(|name| test(name));
        let mut found: Vec<_> = passing.filter_map(|name| self.get(name)).collect();
        found.dedup_by_key(|s| s.address);
        found
    }

    /// Name of the item at the address.
    pub(crate) fn at(&self, address: u64) -> Option<&'d str> {
        let first = self.by_address.partition_point(|(a, _)| *a < address);
        self.by_address.get(first).filter(|(a, _)| *a == address).map(|(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_prefixes_are_left_out() {
        let opencl = "_Z23ggml_cl_compute_forwardP12ggml_backendP11ggml_tensor";
        let function =
            |symbol: &str| BackendFunction { symbol: symbol.into(), backend: String::new(), whole: true };
        let functions = [opencl, "ggml_cl_mul_mat", "rknn_matmul_run"].map(function);
        let slot = |name| slot(&functions, name);
        assert_eq!(slot(opencl), Some(0));
        assert_eq!(slot("_Z26lm_ggml_cl_compute_forwardP15lm_ggml_backendP14lm_ggml_tensor"), Some(0));
        assert_eq!(slot("lm_ggml_cl_mul_mat"), Some(1));
        assert_eq!(slot("rknn_matmul_run"), Some(2));
        assert_eq!(slot("ggml_cl_mul_mat_f32"), None);
        assert_eq!(slot("_Zlm_ggml_"), None);
    }
}
