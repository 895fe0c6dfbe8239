//! The causes that can be provoked on any machine with two CPUs.

use std::path::Path;

use profinfer_skip::skip;

use super::{Run, kept};
use crate::group::Group;
use crate::support::{Parts, model, parts, tool};

/// A run of a real model that generates `n` tokens with `threads` threads.
pub(super) fn generate(parts: &Parts, threads: &str, n: &str) -> Option<Run> {
    Some(generate_by(&tool("llama-completion")?, parts, threads, n))
}

/// The same with another engine's program.
pub(super) fn generate_by(program: &Path, parts: &Parts, threads: &str, n: &str) -> Run {
    let gguf = model(parts, "smollm2");
    let words = [program.to_str().unwrap(), "-m", &gguf, "-t", threads, "-n", n, "-p", "Once upon a time"];
    let more = ["--temp", "0", "-no-cnv", "--ignore-eos"];
    Run::compute(&[words.as_slice(), &more].concat())
}

fn two_cpus() -> bool {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < 2 {
        skip(format_args!("one CPU: nothing can be shared out"));
    }
    cpus >= 2
}

/// The same on one or two CPUs only, whatever the machine has.
fn on(cpus: &str, run: &Run) -> Run {
    let words = ["taskset", "-c", cpus].map(str::to_owned);
    Run { command: words.into_iter().chain(run.command.clone()).collect(), ..run.clone() }
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_busy_task_on_one_cpu() {
    let (Some(parts), true) = (parts(), two_cpus()) else { return };
    let Some(run) = generate(&parts, "2", "96") else { return };
    let run = on("0,1", &run);
    let busy = ["taskset", "-c", "1", "sh", "-c", "while :; do :; done"].map(str::to_owned).to_vec();
    kept(&parts, "preempted", &Run { beside: vec![busy], ..run.clone() }, &run);
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn another_engine_beside_it() {
    let (Some(parts), true) = (parts(), two_cpus()) else { return };
    let Some(run) = generate(&parts, "2", "96") else { return };
    let Some(other) = generate(&parts, "1", "100000") else { return };
    let run = on("0,1", &run);
    kept(&parts, "preempted", &Run { beside: vec![on("1", &other).command], ..run.clone() }, &run);
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn two_threads_on_one_cpu() {
    let Some(parts) = parts() else { return };
    let (Some(two), Some(one)) = (generate(&parts, "2", "32"), generate(&parts, "1", "32")) else { return };
    kept(&parts, "too_many_threads", &on("0", &two), &on("0", &one));
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn more_threads_than_cpus() {
    let (Some(parts), true) = (parts(), two_cpus()) else { return };
    let (Some(four), Some(two)) = (generate(&parts, "4", "48"), generate(&parts, "2", "48")) else { return };
    kept(&parts, "too_many_threads", &on("0,1", &four), &on("0,1", &two));
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn fewer_threads_than_cpus() {
    let (Some(parts), true) = (parts(), two_cpus()) else { return };
    let (Some(one), Some(two)) = (generate(&parts, "1", "96"), generate(&parts, "2", "96")) else { return };
    kept(&parts, "few_threads", &on("0,1", &one), &on("0,1", &two));
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_quota_below_the_threads() {
    let (Some(parts), true) = (parts(), two_cpus()) else { return };
    let Some(run) = generate(&parts, "2", "96") else { return };
    let limits = [("cpu.cfs_period_us", "50000".to_owned()), ("cpu.cfs_quota_us", "50000".to_owned())];
    let Some(group) = Group::new("cpu", &limits) else { return };
    let run = on("0,1", &run);
    kept(&parts, "quota", &Run { group: Some(group.file()), ..run.clone() }, &run);
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn threads_that_sleep_at_barriers() {
    let (Some(parts), true) = (parts(), two_cpus()) else { return };
    let Some(run) = generate(&parts, "2", "64") else { return };
    let run = on("0,1", &run);
    let passive = Run { environment: vec![("OMP_WAIT_POLICY", "passive")], ..run.clone() };
    let active = Run { environment: vec![("OMP_WAIT_POLICY", "active")], ..run };
    kept(&parts, "passive_wait", &passive, &active);
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn sampling_of_the_whole_vocabulary() {
    let Some(parts) = parts() else { return };
    let Some(mut run) = generate(&parts, "1", "64") else { return };
    let replace = |run: &mut Run, words: &[&str]| run.command.extend(words.iter().map(|w| (*w).to_owned()));
    let mut limited = run.clone();
    replace(
        &mut run,
        &[
            "--temp",
            "0.8",
            "--seed",
            "1",
            "--samplers",
            "typ_p;top_p;temperature",
            "--top-k",
            "0",
            "--typical",
            "0.99",
        ],
    );
    replace(
        &mut limited,
        &["--temp", "0.8", "--seed", "1", "--samplers", "top_k;temperature", "--top-k", "40"],
    );
    kept(&parts, "sampling", &run, &limited);
}

/// The engine's own memory fits, but the mapped file does not: its pages are read again for every
/// token. Pages belong to the group that reads them first, so the file is evicted from the cache
/// before.
#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_memory_limit_below_the_model() {
    let Some(parts) = parts() else { return };
    let Some(mut run) = generate(&parts, "1", "24") else { return };
    run.command.extend(["-c", "256"].map(str::to_owned));
    let gguf = model(&parts, "smollm2");
    let out = format!("of={gguf}");
    let evict =
        ["dd", &out, "oflag=nocache", "conv=notrunc,fdatasync", "count=0"].map(str::to_owned).to_vec();
    let limits = [("memory.limit_in_bytes", (80_u64 << 20).to_string())];
    let Some(group) = Group::new("memory", &limits) else { return };
    let limited = Run { group: Some(group.file()), before: vec![evict], ..run.clone() };
    kept(&parts, "paging", &limited, &run);
}
