//! Running the agent and reading what it recorded.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use host_analyzer::model::Model;

/// Where the real parts are.
pub(crate) struct Parts {
    pub(crate) agent: PathBuf,
    pub(crate) models: PathBuf,
}

/// The agent and the models, or `None` with the reason on standard error. Where `scripts/test.sh` says that they
/// must be there, their absence is a failure.
pub(crate) fn parts() -> Option<Parts> {
    let var = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(agent), Some(models)) = (var("PROFINFER_AGENT"), var("PROFINFER_MODELS_DIR")) else {
        eprintln!("SKIPPED: PROFINFER_AGENT and PROFINFER_MODELS_DIR are not set: run scripts/test.sh");
        return None;
    };
    if let Ok(why) = std::env::var("PROFINFER_NO_BPF") {
        eprintln!("SKIPPED: this machine cannot trace: {why}");
        return None;
    }
    assert!(agent.exists(), "{} is missing", agent.display());
    Some(Parts { agent, models })
}

/// The folder of launchers of an engine, `None` (and said so) when it was not fetched.
pub(crate) fn engine(variable: &str) -> Option<PathBuf> {
    let dir = std::env::var_os(variable).map(PathBuf::from);
    if dir.is_none() {
        eprintln!("SKIPPED: {variable} is not set: run scripts/test.sh");
    }
    let dir = dir?;
    Some(if dir.join("bin").is_dir() { dir.join("bin") } else { dir })
}

/// Runs `agent record … -- command` and reads the recording.
pub(crate) fn record(parts: &Parts, options: &[&str], command: &[&str]) -> (Model, Output) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let output = Command::new(&parts.agent)
        .args(["record", "--out", out.to_str().unwrap()])
        .args(options)
        .arg("--")
        .args(command)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (read(&out), output)
}

/// Reads a recording.
pub(crate) fn read(path: &Path) -> Model {
    host_analyzer::read(&std::fs::read(path).unwrap()).unwrap()
}

/// Path of a model as text.
pub(crate) fn model(parts: &Parts, name: &str) -> String {
    parts.models.join(format!("{name}.gguf")).to_str().unwrap().to_owned()
}
