//! Software counters compared with the kernel's account of the process (getrusage), with a planted
//! cause: the driver evicts the pages of the model before every call, from its memory or also from
//! the page cache.

use profinfer_trace::model::Model;

use crate::engine_log::Weights;
use crate::support::{engine, model, parts, record};

/// Page faults, minor and major, of each call, from the driver's getrusage.
fn faults_by_driver(output: &[u8]) -> Vec<(u64, u64)> {
    let text = String::from_utf8_lossy(output);
    let calls = text.lines().filter(|l| l.starts_with("decode\t"));
    calls
        .map(|l| l.split('\t').skip(7).map(|f| f.parse().unwrap()))
        .map(|mut f| (f.next().unwrap(), f.next().unwrap()))
        .collect()
}

/// The same, summed over the spans of each call; and the spans without counts.
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

/// Runs the driver, which evicts its model before every call. Returns the placement of the weights,
/// and the page faults of every call, minor and major, as the driver counts them.
fn faults(name: &str, how: &str) -> Option<(Weights, Vec<(u64, u64)>)> {
    let (parts, bin) = (parts()?, engine("PROFINFER_ENGINE_DIR")?);
    let (driver, gguf) = (bin.join("nodes"), model(&parts, name));
    let command = [driver.to_str().unwrap(), "-m", &gguf, "-t", "2", "-n", "12", "--evict", how, "--verbose"];
    let (trace, output) = record(&parts, &["--counters", "minor-faults,major-faults"], &command);
    assert_eq!(trace.health.damage, []);
    let (own, (ours, absent)) = (faults_by_driver(&output.stdout), faults_by_spans(&trace));
    println!("{how}: by getrusage {own:?}, by spans {ours:?}, {absent} spans not counted");
    assert_eq!(own.len(), ours.len());
    // A thread that moves to a CPU without a visible switch is reported as not counted; that is
    // rare.
    assert!(absent * 100 < trace.spans.len(), "{absent} of {}", trace.spans.len());
    for (call, (own, ours)) in own.iter().zip(&ours).enumerate() {
        assert!(ours.0 <= own.0 && ours.1 <= own.1, "call {call}: {ours:?} of {own:?}");
        // After the prompt and the first token, each the first of its kind, only operators touch
        // absent pages. (Debian's variant for SSE 4.2 touched three more in the first token.)
        if call > 1 && absent == 0 {
            assert_eq!(ours, own, "call {call}");
        }
        // Some file systems keep their pages in memory in any case.
        assert!(how != "cold" || ours.1 > 0 || own.1 == 0, "call {call}: {ours:?}");
    }
    Some((Weights::of_log(&output.stderr), ours))
}

/// On any CPU: the engine computes with F32 directly from the file.
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

/// The engine does not read weights through the mapping if it has repacked them into its own
/// memory. That depends on the CPU; the engine's log shows it.
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

/// Counts that are not possible are absent with a reason, not 0.
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
