//! The start of an engine, verified against the engine's own times.

use std::process::Command;

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::{Ladder, Question, StepKind};
use profinfer_trace::model::{Model, StartMoment};

use crate::support::{engine, parts, record, tool, whole};

/// ms of the line `load time = 123.45 ms` of llama.cpp.
fn load_ms(log: &[u8]) -> f64 {
    let log = String::from_utf8_lossy(log);
    let line = log.lines().find_map(|l| l.split_once("load time =")).unwrap().1;
    line.trim().split_once(" ms").unwrap().0.parse().unwrap()
}

fn ladder(m: &Model) -> Ladder {
    Analysis::compute(m).ladder.of(Question::StartUp).cloned().expect("a ladder of the start")
}

#[test]
fn a_start_takes_what_the_engine_measured_and_a_little_more() {
    let (Some(parts), Some(program)) = (parts(), tool("llama-completion")) else { return };
    let model = parts.models.join("smollm2.gguf");
    let options = ["-no-cnv", "-p", "One two three", "-n", "4", "-t", "2", "--seed", "1"];
    let command = [program.to_str().unwrap(), "-m", model.to_str().unwrap()];
    let command: Vec<&str> = command.into_iter().chain(options).collect();
    let (m, output) = record(&parts, &["--levels", "all"], &command);
    whole(&m);
    let moments: Vec<StartMoment> = m.start_ups.iter().map(|s| s.moment).collect();
    assert_eq!(moments.iter().filter(|s| **s == StartMoment::EngineLoaded).count(), 1);
    assert_eq!(moments.last(), Some(&StartMoment::FirstCall));
    let start = ladder(&m);
    let ms = start.measured_ns as f64 / 1e6;
    let load = load_ms(&output.stderr);
    let sum: i64 = start.steps.iter().map(|s| s.ns).sum();
    assert_eq!(u64::try_from(sum).unwrap(), start.measured_ns);
    let not_recorded = start.share(start.sum(|kind| kind == StepKind::NotRecorded));
    for s in &start.steps {
        println!("{:9.2} ms {:?}", s.ns as f64 / 1e6, s.kind);
    }
    println!("{} samples; {ms:.1} ms, the engine loaded for {load:.1} ms", moments.len());
    println!("{:?}", start.start_up);
    // The engine's clock begins after linking and ends with its first call.
    assert!(ms > load * 0.9, "{ms} {load}");
    assert!(not_recorded < 0.1, "{not_recorded}");
}

/// A model that is in no page cache: all of it is read, and nothing more of it than its pages.
#[test]
fn a_file_that_is_read_is_named_with_its_bytes() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let dir = tempfile::tempdir_in(&parts.models).unwrap();
    let cold = dir.path().join("cold.gguf");
    std::fs::copy(parts.models.join("dense-f32.gguf"), &cold).unwrap();
    let cold = cold.to_str().unwrap();
    // Its pages must be on the disk before they can be dropped.
    for options in [&["conv=notrunc,fdatasync", "oflag=append"][..], &["iflag=nocache"]] {
        let file = if options.len() == 2 { format!("of={cold}") } else { format!("if={cold}") };
        let dd = Command::new("dd").args([&*file, "count=0"]).args(options).output().unwrap();
        assert!(dd.status.success(), "{}", String::from_utf8_lossy(&dd.stderr));
    }
    let nodes = bin.join("nodes");
    let command = [nodes.to_str().unwrap(), "-m", cold, "-t", "1", "-p", "5", "-n", "4"];
    let (m, _) = record(&parts, &["--levels", "all"], &command);
    whole(&m);
    let conditions = Analysis::compute(&m).conditions;
    let reads = &conditions.process(m.session.processes.last().unwrap().pid).unwrap().file_reads;
    let read = reads.iter().find(|r| r.file == "cold.gguf").map_or(0, |r| r.bytes.whole);
    let size = std::fs::metadata(cold).unwrap().len().next_multiple_of(4096);
    println!("{read} of {size} bytes: {reads:?}");
    assert!(read <= size && read * 10 >= size * 9, "{read} of {size}");
}
