//! Log of the Hexagon backend: each operator that the DSP finished, with times of the DSP.
//!
//! Three forms exist. The first two separate their fields by ` : `, the newest by `|`. Each begins
//! with the operator (fused ones joined by `+`); then follow names, dimensions and types of
//! `sources -> result`. The time is in the last field. Rows of complete batches (`OPBATCH`) repeat
//! the same time and are left out.

use super::kept::Kept;
use super::lines::lines;
use super::number::{numbers, time_ns};
use crate::model::{KernelDims, KernelKind, KernelPart, ProfileFormat};

/// Prefix of each row.
pub(super) const MARK: &str = "profile-op ";

pub(super) fn read(bytes: &[u8]) -> Kept {
    let mut kept = Kept::new(ProfileFormat::HexagonLog);
    for line in lines(bytes) {
        kept.lines.read += 1;
        match line.split_once(MARK) {
            None => kept.lines.other += 1,
            Some((_, row)) if row.starts_with("OPBATCH") => kept.lines.other += 1,
            Some((_, row)) => match fields(row) {
                Some((kind, device_ns)) => {
                    let text = format!("{} {} {} {}", kind[0], kind[1], kind[2], kind[3]);
                    kept.add(&text, (1, device_ns), || kernel(&text, kind));
                }
                None => kept.lines.damaged += 1,
            },
        }
    }
    kept
}

/// Operator, names, dimensions and types, and the time on the device in ns.
fn fields(row: &str) -> Option<([&str; 4], u64)> {
    let mut parts: Vec<&str> = match (row.find('|'), row.find(": ")) {
        (Some(bar), colon) if colon.is_none_or(|c| bar < c) => row.split('|').collect(),
        (_, Some(colon)) => [&row[..colon]].into_iter().chain(row[colon + 2..].split(" : ")).collect(),
        _ => return None,
    };
    let mut figures = parts.pop()?.split_whitespace();
    figures.find(|word| matches!(*word, "usec" | "op-usec"))?;
    let device_ns = time_ns(figures.next()?, 1e3)?;
    let [op, names, dims, types, ..] = parts[..] else { return None };
    Some(([op, names, dims, types].map(str::trim), device_ns))
}

fn kernel(text: &str, [ops, names, dims, types]: [&str; 4]) -> Option<KernelKind> {
    let mut ops = ops.split('+').map(str::to_owned);
    let op = ops.next().filter(|op| !op.is_empty())?;
    let (_, tensor) = sides(names);
    let (from, to) = sides(dims);
    let shape =
        |text: &str| numbers::<2>(text, ':').map(|[a, b]| [a, b, 1, 1]).or_else(|| numbers::<4>(text, ':'));
    let sources = from.into_iter().map(|s| (s != "NONE").then(|| shape(s)));
    let sources = sources.map(|s| s.map_or(Some(None), |ne| ne.map(Some))).collect::<Option<Vec<_>>>()?;
    let (from, dtype) = sides(types);
    let part = KernelPart {
        op,
        behind: ops.collect(),
        fusion: String::new(),
        tensor: tensor.to_owned(),
        types: from.into_iter().map(str::to_owned).collect(),
        dtype: dtype.to_owned(),
        dims: KernelDims::Tensors(sources, shape(to)?),
    };
    Some(KernelKind { text: text.to_owned(), kernel: String::new(), parts: vec![part] })
}

/// Sources and result of `a x b -> c`.
fn sides(text: &str) -> (Vec<&str>, &str) {
    match text.rsplit_once(" -> ") {
        Some((from, to)) => (from.split(" x ").collect(), to),
        None => (Vec::new(), text),
    }
}
