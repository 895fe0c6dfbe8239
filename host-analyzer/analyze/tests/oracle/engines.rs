//! Recordings of many builds of the engine, compared with the lists that the same runs printed.
//!
//! `ci/engines/matrix.sh` records and names the folder in PROFINFER_ENGINES_DIR: one folder per
//! build, with `MODEL.pfi` and `MODEL.txt` for each model, and `levels`, the levels that this build
//! must have. The results go next to them, as `MODEL.row`, for the table.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use profinfer_skip::needed_path;
use profinfer_trace::model::{GraphCallId, Layer, Model, ThreadId};

use crate::engine_list::{Call, Listed, parse};
use crate::experts;
use crate::nodes::{
    VIEWS, backend_calls, check_calls, check_context, check_spans, check_sums, list as list_of, topology,
};
use crate::support::{engine, model, parts, read, record};

/// `-t 2`, one prompt, and three tokens after it.
const THREADS: usize = 2;
pub(crate) const CALLS: usize = 4;

#[test]
fn an_engine_that_runs_is_examined_by_its_number() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let mut nodes = Command::new(bin.join("nodes"))
        .args(["-m", &model(&parts, "dense-q8"), "-t", "1", "-n", "1", "--pause"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(nodes.stdout.as_mut().unwrap()).read_line(&mut ready).unwrap();
    let pid = nodes.id().to_string();
    assert_eq!(ready.trim().split('\t').collect::<Vec<_>>(), ["ready", &pid]);
    let output = Command::new(&parts.agent).args(["engine", &pid, "--tables", "all"]).output().unwrap();
    nodes.kill().unwrap();
    nodes.wait().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    for level in ["token     llama_decode", "graph     ", "operator  calls of ggml_cpu_extra_compute_forward"]
    {
        assert!(said.lines().any(|l| l.starts_with(level)), "{level} in: {said}");
    }
    // One CPU variant of many is mapped, and only parts of the engine are listed.
    assert_eq!(said.matches("CPU operators; x86-64, ").count(), 1, "{said}");
    assert!(said.contains(" MUL_MAT_ID ") && said.contains("=q8_0(32/34)"), "{said}");
    assert!(!said.contains("no part of an engine"), "{said}");
}

/// Two builds with different structs, operators and ways to find them, in one recording.
#[test]
fn two_engines_at_once() {
    let (Some(parts), Some(new), Some(old)) =
        (parts(), engine("PROFINFER_ENGINE_DIR"), engine("PROFINFER_OLD_ENGINE_DIR"))
    else {
        return;
    };
    let (gguf, dir) = (model(&parts, "dense-q8"), tempfile::tempdir().unwrap());
    let lists = ["new", "old"].map(|name| dir.path().join(name));
    let mut script = String::new();
    for (bin, list) in [new, old].iter().zip(&lists) {
        let (nodes, list) = (bin.join("nodes"), list.display());
        let run = format!("{} -m {gguf} -t 1 -p 5 -n 3 -c 512 --list >{list} &", nodes.display());
        writeln!(script, "{run}\necho $! >>{list}.pid").unwrap();
    }
    let (trace, _) = record(&parts, &[], &["sh", "-c", &format!("{script}wait")]);
    assert!(trace.health.perfect(), "{:?}", trace.health);
    let sizes = lists.map(|list| {
        let pid = std::fs::read_to_string(format!("{}.pid", list.display())).unwrap();
        let pid: u32 = pid.trim().parse().unwrap();
        let calls = parse(&std::fs::read_to_string(&list).unwrap());
        let of_pid = |thread: ThreadId| trace.threads.get(thread).pid == pid;
        let own: Vec<usize> =
            (0..trace.llama_calls.len()).filter(|d| of_pid(trace.llama_calls.thread[*d])).collect();
        assert_eq!((own.len(), calls.len()), (CALLS, CALLS));
        for (decode, call) in own.iter().zip(&calls) {
            let ours: Vec<Listed> =
                backend_calls(&trace, *decode).into_iter().flat_map(|g| list_of(&trace, g)).collect();
            assert_eq!(ours, call.nodes, "process {pid}");
        }
        (calls[0].nodes.len(), (0..trace.spans.len()).filter(|i| of_pid(trace.spans.thread[*i])).count())
    });
    assert!(sizes[0] != sizes[1] && sizes.iter().all(|(_, spans)| *spans > 0), "{sizes:?}");
}

#[test]
#[ignore = "ci/engines/matrix.sh and ci/board/engines.sh run it"]
fn traces_of_builds() {
    let Some(dir) = needed_path("PROFINFER_ENGINES_DIR", "ci/engines/matrix.sh") else { return };
    let builds = entries(&dir);
    let mut traces: Vec<PathBuf> = builds.iter().flat_map(|b| entries(b)).collect();
    traces.retain(|t| t.extension().is_some_and(|e| e == "pfi"));
    assert!(!traces.is_empty(), "{} holds no recordings", dir.display());
    // Check each build, also after a failure, to show which builds differ.
    traces.retain(|trace| !row(trace));
    assert!(traces.is_empty(), "wrong in {traces:?}");
}

pub(crate) fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

/// Compares one recording with its list, and writes the row. True if everything matches.
fn row(path: &Path) -> bool {
    let calls = parse(&std::fs::read_to_string(path.with_extension("txt")).unwrap());
    let levels = std::fs::read_to_string(path.with_file_name("levels")).unwrap();
    let chosen = std::fs::read_to_string(path.with_extension("experts")).map(|text| experts::parse(&text));
    let trace = read(path);
    let all = || {
        check(&trace, &calls, levels.trim());
        if let Ok(chosen) = &chosen {
            assert!(!chosen.is_empty(), "the engine told no experts");
            assert_eq!(&experts::of_trace(&trace), chosen, "experts");
        }
    };
    let wrong = caught(all).err();
    let equal = equal(&trace, &calls);
    let mut out = String::new();
    let tokens: Vec<String> = trace.llama_calls.n_tokens.iter().map(u32::to_string).collect();
    let lost = trace.health.ledger.map(|l| l.span_ends - l.spans_sent);
    write!(out, "{}/{}\t{}/{}\t", equal.nodes, equal.listed, equal.names, equal.listed).unwrap();
    if let Ok(chosen) = &chosen {
        let (ours, all) = (experts::of_trace(&trace), chosen.values().flatten().count());
        let equal = chosen.iter().filter(|(key, ids)| ours.get(*key) == Some(ids));
        write!(out, "{}/{all}", equal.flat_map(|(_, ids)| ids).count()).unwrap();
    }
    write!(out, "\t{}\t{}\t", tokens.join("+"), threads(&trace)).unwrap();
    write!(out, "{}\t{}\t", trace.spans.len(), lost.map_or("-".to_owned(), |l| l.to_string())).unwrap();
    writeln!(out, "{}", wrong.as_deref().unwrap_or("ok")).unwrap();
    std::fs::write(path.with_extension("row"), out).unwrap();
    wrong.is_none()
}

/// The answer of `check`, or the first line of its panic.
pub(crate) fn caught<T>(check: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(check)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked");
        text.lines().next().unwrap_or_default().replace('\t', " ")
    })
}

/// Maximum number of threads of a graph; some engines make new threads for every graph.
fn threads(trace: &Model) -> usize {
    let of_graph = |g: usize| {
        let spans = (0..trace.spans.len()).filter(|i| trace.spans.graph_call[*i].0 as usize == g);
        spans.map(|i| trace.spans.thread[i]).collect::<BTreeSet<_>>().len()
    };
    (0..trace.graph_calls.len()).map(of_graph).max().unwrap_or(0)
}

/// The part of the engine's list that the trace has.
#[derive(Debug, Default)]
struct Equal {
    /// Nodes that the engine listed.
    listed: usize,
    /// Of these: with the same operator, type, dimensions and dimensions of sources.
    nodes: usize,
    /// Of these: with the same name and names of sources.
    names: usize,
}

fn equal(trace: &Model, calls: &[Call]) -> Equal {
    let mut all = Equal::default();
    for (i, call) in calls.iter().enumerate().take(trace.llama_calls.len()) {
        let ours: Vec<Listed> = backend_calls(trace, i).into_iter().flat_map(|g| list_of(trace, g)).collect();
        all.listed += call.nodes.len().max(ours.len());
        for (a, b) in ours.iter().zip(&call.nodes) {
            let names = |n: &Listed| [vec![n.name.clone()], sources(n, |s| s.0.clone())].concat();
            let topology = |n: &Listed| (n.op.clone(), n.dtype.clone(), n.ne, sources(n, |s| s.1));
            all.nodes += usize::from(topology(a) == topology(b));
            all.names += usize::from(names(a) == names(b));
        }
    }
    all
}

fn sources<T>(node: &Listed, of: impl Fn(&(String, [u64; 4])) -> T) -> Vec<T> {
    node.src.iter().map(of).collect()
}

fn check(trace: &Model, calls: &[Call], levels: &str) {
    assert!(trace.health.perfect(), "{:?}", trace.health);
    let ledger = trace.health.ledger.unwrap();
    assert_eq!((ledger.span_starts, ledger.spans_no_end), (ledger.span_ends, 0), "what starts ends");
    check_doubts(trace, levels);
    assert_eq!(calls.len(), CALLS, "calls that the driver printed");
    assert!(calls.iter().all(|c| !c.nodes.is_empty()), "the driver listed nodes");
    check_calls(trace, calls);
    let scheduler = trace.graph_calls.layer.iter().filter(|l| **l == Layer::Scheduler).count();
    assert!(scheduler == CALLS || levels.contains("no-scheduler"), "{scheduler} graphs of the scheduler");
    let equal = equal(trace, calls);
    assert_eq!((equal.nodes, equal.names), (equal.listed, equal.listed), "the trace says what the list says");
    if levels.contains("no-operator") {
        assert_eq!(trace.spans.len(), 0, "operators that nothing was said about");
        return;
    }
    check_context(trace, calls);
    assert_eq!(threads(trace), expected_threads(levels), "threads");
    (0..CALLS).flat_map(|i| backend_calls(trace, i)).for_each(|graph| check_graph(trace, graph, levels));
    check_sums(trace);
}

fn expected_threads(levels: &str) -> usize {
    if levels.contains("one-thread") { 1 } else { THREADS }
}

/// The nodes of a graph that this build executes.
pub(crate) fn check_graph(trace: &Model, graph: GraphCallId, levels: &str) {
    match () {
        () if levels.contains("fuses") => check_order(trace, graph),
        () if levels.contains("phases") => check_shared(trace, graph),
        () => check_spans(trace, graph, expected_threads(levels)),
    }
}

/// The recording doubts only the probes that this build never hits.
fn check_doubts(trace: &Model, levels: &str) {
    let doubted: Vec<_> = trace.session.probes.iter().filter(|p| p.note.contains("Self-check: ")).collect();
    if levels.contains("no-scheduler") {
        assert_eq!(doubted.len(), 1, "{doubted:?}");
        assert!(doubted[0].symbol.starts_with("ggml_backend_sched_graph_compute"), "{doubted:?}");
        assert!(doubted[0].note.contains("never hit, although"), "{doubted:?}");
    } else {
        assert!(doubted.is_empty(), "{doubted:?}");
    }
}

/// An engine that computes several nodes in one call of its operator function shows the first of
/// them: every thread ran the same ones, in order.
fn check_order(trace: &Model, call: GraphCallId) {
    let of_call: Vec<usize> = (0..trace.spans.len()).filter(|i| trace.spans.graph_call[*i] == call).collect();
    let all: BTreeSet<_> = of_call.iter().map(|i| trace.spans.thread[*i]).collect();
    let nodes_of = |thread| {
        let own = of_call.iter().filter(move |i| trace.spans.thread[**i] == thread);
        own.map(|i| trace.spans.node[*i].0).collect::<Vec<_>>()
    };
    let runs: Vec<_> = all.into_iter().map(nodes_of).collect();
    assert!(runs[0].is_sorted_by(|a, b| a < b) && !runs[0].is_empty(), "in order, and none twice");
    assert!(runs.iter().all(|run| *run == runs[0]), "the threads ran the same nodes");
}

/// Old builds give small operators to any one free thread: together, the threads ran every node
/// that computes, each thread in order and none twice.
fn check_shared(trace: &Model, call: GraphCallId) {
    let topology = topology(trace, call);
    let spans = &trace.spans;
    let of_call = || (0..spans.len()).filter(|i| spans.graph_call[*i] == call);
    let all: BTreeSet<_> = of_call().map(|i| spans.thread[i]).collect();
    let mut runs = vec![0; topology.n_nodes as usize];
    for thread in &all {
        let mut last = None;
        for i in of_call().filter(|i| spans.thread[*i] == *thread) {
            let node = spans.node[i].0;
            assert!(last < Some(node), "in order, and none twice");
            last = Some(node);
            runs[node as usize] += 1;
        }
    }
    for (i, n) in runs.iter().enumerate() {
        let op = trace.texts.get(topology.nodes[i].op);
        assert!(*n > 0 || VIEWS.contains(&op), "node {i} ({op}) was not seen to run");
        assert!(op != "MUL_MAT" || *n == THREADS, "node {i} (MUL_MAT) was run by {n} threads");
    }
}
