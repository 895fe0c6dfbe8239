//! Runs the agent and reads its recordings.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use profinfer_analysis::budget::Budget;
use profinfer_analysis::phase::Phases;
use profinfer_skip::{can_trace, needed_path, skip};
use profinfer_trace::model::Model;

/// Where the real parts are.
pub(crate) struct Parts {
    pub(crate) agent: PathBuf,
    pub(crate) models: PathBuf,
}

/// The agent and the models, if this machine can trace; otherwise the test is skipped.
pub(crate) fn parts() -> Option<Parts> {
    let agent = needed_path("PROFINFER_AGENT", "scripts/test.sh")?;
    let models = needed_path("PROFINFER_MODELS_DIR", "scripts/test.sh")?;
    assert!(agent.exists(), "{} is missing", agent.display());
    can_trace().then_some(Parts { agent, models })
}

/// The folder of launchers of an engine. If it was not fetched, the test is skipped.
pub(crate) fn engine(variable: &str) -> Option<PathBuf> {
    let dir = needed_path(variable, "scripts/test.sh or a script of ci/engines")?;
    Some(if dir.join("bin").is_dir() { dir.join("bin") } else { dir })
}

/// A tool of the current engine. If this build has none, the test is skipped.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let path = engine("PROFINFER_ENGINE_DIR")?.join(name);
    if !path.exists() {
        skip(format_args!("this engine has no {name}"));
    }
    path.exists().then_some(path)
}

/// Captures the operators of every call, unless the options select the calls.
pub(crate) fn full(options: &[&str]) -> Option<&'static str> {
    let selects = |option: &&str| ["--duty", "--max-slowdown"].contains(option);
    (!options.iter().any(selects)).then_some("--full")
}

/// Runs `agent record … -- command` and reads the recording.
pub(crate) fn record(parts: &Parts, options: &[&str], command: &[&str]) -> (Model, Output) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let output = Command::new(&parts.agent)
        .args(["record", "--out", out.to_str().unwrap()])
        .args(full(options))
        .args(options)
        .arg("--")
        .args(command)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (read(&out), output)
}

/// No call, graph or operator was lost. The scheduler level may have losses: on a loaded machine,
/// and on a console line whose interrupts are those of the stream, it is the first to be dropped.
pub(crate) fn whole(trace: &Model) {
    let mut health = trace.health.clone();
    (health.sched, health.sched_received) = (None, 0);
    assert!(health.perfect(), "{:#?}", trace.health);
}

/// Sends a signal. A system call, not the program `kill`, whose start takes milliseconds on a loaded machine.
pub(crate) fn signal(pid: u32, signal: Signal) {
    try_signal(pid, signal).unwrap();
}

/// The same to a process that may have ended.
pub(crate) fn try_signal(pid: u32, signal: Signal) -> nix::Result<()> {
    kill(Pid::from_raw(pid.cast_signed()), signal)
}

/// Ends an engine with the test that started it, also if the test fails: an engine without an end
/// would take a CPU and memory from all later tests.
pub(crate) struct Engine(u32);

impl Engine {
    /// Its process id.
    pub(crate) const fn pid(&self) -> u32 {
        self.0
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = try_signal(self.0, Signal::SIGKILL);
    }
}

/// Starts `agent record --out out -- engine …` and waits until the recording has this many bytes
/// and operators. On a loaded machine, the scheduler level writes many bytes before the engine
/// computes.
pub(crate) fn started(agent: &mut Command, out: &Path, bytes: u64) -> (Child, Engine) {
    let agent = agent.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let computes = || {
        let read = || profinfer_trace::read(&std::fs::read(out).ok()?).ok();
        std::fs::metadata(out).is_ok_and(|m| m.len() >= bytes) && read().is_some_and(|m| !m.spans.is_empty())
    };
    let mut engine: Option<Engine> = None;
    // The agent's first child may be one that only tries something, so the last one counts.
    let mut look = || match (child(&agent), &mut engine) {
        (Some(pid), Some(known)) => known.0 = pid,
        (Some(pid), none) => *none = Some(Engine(pid)),
        (None, _) => {}
    };
    while !computes() {
        look();
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(20));
    }
    look();
    let engine = engine.expect("the agent has started the engine");
    (agent, engine)
}

/// The process that the agent has started, if it is the only one.
fn child(agent: &Child) -> Option<u32> {
    let children = Command::new("pgrep").args(["-P", &agent.id().to_string()]).output().unwrap().stdout;
    String::from_utf8_lossy(&children).trim().parse().ok()
}

/// Reads a recording. The budget of every recording in the tests must be exact to the nanosecond.
pub(crate) fn read(path: &Path) -> Model {
    let model = profinfer_trace::read(&std::fs::read(path).unwrap()).unwrap();
    let budget = Budget::compute(&model, &Phases::compute(&model));
    for token in &budget.tokens {
        assert_eq!(token.wall.total(), token.time_ns, "call {}", token.call);
    }
    for phase in &budget.phases {
        assert_eq!(phase.wall.total(), phase.time_ns);
        assert!(phase.threads.iter().all(|t| t.parts.total() == t.time_ns), "{:?}", phase.threads);
    }
    model
}

/// Path of a model as text.
pub(crate) fn model(parts: &Parts, name: &str) -> String {
    parts.models.join(format!("{name}.gguf")).to_str().unwrap().to_owned()
}

/// A test `check(parts, engine, model)` for each engine and model, in the file that has `check`.
macro_rules! on_engines {
    ($($name:ident: $engine:literal, $model:literal;)*) => {
        $(#[test]
        fn $name() {
            if let Some(parts) = parts() {
                check(&parts, $engine, $model);
            }
        })*
    };
}
pub(crate) use on_engines;
