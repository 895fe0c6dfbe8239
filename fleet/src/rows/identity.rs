//! Identity of the recording and of the model.

use std::collections::BTreeSet;

use profinfer_schema::Summary;
use serde_json::Value;

use super::column::text;

/// FNV-1a of 128 bits (Fowler, Noll and Vo; RFC 9923), in hex. It distinguishes recordings. It does
/// not protect against someone who wants two to be equal, and who could copy the fields as well.
pub(super) fn digest(bytes: &[u8]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

/// Identity of a recording: the start of the session in ns, and the size of its stream. It does not
/// depend on the version of `analyze` that reads it.
pub(super) fn id(summary: &Summary) -> String {
    let s = &summary.session;
    let text = |text: &str| Value::from(text).to_string();
    let mut fields: Vec<String> =
        [&s.agent, &s.kernel, &s.machine, &s.cpu_model, &s.board].map(|t| text(t)).to_vec();
    fields.push(s.start_unix_ns.to_string());
    fields.extend(s.processes.iter().map(|p| p.pid.to_string()));
    fields.push(summary.cost.stream_bytes.to_string());
    digest(fields.join("\n").as_bytes())
}

/// The file of the model, without folder and `.gguf`: the file that the weights are mapped from,
/// else the one on the command line.
pub(super) fn model_file(summary: &Summary) -> Option<String> {
    let buffers = summary.weights.iter().flat_map(|w| &w.buffers);
    let paths = buffers.filter_map(|b| text(b.path.as_deref()?));
    let mapped = paths.filter(|p| p.ends_with(".gguf")).map(|p| stem(&p)).next();
    let commands = || summary.session.processes.iter().filter_map(|p| text(&p.command));
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

/// Digest of name, type and dimensions of every weight matrix that an operator reads: two files
/// with equal digests are the same work. Vectors do not count, because a build with fused norms
/// does not show them. Nothing if operators were not captured, or only some.
pub(super) fn weights_hash(summary: &Summary) -> Option<String> {
    if !summary.capture.filters.is_empty() {
        return None;
    }
    let sources = summary.operators.iter().flat_map(|o| &o.src);
    let weights = sources.filter(|s| s.role == "weight" && s.ne[1] > 1);
    let census: BTreeSet<String> = weights
        .map(|w| {
            let name = |t: &str| text(t).unwrap_or_default();
            format!("{} {} [{}]", name(&w.name), name(&w.dtype), w.ne.map(|n| n.to_string()).join(","))
        })
        .collect();
    (!census.is_empty()).then(|| digest(census.into_iter().collect::<Vec<_>>().join("\n").as_bytes()))
}

#[cfg(test)]
mod tests {
    use profinfer_schema::{Process, WeightBuffer, Weights};

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
        let mut summary = Summary::default();
        assert_eq!(model_file(&summary), None);
        let command = "llama-bench -t 2 -m /m/a b.gguf".to_owned();
        summary.session.processes.push(Process { command, ..Process::default() });
        assert_eq!(model_file(&summary).as_deref(), Some("a"));
        let paths = [None, Some("/x/tiny-q8.gguf".to_owned())];
        let buffers = paths.map(|path| WeightBuffer { path, ..WeightBuffer::default() }).into();
        summary.weights.push(Weights { buffers, ..Weights::default() });
        assert_eq!(model_file(&summary).as_deref(), Some("tiny-q8"));
    }
}
