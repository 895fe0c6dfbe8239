//! The names of rows in the Vulkan backend's log.
//!
//! A name is an operator and the backend's details, for example `MUL_MAT_VEC q8_0 m=64 n=1 k=64`.
//! For fused nodes, the name of the fusion precedes the first node's. For nodes that ran at the
//! same time (`GGML_VK_PERF_LOGGER_CONCURRENT`), commas join the names.

use super::number::numbers;
use crate::model::{KernelDims, KernelPart};

/// The operators that a name describes; `None` for text that is not such a name.
pub(super) fn parts(name: &str) -> Option<Vec<KernelPart>> {
    split(name).into_iter().map(part).collect()
}

/// Splits at commas outside of brackets, if an operator's name follows.
fn split(name: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in name.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                if let Some(rest) = name[at..].strip_prefix(", ").filter(|rest| word(rest).is_some()) {
                    parts.push(&name[begin..at]);
                    begin = name.len() - rest.len();
                }
            }
            _ => {}
        }
    }
    parts.push(&name[begin..]);
    parts
}

/// An operator's name, and the rest; `None` for other words.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    let named = word.starts_with(|c: char| c.is_ascii_uppercase());
    (named && (rest.is_empty() || rest.starts_with([' ', '(', ',']))).then_some((word, rest))
}

fn part(text: &str) -> Option<KernelPart> {
    let (first, rest) = word(text)?;
    let (fusion, op, rest) = match rest.strip_prefix(' ').and_then(word) {
        Some((op, rest)) => (first, op, rest),
        None => ("", first, rest),
    };
    let (types, dtype, dims) = details(op, rest.trim_start());
    // Products with few columns have a separate kernel with its own name.
    let op = op.strip_suffix("_VEC").filter(|_| matches!(dims, KernelDims::Product { .. })).unwrap_or(op);
    Some(KernelPart {
        op: op.to_owned(),
        behind: Vec::new(),
        fusion: fusion.to_owned(),
        tensor: String::new(),
        types,
        dtype,
        dims,
    })
}

/// Types of sources, type of the result, and shape, as far as the name has them.
fn details(op: &str, rest: &str) -> (Vec<String>, String, KernelDims) {
    let untold = || (Vec::new(), String::new(), KernelDims::Untold);
    match op {
        "MUL_MAT" | "MUL_MAT_VEC" | "MUL_MAT_ID" | "MUL_MAT_ID_VEC" => {
            product(rest).map_or_else(untold, |(t, dims)| (vec![t], String::new(), dims))
        }
        "RMS_NORM" => match brackets(rest, "") {
            Some(output) => (Vec::new(), String::new(), KernelDims::Output(output)),
            None => untold(),
        },
        "FLASH_ATTN_EXT" => attention(rest).map_or_else(untold, |d| (Vec::new(), String::new(), d)),
        "CPY" | "CONT" | "DUP" => copy(rest).unwrap_or_else(untold),
        _ => untold(),
    }
}

/// `q8_0 m=64 n=1 k=64`, optionally followed by `n_expert=8` and `batch=2`.
fn product(rest: &str) -> Option<(String, KernelDims)> {
    let mut words = rest.split(' ');
    let dtype = words.next()?.to_owned();
    let (mut m, mut n, mut k, mut batch, mut experts) = (None, None, None, 1, None);
    for word in words {
        let (name, value) = word.split_once('=')?;
        let value: u64 = value.parse().ok()?;
        match name {
            "m" => m = Some(value),
            "n" => n = Some(value),
            "k" => k = Some(value),
            "batch" => batch = value,
            "n_expert" => experts = Some(value),
            _ => {}
        }
    }
    Some((dtype, KernelDims::Product { m: m?, n: n?, k: k?, batch, experts }))
}

/// Four numbers in brackets after `name`.
fn brackets(text: &str, name: &str) -> Option<[u64; 4]> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find(&format!("{name}("))?;
        from = at + name.len() + 1;
        // No other name ends in `dst(`; `m(` and `k(` must not be the end of another name.
        if !name.is_empty() && text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
            continue;
        }
        let inside = text[from..].split(')').next()?;
        // Some forks have a fifth dimension.
        return match numbers::<5>(inside, ',') {
            Some([a, b, c, d, e]) if e <= 1 => Some([a, b, c, d]),
            Some(_) => None,
            None => numbers::<4>(inside, ','),
        };
    }
}

fn attention(rest: &str) -> Option<KernelDims> {
    let tensor = |name| brackets(rest, name);
    let sources = [tensor("q")?, tensor("k")?, tensor("v")?].map(Some);
    // Without a mask its dimensions are 0.
    let mask = tensor("m").filter(|ne| *ne != [0; 4]);
    Some(KernelDims::Tensors(sources.into_iter().chain([mask]).collect(), tensor("dst")?))
}

/// `f32->f16 src(64,1,1,1) dst(64,1,1,1) [contig]`.
fn copy(rest: &str) -> Option<(Vec<String>, String, KernelDims)> {
    let (from, to) = rest.split(' ').next()?.split_once("->")?;
    let dims = KernelDims::Tensors(vec![Some(brackets(rest, "src")?)], brackets(rest, "dst")?);
    Some((vec![from.to_owned()], to.to_owned(), dims))
}
