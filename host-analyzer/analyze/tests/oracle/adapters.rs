//! An adapter that comes or goes changes the engine's graphs, whose memory it then allocates anew in the next
//! call. The oracle is the engine's own log, which names each graph.
//!
//! `ci/archs.sh` makes the model and its adapter and names their folder in PROFINFER_ARCHS_DIR.

use std::path::PathBuf;

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::StepKind;
use profinfer_trace::model::HousekeepingKind;

use crate::serve::Server;
use crate::support::{parts, tool};

#[test]
#[ignore = "ci/archs.sh runs it"]
fn each_change_allocates_the_graphs_that_the_engine_names() {
    let (Some(parts), Some(program)) = (parts(), tool("llama-server")) else { return };
    let archs = PathBuf::from(std::env::var_os("PROFINFER_ARCHS_DIR").unwrap());
    let [model, adapter] = ["lora.gguf", "lora.lora.gguf"].map(|name| archs.join(name).display().to_string());
    let options = ["-m", &model, "--lora", &adapter, "-t", "2", "-np", "1", "-c", "1024", "-lv", "5"];
    let server = Server::traced(&parts, &program, &options, &["--levels", "token,graph,op"]);
    // Each request has another scale than the one before. Not counted: the first, before which the engine may
    // have changed anything.
    for (seed, scale) in (1..).zip([1.0, 0.0, 0.5, 0.0, 1.0]) {
        let prompt: Vec<u32> = (0..20).map(|i| 300 + (seed * 37 + i) % 200).collect();
        let lora = serde_json::json!([{ "id": 0, "scale": scale }]);
        let body = serde_json::json!({
            "prompt": prompt, "n_predict": 6, "ignore_eos": true, "cache_prompt": false, "temperature": 0, "lora": lora,
        });
        server.address.post("/completion", &body);
    }
    let (trace, log) = server.stop_with_log();
    let serving = log.rsplit_once("listening on http:").unwrap_or_else(|| panic!("{log}")).1;
    let said = serving.lines().filter(|line| line.contains("reserving a graph for ubatch")).count();
    assert!(said >= 4, "{serving}");
    let calls = &trace.llama_calls;
    let in_a_call = |at: &u64| {
        let call = calls.start_ns.iter().zip(&calls.duration_ns);
        call.clone().skip(1).any(|(start, length)| (*start..start + length).contains(at))
    };
    let seen = trace.housekeeping.iter().filter(|h| h.kind == HousekeepingKind::AllocateGraph);
    let seen: Vec<_> = seen.filter(|h| in_a_call(&h.start_ns)).collect();
    let ns: u64 = seen.iter().map(|h| h.duration_ns).sum();
    println!("{} allocations, {said} by the engine's log, {:.2} ms", seen.len(), ns as f64 / 1e6);
    assert_eq!(seen.len(), said);
    let steps = Analysis::compute(&trace).ladder.rows.into_iter().flat_map(|ladder| ladder.steps);
    let step: i64 = steps.filter(|s| s.kind == StepKind::Allocation).map(|s| s.ns).sum();
    assert!(step > 0, "no ladder shows the time");
}
