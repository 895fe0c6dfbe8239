//! Leave-one-out: the quarter of the decode calls that was delayed least, each predicted from the
//! other calls of its recording. All of these count, so usual times must not contain their delays.
//! Kept recordings have too few tokens.

use std::collections::BTreeSet;
use std::path::PathBuf;

use profinfer_analysis::fact::Conditions;
use profinfer_analysis::module::Places;
use profinfer_analysis::phase::{Phase, Phases};
use profinfer_analysis::replay::{CallReplay, Replay};
use profinfer_trace::model::Model;

/// Calls of a recording that are predicted, at most.
const CALLS: usize = 12;

fn replay(m: &Model) -> Replay {
    let phases = Phases::compute(m);
    Replay::compute(m, &phases, &Conditions::compute(m, &phases), &Places::compute(m))
}

/// Measured time of the operators of a call without the probes', ns.
fn measured(c: &CallReplay) -> u64 {
    c.usual.total() - c.usual.probes + c.caused.total() + c.unexplained_ns
}

/// The same from the usual times of other calls.
fn predicted(m: &Model, c: &CallReplay, others: &Replay) -> f64 {
    let times = &others.class_times[Phase::Decode.index()];
    let mut ns = 0.0;
    for (graph, rows) in m.spans.by_call() {
        let graph = graph.0 as usize;
        if m.graph_calls.decode[graph] != Some(c.call) {
            continue;
        }
        let classes = others.classes_of(m.graph_calls.topology[graph].unwrap());
        let nodes: BTreeSet<_> = m.spans.node[rows].iter().collect();
        for node in nodes {
            let times = &times[classes[node.0 as usize].0 as usize];
            let usual = times.usual.total() - times.usual.probes;
            ns += usual as f64 / times.instances.max(1) as f64;
        }
    }
    ns
}

/// Relative error of the predicted times of a recording's calls together.
fn error(mut m: Model) -> f64 {
    let all = replay(&m);
    let mut calls: Vec<&CallReplay> = all.phase(Phase::Decode).skip(1).filter(|c| c.traced).collect();
    let delayed = |c: &CallReplay| (c.caused.total() + c.unexplained_ns) as f64 / c.time_ns.max(1) as f64;
    let mut delays: Vec<f64> = calls.iter().map(|c| delayed(c)).collect();
    delays.sort_by(f64::total_cmp);
    let least = delays[delays.len() / 4];
    calls.retain(|c| delayed(c) <= least);
    let (mut sum, mut truth) = (0.0, 0.0);
    for c in calls.iter().step_by(calls.len().div_ceil(CALLS)) {
        // Failed calls are in no figure.
        m.llama_calls.status[c.call.0 as usize] = 1;
        sum += predicted(&m, c, &replay(&m));
        m.llama_calls.status[c.call.0 as usize] = 0;
        truth += measured(c) as f64;
    }
    let of = format!("{} of {} calls, delayed by {least:.4} at most", calls.len(), delays.len());
    println!("{:+.2} %: {of}", (sum / truth - 1.0) * 100.0);
    sum / truth - 1.0
}

#[test]
#[ignore = "ci/predict.sh runs it"]
fn undisturbed_calls_are_predicted_from_the_others() {
    let folder = std::env::var_os("PROFINFER_RECORDINGS").unwrap();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "pfi")).collect();
    files.sort();
    let of = |path: &PathBuf| {
        print!("{}: ", path.file_name().unwrap().display());
        error(profinfer_trace::read(&std::fs::read(path).unwrap()).unwrap())
    };
    let errors: Vec<f64> = files.iter().map(of).collect();
    assert!(errors.len() >= 5, "{} recordings", errors.len());
    let bias = errors.iter().sum::<f64>() / errors.len() as f64;
    println!("bias {:+.2} %", bias * 100.0);
    assert!(bias.abs() <= 0.03, "{errors:?}");
}
