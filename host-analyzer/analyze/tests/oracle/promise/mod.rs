//! Findings keep their promises: the real engine runs with a cause, the test reads the finding,
//! applies its remedy, and runs the engine again. The gain must be within the predicted interval,
//! and the remedy must remove the finding.
//!
//! Both runs are traced alike, so that the cost of the probes is in neither gain. Machines are
//! shared: a failed pair is repeated, and the median of the gains is compared with the median of
//! the intervals.

mod builds;
mod causes;
mod clocks;
mod context;
mod draft;
mod quiet;
mod requests;

use std::process::{Child, Command, Stdio};

use profinfer_analysis::Analysis;
use profinfer_analysis::findings::{Finding, Findings, Gains};
use profinfer_trace::model::Model;

use crate::support::{Parts, read};

/// A run of an engine, and its environment.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) command: Vec<String>,
    pub(super) environment: Vec<(&'static str, &'static str)>,
    /// Commands that run to their end before it.
    pub(super) before: Vec<Vec<String>>,
    /// Commands that run as long as the engine does.
    pub(super) beside: Vec<Vec<String>>,
    /// A control group, by the file to which a process writes itself.
    pub(super) group: Option<String>,
    /// More options of the agent.
    pub(super) options: Vec<&'static str>,
}

impl Run {
    pub(super) fn compute(command: &[&str]) -> Self {
        Self {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            environment: Vec::new(),
            before: Vec::new(),
            beside: Vec::new(),
            group: None,
            options: Vec::new(),
        }
    }
}

/// Ends with the test.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs it under the agent.
pub(super) fn trace(parts: &Parts, run: &Run) -> Model {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    for words in &run.before {
        assert!(Command::new(&words[0]).args(&words[1..]).stderr(Stdio::null()).status().unwrap().success());
    }
    let beside: Vec<Beside> = run
        .beside
        .iter()
        .map(|words| {
            let mut command = Command::new(&words[0]);
            Beside(command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
        })
        .collect();
    let mut agent = Command::new(&parts.agent);
    agent.args(["record", "--out", out.to_str().unwrap()]).args(&run.options).arg("--");
    if let Some(file) = &run.group {
        // The engine enters the group, not the agent.
        agent.args(["sh", "-c", &format!("echo $$ > {file} && exec \"$@\""), "sh"]);
    }
    let output = agent.args(&run.command).envs(run.environment.clone()).output().unwrap();
    drop(beside);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    read(&out)
}

pub(crate) fn findings(model: &Model) -> Findings {
    Findings::compute(model, &Analysis::compute(model))
}

pub(crate) fn find<'a>(findings: &'a Findings, code: &str) -> Option<&'a Finding> {
    findings.found.iter().find(|f| f.rule.code == code)
}

/// Time per decode token, or the mean time to the first token of all requests after the first one,
/// ns.
fn time_ns(model: &Model, findings: &Findings, of: Gains) -> f64 {
    match of {
        Gains::Token => findings.headline.token_ns.unwrap() as f64,
        Gains::Request => {
            let requests = Analysis::compute(model).token.requests;
            let ttft: Vec<u64> = requests.iter().skip(1).filter_map(|r| r.ttft_ns).collect();
            ttft.iter().sum::<u64>() as f64 / ttft.len() as f64
        }
    }
}

/// The result of one pair of runs.
#[derive(Debug, Clone, Copy)]
struct Pair {
    low: f64,
    high: f64,
    gained: f64,
}

const PAIRS: usize = 3;

/// Runs pairs until the promise holds, at most three; then compares the medians.
pub(super) fn kept(parts: &Parts, code: &str, cause: &Run, remedied: &Run) {
    kept_by(code, &|| trace(parts, cause), &|| trace(parts, remedied));
}

/// The same with any way to make the two traces.
pub(crate) fn kept_by(code: &str, cause: &dyn Fn() -> Model, remedied: &dyn Fn() -> Model) {
    let mut pairs: Vec<Pair> = Vec::new();
    while pairs.len() < PAIRS {
        let (with, without) = (cause(), remedied());
        let (f, gone) = (findings(&with), findings(&without));
        let finding = find(&f, code).unwrap_or_else(|| panic!("{code} is not found: {f:#?}"));
        assert!(find(&gone, code).is_none(), "{code} is found with the remedy: {gone:#?}");
        let gain = finding.found.gain.unwrap_or_else(|| panic!("{code} promises nothing"));
        let gained = time_ns(&with, &f, gain.of) - time_ns(&without, &gone, gain.of);
        pairs.push(Pair { low: gain.low_ns as f64, high: gain.high_ns as f64, gained });
        let median = |of: fn(&Pair) -> f64| {
            let mut values: Vec<f64> = pairs.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let (low, high, gained) = (median(|p| p.low), median(|p| p.high), median(|p| p.gained));
        println!(
            "{code}: promised {:.3} to {:.3} ms, gained {:.3} ms ({} pairs)",
            low / 1e6,
            high / 1e6,
            gained / 1e6,
            pairs.len()
        );
        if low <= gained && gained <= high {
            return;
        }
    }
    panic!("{code}: the promise is not kept: {pairs:#?}");
}
