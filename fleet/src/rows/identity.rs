//! Which recording it is, and which model ran.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::summary::{at, list, text};

/// FNV-1a of 128 bits (Fowler, Noll and Vo; RFC 9923), in hex. It tells recordings apart; it is no protection against someone who wants two to be
/// alike, who could copy the fields as well.
pub(super) fn digest(bytes: &[u8]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

/// Identity of a recording: the session, by the ns at which it began, and how much of its stream there is. Nothing of it depends on which
/// version of `analyze` read it.
pub(super) fn id(summary: &Value) -> String {
    let field = |path: &str| at(summary, path).map(Value::to_string).unwrap_or_default();
    let session = ["agent", "kernel", "machine", "cpu_model", "board", "start_unix_ns"];
    let mut fields: Vec<String> = session.iter().map(|f| field(&format!("session.{f}"))).collect();
    let pid = |p: &Value| at(p, "pid").map(Value::to_string).unwrap_or_default();
    fields.extend(list(summary, "session.processes").iter().map(pid));
    fields.push(field("cost.stream_bytes"));
    digest(fields.join("\n").as_bytes())
}

/// The model's file without its folder and `.gguf`: the one that weights are mapped from, else the one on the command line.
pub(super) fn model_file(summary: &Value) -> Option<String> {
    let buffers = list(summary, "weights").iter().flat_map(|w| list(w, "buffers"));
    let mapped =
        buffers.filter_map(|b| text(b, "path")).filter(|p| p.ends_with(".gguf")).map(|p| stem(&p)).next();
    let commands = || list(summary, "session.processes").iter().filter_map(|p| text(p, "command"));
    mapped.or_else(|| commands().find_map(|c| on_command_line(&c)))
}

fn on_command_line(command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    words.find(|w| matches!(*w, "-m" | "--model")).and_then(|_| words.next()).map(stem)
}

fn stem(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(".gguf").unwrap_or(file).to_owned()
}

/// Digest of name, type and dimensions of every matrix of weights that an operator reads: two files that are alike in these are the same work.
/// Vectors do not count, as a build that fuses norms shows them no more. Nothing where operators were not captured, or only some.
pub(super) fn weights_hash(summary: &Value) -> Option<String> {
    if !list(summary, "capture.filters").is_empty() {
        return None;
    }
    let sources = list(summary, "operators").iter().flat_map(|o| list(o, "src"));
    let matrix = |s: &&Value| list(s, "ne").get(1).and_then(Value::as_i64).is_some_and(|rows| rows > 1);
    let weights = sources.filter(|s| text(s, "role").as_deref() == Some("weight")).filter(matrix);
    let census: BTreeSet<String> = weights
        .map(|w| {
            let ne = at(w, "ne").map(Value::to_string).unwrap_or_default();
            format!("{} {} {ne}", text(w, "name").unwrap_or_default(), text(w, "dtype").unwrap_or_default())
        })
        .collect();
    (!census.is_empty()).then(|| digest(census.into_iter().collect::<Vec<_>>().join("\n").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 9923 for the empty text, "a" and "foobar".
    #[test]
    fn the_digest_is_fnv_1a() {
        assert_eq!(digest(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(digest(b"a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(digest(b"foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }

    #[test]
    fn the_model_is_the_mapped_file_or_the_one_on_the_command_line() {
        let command =
            serde_json::json!({"session": {"processes": [{"command": "llama-bench -t 2 -m /m/a b.gguf"}]}});
        assert_eq!(model_file(&command).as_deref(), Some("a"));
        let mapped =
            serde_json::json!({"weights": [{"buffers": [{"path": null}, {"path": "/x/tiny-q8.gguf"}]}]});
        assert_eq!(model_file(&mapped).as_deref(), Some("tiny-q8"));
        assert_eq!(model_file(&Value::Null), None);
    }
}
