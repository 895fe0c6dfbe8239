//! The experts that routers chose, compared with the IDs that the engine itself shows: its callback
//! requests the product that uses them and reads their tensor (`nodes --experts`). The recorded run
//! is another one, which computes its graphs in one piece; both decode the same tokens.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use profinfer_analysis::Analysis;
use profinfer_analysis::expert::{ByLayer, by_layer};
use profinfer_trace::model::{Layer, Model};

use crate::nodes::topology;
use crate::support::{Parts, engine, model, parts, record};

/// Experts by decode call, name of the ids' tensor, and token.
pub(crate) type Chosen = BTreeMap<(usize, String, u32), Vec<u32>>;

/// Parses the output of `nodes --experts`.
pub(crate) fn parse(text: &str) -> Chosen {
    let mut all = Chosen::new();
    for line in text.lines() {
        let mut f = line.split('\t');
        if f.next() == Some("experts") {
            let call = f.next().unwrap().parse().unwrap();
            let name = f.next().unwrap().to_owned();
            let token = f.next().unwrap().parse().unwrap();
            let old = all.insert((call, name, token), f.map(|id| id.parse().unwrap()).collect());
            assert!(old.is_none(), "told once: {line}");
        }
    }
    all
}

/// The same from a recording.
pub(crate) fn of_trace(trace: &Model) -> Chosen {
    let (mut all, e) = (Chosen::new(), &trace.experts);
    for i in 0..e.len() {
        let graph = e.graph_call[i];
        assert_eq!(trace.graph_calls.layer[graph.0 as usize], Layer::Backend);
        let call = trace.graph_calls.decode[graph.0 as usize].expect("in a decode call").0 as usize;
        let topology = topology(trace, graph);
        let is_ids = |n| trace.texts.get(topology.node(n).dtype) == "i32";
        let ids =
            topology.node(e.node[i]).src.iter().map(|(_, n)| *n).find(|n| is_ids(*n)).expect("it reads ids");
        let name = trace.texts.get(topology.node(ids).name).to_owned();
        let row = all.entry((call, name, e.token[i])).or_default();
        assert_eq!(row.len(), e.rank[i] as usize, "ranks in order, none twice and none left out");
        row.push(e.expert[i]);
    }
    all
}

fn listed(bin: &Path, options: &[&str]) -> Chosen {
    let output = Command::new(bin.join("nodes")).args(options).arg("--experts").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Records a run and compares. Returns the number of experts per token of each selection.
fn check(parts: &Parts, bin: &Path, gguf: &str, prompt: &str) -> usize {
    let options = ["-m", gguf, "-t", "2", "-p", prompt, "-n", "3", "-c", "512"];
    let engines = listed(bin, &options);
    let nodes = bin.join("nodes");
    let command: Vec<&str> = std::iter::once(nodes.to_str().unwrap()).chain(options).collect();
    let (trace, _) = record(parts, &[], &command);
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    let ours = of_trace(&trace);
    assert_eq!(ours.len(), engines.len(), "selections, one a layer and token");
    for (key, experts) in &engines {
        assert_eq!(ours.get(key), Some(experts), "{key:?}");
    }
    let total: usize = engines.values().map(Vec::len).sum();
    let ledger = trace.health.experts.as_ref().expect("the agent counted them");
    assert_eq!((ledger.chosen, ledger.sent, trace.experts.missing), (total as u64, total as u64, 0));
    assert!(engines.keys().any(|(call, ..)| *call == 3), "decode as well as prefill");
    let uses = by_layer(&Analysis::compute(&trace).expert).expect("one model");
    assert_eq!(to_the_last(uses), by_name(&engines), "the profile to pin by");
    engines.values().next().unwrap().len()
}

/// Uses by the number in the name of the ids' tensor (`ffn_moe_topk-3`) and by expert.
fn by_name(chosen: &Chosen) -> ByLayer {
    let mut all = ByLayer::new();
    for ((_, name, _), experts) in chosen {
        let number: String = name.chars().filter(char::is_ascii_digit).collect();
        let uses = all.entry(number.parse().expect("a layer")).or_default();
        for expert in experts.iter().map(|e| *e as usize) {
            uses.resize(uses.len().max(expert + 1), 0);
            uses[expert] += 1;
        }
    }
    all
}

/// Without the experts after the last used one.
fn to_the_last(uses: ByLayer) -> ByLayer {
    let cut = |uses: Vec<u64>| uses[..uses.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1)].to_vec();
    uses.into_iter().map(|(layer, uses)| (layer, cut(uses))).collect()
}

fn on(variable: &str, name: &str, n_used: usize) {
    let (Some(parts), Some(bin)) = (parts(), engine(variable)) else { return };
    assert_eq!(check(&parts, &bin, &model(&parts, name), "5"), n_used);
}

#[test]
fn newest_60_experts() {
    on("PROFINFER_ENGINE_DIR", "moe-qwen60", 4);
}

#[test]
fn newest_8_experts() {
    on("PROFINFER_ENGINE_DIR", "moe-mixtral8", 2);
}

#[test]
fn b4600_60_experts() {
    on("PROFINFER_MID_ENGINE_DIR", "moe-qwen60", 4);
}

#[test]
fn b4600_8_experts() {
    on("PROFINFER_MID_ENGINE_DIR", "moe-mixtral8", 2);
}

#[test]
fn b3889_60_experts() {
    on("PROFINFER_OLD_ENGINE_DIR", "moe-qwen60", 4);
}

#[test]
fn b3889_8_experts() {
    on("PROFINFER_OLD_ENGINE_DIR", "moe-mixtral8", 2);
}

/// A prompt whose selection is sent in many records, and seven experts per token, so that records
/// end within rows.
#[test]
fn a_long_prompt_with_seven_experts_a_token() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let dir = tempfile::tempdir().unwrap();
    let gguf = with_used_experts(&parts.models.join("moe-qwen60.gguf"), dir.path(), 7);
    assert_eq!(check(&parts, &bin, gguf.to_str().unwrap(), "300"), 7);
}

/// A copy of the model that declares `n` experts per token. In GGUF, the type of the value (here 4
/// for u32) and the value follow the key.
fn with_used_experts(gguf: &Path, dir: &Path, n: u32) -> PathBuf {
    const KEY: &[u8] = b"qwen2moe.expert_used_count";
    let mut bytes = fs::read(gguf).unwrap();
    let at = bytes.windows(KEY.len()).position(|w| w == KEY).unwrap() + KEY.len();
    assert_eq!(bytes[at..at + 8], [4, 0, 0, 0, 4, 0, 0, 0]);
    bytes[at + 4..at + 8].copy_from_slice(&n.to_le_bytes());
    let copy = dir.join("used.gguf");
    fs::write(&copy, bytes).unwrap();
    copy
}

/// Without the level, nothing is read. A dense model has no experts.
#[test]
fn levels_and_dense_models() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let nodes = bin.join("nodes");
    for (name, levels) in [("moe-qwen60", "token,graph,op"), ("dense-q8", "all")] {
        let gguf = model(&parts, name);
        let command = [nodes.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "5", "-n", "1"];
        let (trace, _) = record(&parts, &["--levels", levels], &command);
        assert!(trace.health.perfect() && !trace.spans.is_empty(), "{:#?}", trace.health);
        assert!(trace.experts.is_empty() && trace.health.experts.is_none(), "{name} at {levels}");
    }
}
