//! Data that never leaves the board: a real engine gets a prompt, secrets and weights, everything
//! is recorded, and no part of them is anywhere in the stream.

use std::collections::HashSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use profinfer_trace::decode::{Decoder, Found};
use profinfer_wire::hello::HELLO_LEN;

use crate::support::{Parts, engine, model, parts, read, tool};

/// Words that no program contains.
const PROMPT: &str = "Zwolfkampf Quarzsandstein Mondfinsternis Kaffeekannendeckel tell me";
const SECRETS: [&str; 5] =
    ["hf-geheim-4711", "key-geheim-4712", "var-geheim-4713", "arg-geheim-4714", "my-geheim-4715"];
/// Length of a part of weights or text. This many bytes are not equal by chance.
const PIECE: usize = 16;

/// All content of a recording: the bytes of the file, the payload of each frame, and each record as
/// text.
struct Said {
    raw: Vec<u8>,
    payloads: Vec<Vec<u8>>,
    records: String,
}

impl Said {
    fn new(raw: Vec<u8>) -> Self {
        let mut records = String::new();
        let mut sink = |found: Found<'_>| match found {
            Found::Record { record, .. } => records.push_str(&format!("{record:?}\n")),
            Found::Hello(_) => {}
            other => panic!("{other:?}"),
        };
        let mut decoder = Decoder::new();
        decoder.feed(&raw, &mut sink).unwrap();
        decoder.finish(&mut sink).unwrap();
        let payloads = raw[HELLO_LEN..].split(|b| *b == 0).map(uncobs).collect();
        Self { raw, payloads, records }
    }

    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let all = [self.raw.as_slice(), self.records.as_bytes()];
        all.into_iter().chain(self.payloads.iter().map(Vec::as_slice))
    }

    fn says(&self, text: &str) -> bool {
        self.pieces().any(|bytes| String::from_utf8_lossy(bytes).contains(text))
    }

    /// The first of these parts that is found.
    fn says_any(&self, of: &HashSet<[u8; PIECE]>) -> Option<[u8; PIECE]> {
        // Tests are not optimised: two bytes exclude most places.
        let two = |w: &[u8]| usize::from(w[0]) << 8 | usize::from(w[1]);
        let mut begins = vec![false; 1 << 16];
        of.iter().for_each(|piece| begins[two(piece)] = true);
        let mut windows = self.pieces().flat_map(|bytes| bytes.windows(PIECE)).filter(|w| begins[two(w)]);
        windows.find_map(|w| of.get(w).copied())
    }
}

/// Bytes of a frame. COBS puts a length before each run without zeros.
fn uncobs(mut frame: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some((code, rest)) = frame.split_first() {
        let run = usize::from(*code).saturating_sub(1).min(rest.len());
        bytes.extend_from_slice(&rest[..run]);
        if *code < 0xff {
            bytes.push(0);
        }
        frame = &rest[run..];
    }
    bytes
}

/// Parts of a file, one every `step` bytes, without those with few different values, which occur
/// anywhere.
fn pieces(bytes: &[u8], step: usize) -> HashSet<[u8; PIECE]> {
    let pieces = bytes.chunks(step).filter_map(|c| c.first_chunk::<PIECE>().copied());
    pieces.filter(|p| p.iter().collect::<HashSet<_>>().len() >= 10).collect()
}

/// Ends it with the test.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Records everything of an engine. Returns the recording and the engine's own output.
fn recorded(parts: &Parts, command: &[&str]) -> (Said, String) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    // Another process also wants CPUs, so that the recording names it.
    let shell = format!("while :; do :; done; echo {}", SECRETS[4]);
    let _others: Vec<Other> = (0..2)
        .map(|_| Other(Command::new("sh").args(["-c", &shell, "sh", SECRETS[4]]).spawn().unwrap()))
        .collect();
    let output = Command::new(&parts.agent)
        .args(["record", "--full", "--levels", "all", "--out", out.to_str().unwrap(), "--"])
        .args(command)
        .envs([("LLAMA_API_KEY", SECRETS[1]), ("MY_SECRET", SECRETS[2]), ("LLAMA_ARG_HF_TOKEN", SECRETS[0])])
        .env("GGML_PROMPT", PROMPT)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(read(&out).health.spans_received > 100);
    (Said::new(fs::read(&out).unwrap()), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn no_prompt_no_answer_no_secret() {
    let Some(parts) = parts() else { return };
    let Some(completion) = tool("llama-completion") else { return };
    let gguf = model(&parts, "smollm2");
    let command = [completion.to_str().unwrap(), "-m", &gguf, "-p", PROMPT, "-n", "24", "-no-cnv", "-t", "2"];
    let (said, answer) =
        recorded(&parts, &[&command[..], &["--hf-token", SECRETS[3], "--ignore-eos"]].concat());
    // The search finds what is there: names of tensors and operators, the option without its text,
    // the process that used the CPUs.
    for there in ["blk.0.attn_q.weight", "MUL_MAT", "--hf-token <hidden>", "command: \"sh\"", "ffn_out-0"] {
        assert!(said.says(there), "{there}");
    }
    for word in PROMPT.split(' ').filter(|w| w.len() > 8) {
        assert!(answer.contains(word), "the engine repeats its prompt: {answer}");
        assert!(!said.says(word), "{word}");
    }
    for secret in SECRETS {
        assert!(!said.says(secret), "{secret}");
    }
    let answered: HashSet<[u8; PIECE]> =
        answer.as_bytes().windows(PIECE).filter_map(|w| w.try_into().ok()).collect();
    assert!(answered.len() > PROMPT.len(), "{answer}");
    assert_eq!(said.says_any(&answered).map(|p| String::from_utf8_lossy(&p).into_owned()), None);
    // The search would find them.
    let mut planted = said;
    planted.payloads[7].extend_from_slice(&answer.as_bytes()[..40]);
    assert!(planted.says_any(&answered).is_some() && planted.says("Zwolfkampf"));
}

#[test]
fn no_weights() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let nodes = bin.join("nodes");
    for name in ["dense-f32", "moe-mixtral8"] {
        let gguf = model(&parts, name);
        let command = [nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "3"];
        let (mut said, _) = recorded(&parts, &command);
        let file = fs::read(&gguf).unwrap();
        // Names of tensors precede them, and are recorded. Any 31 bytes of weights contain a part.
        let weights = pieces(&file[file.len() / 4..], PIECE);
        assert!(weights.len() > 10_000, "{}", weights.len());
        assert_eq!(said.says_any(&weights), None, "{name}");
        let stolen = &file[file.len() / 2..][..64];
        said.payloads.push(stolen.to_vec());
        assert!(said.says_any(&weights).is_some(), "{name}: {stolen:?}");
    }
}

/// If an engine fails, the last lines of its standard error are recorded. `nodes` writes its prompt
/// there; llama-completion writes the wrong argument.
#[test]
fn no_prompt_and_no_secret_in_the_last_lines() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let gguf = model(&parts, "smollm2");
    let cut = dir.path().join("cut.gguf");
    fs::write(&cut, &fs::read(&gguf).unwrap()[..1 << 20]).unwrap();
    let [nodes, completion, cut] = [bin.join("nodes"), bin.join("llama-completion"), cut];
    let [nodes, completion, cut] = [&nodes, &completion, &cut].map(|p| p.to_str().unwrap());
    let diary = format!("/home/{}/diary", SECRETS[2]);
    let echo = format!(
        "echo \"main: error: {PROMPT}: {}\" >&2; echo \"error: {diary}\" >&2; exec {nodes} -m {cut}",
        SECRETS[4]
    );
    let cases: [&[&str]; 4] = [
        &[completion, "-m", cut, "-p", PROMPT, "-no-cnv", "--hf-token", SECRETS[3]],
        &[completion, "-m", &gguf, "-p", PROMPT, SECRETS[3], PROMPT],
        &[completion, "-m", &gguf, "-no-cnv", "-f", &diary],
        &["sh", "-c", &echo],
    ];
    for command in cases {
        let out = dir.path().join("trace.pfi");
        let output = Command::new(&parts.agent)
            .args(["record", "--full", "--out", out.to_str().unwrap(), "--"])
            .args(command)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let wrote = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{command:?}: {wrote}");
        let model = profinfer_trace::read(&fs::read(&out).unwrap()).unwrap();
        let ending = profinfer_analysis::Analysis::compute(&model).ending;
        assert!(!ending.output.is_empty(), "{command:?}: nothing is told of: {wrote}");
        let said = Said::new(fs::read(&out).unwrap());
        // The line is there, with its words hidden.
        assert!(said.says(&ending.output[0]), "{ending:?}");
        for word in PROMPT.split(' ').filter(|w| w.len() > 8).chain(SECRETS).chain([diary.as_str()]) {
            assert!(!said.says(word), "{word}: {ending:?}");
        }
    }
}
