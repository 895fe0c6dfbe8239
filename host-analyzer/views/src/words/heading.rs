//! What was recorded: model, engine and machine. The first lines of the terminal and of the page.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::list;
use super::{duration, size};
use profinfer_analysis::Analysis;
use profinfer_analysis::findings::Headline;
use profinfer_trace::model::{Memory, Process, Session};

/// A type with a smaller share of the weights' bytes is not named.
const NAMED_SHARE: f64 = 0.05;
/// The kernel truncates names to this many bytes.
const KERNEL_NAME: usize = 15;

/// Parts of each line, in order; unknown ones are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heading {
    /// The model by its file; without one, the traced programs. May be empty.
    pub name: String,
    /// Types of the weights, layers, size.
    pub model: Vec<String>,
    /// Program, version, threads.
    pub engine: Vec<String>,
    /// Board, CPU, kernel, length of the recording.
    pub machine: Vec<String>,
}

/// The heading of a session.
#[must_use]
pub fn heading(session: &Session, analysis: &Analysis, headline: &Headline) -> Heading {
    let named = model_name(session, analysis);
    let programs = programs(session, analysis).join(", ");
    let (name, program) = named.map_or_else(|| (programs.clone(), String::new()), |n| (n, programs.clone()));
    // Of all nodes: another backend may compute some layers.
    let nodes = analysis.dag.iter().flat_map(|graph| &graph.nodes);
    let layers = nodes.filter_map(|node| node.layer).max().map_or(0, |last| last.saturating_add(1));
    let sizes =
        || analysis.weight.iter().filter(|w| of_the_model(analysis, w.context.as_deref())).map(|w| w.bytes);
    // Without calls, the graphs of one model have no context in common.
    let bytes = if is_without_calls(analysis) { sizes().sum() } else { sizes().max().unwrap_or(0) };
    let versions: BTreeSet<String> =
        session.processes.iter().map(|p| p.engine_version.replace(" (unknown)", "")).collect();
    let versions: Vec<String> = versions.into_iter().filter(|v| !v.is_empty()).collect();
    let known = |parts: Vec<String>| parts.into_iter().filter(|part| !part.is_empty()).collect();
    Heading {
        name,
        model: known(vec![
            types(weights(analysis)),
            counted(u64::from(layers), "layer"),
            if bytes > 0 { size(bytes) } else { String::new() },
        ]),
        engine: known(vec![program, versions.join(", "), threads(analysis, headline)]),
        machine: known(machine(session, analysis.duration_ns)),
    }
}

/// The program has no token level: its graphs count as calls.
fn is_without_calls(analysis: &Analysis) -> bool {
    analysis.token.encode.calls > 0
}

/// Whether the weights of a context belong to the model. An encoder of images has no context.
fn of_the_model(analysis: &Analysis, context: Option<&str>) -> bool {
    let any = analysis.weight.iter().any(|w| w.context.is_some());
    context.is_some() || !any || is_without_calls(analysis)
}

fn counted(n: u64, one: &str) -> String {
    match n {
        0 => String::new(),
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The file names without their extension, the largest file first; else those of the command lines.
fn model_name(session: &Session, analysis: &Analysis) -> Option<String> {
    let mut largest: BTreeMap<&str, u64> = BTreeMap::new();
    for buffer in analysis.weight.iter().flat_map(|w| &w.buffers).filter(|b| b.memory == Memory::File) {
        if let Some(path) = &buffer.path {
            let bytes = largest.entry(base(path)).or_default();
            *bytes = buffer.bytes.max(*bytes);
        }
    }
    let mut files: Vec<(&str, u64)> = largest.into_iter().collect();
    files.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let mut names: Vec<&str> = files.into_iter().map(|(name, _)| name).collect();
    if names.is_empty() {
        names = session.processes.iter().filter_map(|p| named_model(&p.command)).collect();
        names.dedup();
    }
    let names: Vec<&str> = names.into_iter().map(|n| n.strip_suffix(".gguf").unwrap_or(n)).collect();
    (!names.is_empty()).then(|| names.join(" + "))
}

/// The file that a command line names after `-m` or `--model`.
fn named_model(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        if matches!(word, "-m" | "--model") {
            return words.next().map(base);
        }
        if let Some(path) = word.strip_prefix("--model=").or_else(|| word.strip_prefix("-m=")) {
            return Some(base(path));
        }
    }
    None
}

/// A weight: its context and name, which identify it, type and bytes.
type Weight<'a> = ((Option<&'a str>, &'a str), (&'a str, u64));

/// All weights of the graphs. Several graphs read the same one.
fn weights(analysis: &Analysis) -> impl Iterator<Item = Weight<'_>> {
    let graphs = analysis.dag.iter().filter(|graph| of_the_model(analysis, graph.context.as_deref()));
    graphs.flat_map(|graph| {
        let weights = graph.nodes.iter().filter(|n| n.role == "weight");
        weights
            .map(|n| ((graph.context.as_deref(), n.name.as_str()), (n.dtype.as_str(), n.bytes.unwrap_or(0))))
    })
}

/// `q4_1 69 %, q8_0 31 %`: by bytes; empty if no graph was recorded.
fn types<'a>(weights: impl Iterator<Item = Weight<'a>>) -> String {
    let weights: BTreeMap<_, _> = weights.collect();
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    for (dtype, bytes) in weights.values() {
        let sum = types.entry(dtype).or_default();
        *sum = sum.saturating_add(*bytes);
    }
    let all = types.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes)).max(1) as f64;
    let mut named: Vec<(&str, f64)> =
        types.into_iter().map(|(name, bytes)| (name, bytes as f64 / all)).collect();
    named.retain(|(_, share)| *share >= NAMED_SHARE);
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    match &*named {
        [(one, _)] => (*one).to_owned(),
        several => {
            let parts = several.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

/// `2 threads on CPUs 0-1`; empty if no operator was traced.
fn threads(analysis: &Analysis, headline: &Headline) -> String {
    let threads = counted(headline.threads, "thread");
    let masks: BTreeSet<&Vec<u16>> =
        analysis.conditions.processes.iter().filter_map(|p| p.affinity.value()).collect();
    match masks.first() {
        Some(cpus) if masks.len() == 1 && !threads.is_empty() && !cpus.is_empty() => {
            let cpu = if cpus.len() == 1 { "CPU" } else { "CPUs" };
            format!("{threads} on {cpu} {}", list(cpus))
        }
        _ => threads,
    }
}

fn machine(s: &Session, duration_ns: u64) -> Vec<String> {
    // The board of a recording without a profile.
    let board = if s.board == "host" { String::new() } else { s.board.clone() };
    let cpus = [counted(u64::from(s.cpus), "CPU"), s.machine.clone()];
    let cpus = cpus.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ");
    let kernel = if s.kernel.is_empty() { String::new() } else { format!("Linux {}", s.kernel) };
    let length = if duration_ns > 0 { duration(duration_ns) } else { String::new() };
    vec![board, s.cpu_model.clone(), cpus, kernel, length]
}

/// Names of the traced programs, without repetitions.
fn programs<'a>(session: &'a Session, analysis: &'a Analysis) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for process in &session.processes {
        let name = program_name(process, analysis);
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A name that the kernel truncated is completed from the path or the command line.
fn program_name<'a>(process: &'a Process, analysis: &'a Analysis) -> &'a str {
    if process.name.len() != KERNEL_NAME {
        return &process.name;
    }
    let facts = analysis.conditions.processes.iter().find(|p| p.pid == process.pid);
    let path = facts.and_then(|p| p.program.value()).map_or("", |path| base(path));
    let command = base(process.command.split(' ').next().unwrap_or(""));
    [path, command].into_iter().find(|longer| longer.starts_with(&process.name)).unwrap_or(&process.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_analysis::fact::process::Process as Facts;
    use profinfer_analysis::fact::reading::Reading;
    use profinfer_analysis::weight::{Buffer, Weights};

    fn process(pid: u32, name: &str, command: &str) -> Process {
        Process { pid, name: name.into(), command: command.into(), engine_version: String::new() }
    }

    fn mapped(path: &str, bytes: u64) -> Weights {
        let buffer =
            Buffer { buffer: None, memory: Memory::File, path: Some(path.into()), tensors: 1, bytes };
        Weights {
            pid: 1,
            context: None,
            tensors: 1,
            bytes,
            mapped_bytes: None,
            own_bytes: None,
            device_bytes: None,
            unknown_bytes: None,
            buffers: vec![buffer],
        }
    }

    #[test]
    fn the_model_is_named_by_its_file_or_by_the_command_line() {
        let session = Session {
            processes: vec![process(1, "llama-cli", "llama-cli -t 2 --model=/x/y.gguf -n 1")],
            ..Session::default()
        };
        let mut analysis = Analysis::default();
        assert_eq!(model_name(&session, &analysis).as_deref(), Some("y"));
        assert_eq!(model_name(&Session::default(), &analysis), None);
        analysis.weight = vec![mapped("/m/draft.gguf", 10), mapped("/m/big.gguf", 99)];
        assert_eq!(model_name(&session, &analysis).as_deref(), Some("big + draft"));
        let of = named_model;
        assert_eq!(of("-m a/b.gguf"), Some("b.gguf"));
        assert_eq!(of("x --mlock -m b"), Some("b"));
        assert_eq!((of("x --mmap c"), of("x -m")), (None, None));
    }

    #[test]
    fn a_weight_that_several_graphs_read_counts_once() {
        let graph = [("a", "q4_1", 60), ("b", "q8_0", 38), ("n", "f32", 2)];
        let graph = graph.map(|(name, dtype, bytes)| ((Some("0x1"), name), (dtype, bytes)));
        assert_eq!(types(graph.into_iter().chain(graph)), "q4_1 60 %, q8_0 38 %");
        assert_eq!(types(graph.into_iter().take(1)), "q4_1");
        assert_eq!(types([].into_iter()), "");
    }

    #[test]
    fn a_name_that_the_kernel_truncated_is_completed() {
        let processes = vec![
            process(1, "llama-cli", ""),
            process(2, "llama-cli", ""),
            // 15 bytes, so the kernel may have truncated it.
            process(3, "llama-speculati", "/bin/llama-speculative -m x"),
            process(4, "fifteen-bytes-x", ""),
            process(5, "another-program", "sh -c x"),
        ];
        let session = Session { processes, ..Session::default() };
        let mut analysis = Analysis::default();
        let path = Reading::Value("/opt/another-program-of-length".into());
        analysis.conditions.processes = vec![Facts { pid: 5, program: path, ..Facts::default() }];
        let names = ["llama-cli", "llama-speculative", "fifteen-bytes-x", "another-program-of-length"];
        assert_eq!(programs(&session, &analysis), names);
    }
}
