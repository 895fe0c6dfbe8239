//! A short run of ci/direct-kills.sh: what has direct probes in an engine is killed, and the engine computes on as if nothing had been.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::path::Path;
use std::process::Command;

use profinfer_skip::{can_trace, needed_path};

#[test]
fn an_engine_outlives_what_is_killed_around_it() {
    let Some(agent) = needed_path("PROFINFER_AGENT", "scripts/test.sh") else { return };
    let Some(engine) = needed_path("PROFINFER_ENGINE_DIR", "scripts/test.sh") else { return };
    let Some(models) = needed_path("PROFINFER_MODELS_DIR", "scripts/test.sh") else { return };
    let alone = Path::new(env!("CARGO_BIN_EXE_profinfer-direct-alone"));
    if !can_trace() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../direct-kills.sh");
    let run = Command::new(script)
        .arg("60")
        .env("PROFINFER_AGENT", &agent)
        .env("PROFINFER_DIRECT_ALONE", alone)
        .envs([("PROFINFER_ENGINE_DIR", &engine), ("PROFINFER_MODELS_DIR", &models)])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("every token the same"), "{said}");
}
