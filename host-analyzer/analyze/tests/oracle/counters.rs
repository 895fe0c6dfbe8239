//! Software counters against the kernel's own account of the process (getrusage), with a planted cause: the driver
//! takes the model's pages from itself before every call, or from the page cache too.

use profinfer_trace::model::Model;

use crate::engine_log::Weights;
use crate::support::{engine, model, parts, record};

/// Page faults, minor and major, of each call by the driver's getrusage.
fn faults_by_driver(output: &[u8]) -> Vec<(u64, u64)> {
    let text = String::from_utf8_lossy(output);
    let calls = text.lines().filter(|l| l.starts_with("decode\t"));
    calls
        .map(|l| l.split('\t').skip(7).map(|f| f.parse().unwrap()))
        .map(|mut f| (f.next().unwrap(), f.next().unwrap()))
        .collect()
}

/// The same summed over the spans of each call; and the spans of which nothing can be told.
fn faults_by_spans(trace: &Model) -> (Vec<(u64, u64)>, usize) {
    let counts = &trace.spans.counts;
    assert_eq!(counts.names, ["minor-faults", "major-faults"]);
    let mut sums = vec![(0, 0); trace.llama_calls.len()];
    let mut absent = 0;
    for i in 0..trace.spans.len() {
        let call = trace.graph_calls.decode[trace.spans.graph_call[i].0 as usize].unwrap();
        match (counts.value(0, i), counts.value(1, i)) {
            (Some(minor), Some(major)) => {
                let sum = &mut sums[call.0 as usize];
                *sum = (sum.0 + minor, sum.1 + major);
            }
            _ => absent += 1,
        }
    }
    (sums, absent)
}

/// Runs the driver, whose model is taken from it before every call; returns where the engine has the weights, and the page
/// faults of every call, minor and major, which are the driver's own count of them.
fn faults(name: &str, how: &str) -> Option<(Weights, Vec<(u64, u64)>)> {
    let (parts, bin) = (parts()?, engine("PROFINFER_ENGINE_DIR")?);
    let (driver, gguf) = (bin.join("nodes"), model(&parts, name));
    let command = [driver.to_str().unwrap(), "-m", &gguf, "-t", "2", "-n", "12", "--evict", how, "--verbose"];
    let (trace, output) = record(&parts, &["--counters", "minor-faults,major-faults"], &command);
    assert_eq!(trace.health.damage, []);
    let (own, (ours, absent)) = (faults_by_driver(&output.stdout), faults_by_spans(&trace));
    println!("{how}: by getrusage {own:?}, by spans {ours:?}, {absent} spans not counted");
    assert_eq!(own.len(), ours.len());
    // A thread put on a CPU where the kernel shows no switch is told as not counted; that is rare.
    assert!(absent * 100 < trace.spans.len(), "{absent} of {}", trace.spans.len());
    for (call, (own, ours)) in own.iter().zip(&ours).enumerate() {
        assert!(ours.0 <= own.0 && ours.1 <= own.1, "call {call}: {ours:?} of {own:?}");
        // After the prompt and the first token, each the first of its kind, nothing but operators touches pages that are not
        // there. (Debian's variant for SSE 4.2 was seen to touch three more in the first token.)
        if call > 1 && absent == 0 {
            assert_eq!(ours, own, "call {call}");
        }
        // Some file systems keep their pages in memory whatever they are told.
        assert!(how != "cold" || ours.1 > 0 || own.1 == 0, "call {call}: {ours:?}");
    }
    Some((Weights::of_log(&output.stderr), ours))
}

/// On any CPU: the engine computes with F32 where it lies in the file.
fn every_call_reads_the_file(how: &str) {
    let Some((weights, calls)) = faults("dense-f32", how) else { return };
    assert!(weights.repacked == 0.0 && weights.mapped > 5.0, "{weights:?}");
    assert!(calls.iter().all(|(minor, _)| *minor >= 50), "{calls:?}");
}

#[test]
fn minor_faults_are_those_of_the_process() {
    every_call_reads_the_file("unmap");
}

#[test]
fn major_faults_come_with_a_cold_page_cache() {
    every_call_reads_the_file("cold");
}

/// Weights that the engine has repacked into memory of its own are not read through the mapping any more. Whether it does
/// that depends on the CPU, and the engine's log says it.
#[test]
fn faults_are_few_where_weights_are_repacked() {
    let Some((weights, calls)) = faults("dense-q4", "unmap") else { return };
    println!("{weights:?}");
    // The first call touches the engine's own memory for the first time.
    let later = calls[1..].iter().map(|(minor, _)| *minor);
    let (least, most) = (later.clone().min().unwrap(), later.max().unwrap());
    if weights.repacked > 0.0 {
        assert!(weights.repacked > 1.0 && most <= 16, "{weights:?}, {calls:?}");
    } else {
        assert!(weights.mapped > 1.0 && least >= 20, "{weights:?}, {calls:?}");
    }
}

/// What cannot be counted is absent and said so, not 0.
#[test]
fn a_counter_that_is_not_there_is_refused_by_name() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let command = [driver.to_str().unwrap(), "-m", &gguf, "-n", "2"];
    let (trace, _) = record(&parts, &["--counters", "NO_SUCH_EVENT,minor-faults"], &command);
    let refused: Vec<_> = trace.session.counters.iter().filter(|c| !c.attached).collect();
    let [refused] = &*refused else { panic!("{refused:?}") };
    assert_eq!(refused.name, "NO_SUCH_EVENT");
    assert!(!refused.note.is_empty());
    assert_eq!(trace.spans.counts.names, ["minor-faults"]);
    let analysis = profinfer_analysis::Analysis::compute(&trace);
    let lines = profinfer_views::words::health::lines(&analysis.health);
    assert!(lines.iter().any(|l| l.starts_with("not counted: NO_SUCH_EVENT")), "{lines:?}");
}
