//! The agent's own figures of its overhead, compared with the engine's own clock.

use std::process::Command;

use profinfer_analysis::Analysis;

use crate::support::{engine, model, parts, record};

/// Median duration of the driver's calls with one token, ns, by its own clock.
fn token_ns(output: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(output);
    let mut ns: Vec<u64> = text
        .lines()
        .filter_map(|l| {
            let f: Vec<&str> = l.split('\t').collect();
            (f.first() == Some(&"decode") && f[3] == "1")
                .then(|| f[5].parse::<u64>().unwrap() - f[4].parse::<u64>().unwrap())
        })
        .collect();
    ns.sort_unstable();
    ns[ns.len() / 2]
}

/// Runs the engine with and without the agent in turn. The extra time per token, by the engine's
/// clock, is the cost of as many pairs of probes as the token has operators. On one thread, so that
/// nothing else slows it down.
#[test]
fn the_engine_feels_the_cost_that_the_agent_tells() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command =
        [driver.to_str().unwrap(), "-m", &gguf, "-t", "1", "-p", "8", "-n", "120", "-r", "12", "--fresh"];
    let mut ratios = Vec::new();
    let mut last = None;
    for _ in 0..5 {
        let plain = Command::new(command[0]).args(&command[1..]).output().unwrap();
        let (trace, traced) = record(&parts, &[], &command);
        let analysis = Analysis::compute(&trace);
        let operators: u64 =
            analysis.op.types.iter().filter(|t| t.phase.name() == "decode").map(|t| t.executions).sum();
        let per_token = operators as f64 / analysis.token.decode.calls as f64;
        let cost = trace.health.probe_cost.expect("the agent measures its probes");
        assert!(0 < cost.inside_ns && cost.inside_ns < cost.pair_ns, "{cost:?}");
        let felt = token_ns(&traced.stdout) as f64 - token_ns(&plain.stdout) as f64;
        ratios.push(felt / per_token / cost.pair_ns as f64);
        last =
            Some((cost, analysis.cost.decode_slowdown, trace.health.end.map(|e| (e.bpf_run_ns, e.bpf_runs))));
    }
    ratios.sort_by(f64::total_cmp);
    println!("felt by told cost of an operator's probes: {ratios:.2?}; {last:?}");
    let middle = ratios[ratios.len() / 2];
    assert!((0.5..2.5).contains(&middle), "{ratios:?}");
    let (cost, slowdown, runs) = last.unwrap();
    assert!(slowdown.is_some());
    // The sampled programs: two per pair, and less than the pair, which also has the traps.
    let (run_ns, runs) = runs.unwrap();
    assert!(runs > 100 && run_ns / runs * 2 < cost.pair_ns, "{run_ns} ns in {runs} runs, {cost:?}");
}
