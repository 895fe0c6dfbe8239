//! Speeds, compared with the engine's own timings, with the tools that call `llama_process`.

use profinfer_trace::model::DecodeFunction;

use crate::support::{model, parts, record, tool};

/// llama-bench measures its complete run of N tokens; so do our calls.
#[test]
fn tpot_agrees_with_llama_bench() {
    let Some(parts) = parts() else { return };
    let Some(bench) = tool("llama-bench") else { return };
    let gguf = model(&parts, "smollm2");
    let command =
        [bench.to_str().unwrap(), "-m", &gguf, "-t", "1", "-p", "0", "-n", "48", "-r", "1", "-o", "json"];
    let (trace, output) = record(&parts, &[], &command);
    let own: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let engine_ns = own[0]["samples_ns"][0].as_f64().unwrap() / 48.0;
    let d = &trace.llama_calls;
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    assert!(d.function.iter().all(|f| *f == DecodeFunction::LlamaProcess), "the tools of 0.6.0 and later");
    // The warm-up comes first: the measured run is the last 48 calls.
    let first = d.len() - 48;
    assert!(d.n_tokens[first..].iter().all(|n| *n == 1));
    let end = d.start_ns[d.len() - 1] + d.duration_ns[d.len() - 1];
    let ours_ns = (end - d.start_ns[first]) as f64 / 48.0;
    println!("TPOT: {ours_ns:.0} ns traced, {engine_ns:.0} ns by llama-bench");
    assert!((ours_ns / engine_ns - 1.0).abs() < 0.02, "{ours_ns} against {engine_ns}");
}

/// The tool's own report: number of evaluations and their mean time.
#[test]
fn tokens_and_eval_time_agree_with_llama_completion() {
    let Some(parts) = parts() else { return };
    let Some(tool) = tool("llama-completion") else { return };
    let gguf = model(&parts, "smollm2");
    let command = [
        tool.to_str().unwrap(),
        "-m",
        &gguf,
        "-t",
        "1",
        "-n",
        "32",
        "-p",
        "The capital of France is",
        "--temp",
        "0",
        "-no-cnv",
        "--no-warmup",
        "--ignore-eos",
    ];
    let (trace, output) = record(&parts, &[], &command);
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|l| l.contains(" eval time =") && !l.contains("prompt")).expect("timings");
    let numbers: Vec<f64> =
        line.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|w| w.parse().ok()).collect();
    let (total_ms, runs) = (numbers[numbers.len() - 4], numbers[numbers.len() - 3]);
    let d = &trace.llama_calls;
    let llama_calls: Vec<u64> =
        (0..d.len()).filter(|i| d.n_tokens[*i] == 1).map(|i| d.duration_ns[i]).collect();
    assert_eq!(llama_calls.len() as f64, runs, "{line}");
    let ours = llama_calls.iter().sum::<u64>() as f64 / 1e6;
    println!("eval time: {ours:.2} ms traced, {total_ms:.2} ms by the engine");
    assert!((ours / total_ms - 1.0).abs() < 0.02, "{ours} against {total_ms}: {line}");
}
