//! Without a cause, there is no finding.

use super::{Run, findings, trace};
use crate::support::{engine, model, parts};

/// Twenty quiet runs over four models, none with a finding whose gain exceeds the noise of a shared
/// machine.
#[test]
#[ignore = "ci/promise.sh runs it"]
fn quiet_runs_raise_no_alarm() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let driver = bin.join("nodes");
    for name in ["dense-q8", "qwen2-q8", "gemma2-q8", "moe-mixtral8"] {
        let gguf = model(&parts, name);
        let run = Run::compute(&[driver.to_str().unwrap(), "-m", &gguf, "-t", "1", "-p", "8", "-n", "40"]);
        for _ in 0..5 {
            let f = findings(&trace(&parts, &run));
            let found: Vec<_> = f.found.iter().map(|f| (f.rule.code, f.found.gain)).collect();
            println!("{name}: {found:?}");
            // With one thread on a machine with more CPUs, more threads help.
            assert!(f.found.iter().all(|f| f.rule.code == "few_threads"), "{f:#?}");
        }
    }
}
