//! The engine ends and starts again, another version replaces it, its files are removed while it
//! runs: each process is traced by its own files, and compared with its own list of nodes and
//! counts of tokens.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_trace::model::{EndingKind, Model, ThreadId};

use crate::attach::{wait, wait_for};
use crate::engine_list::{Call, Listed, parse};
use crate::nodes::{backend_calls, list};
use crate::support::{Parts, engine, model, parts, read, signal, whole};

/// How a new version replaces an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Written next to it and renamed over it, as package managers do: another inode at the same
    /// path.
    Moved,
    /// Written into it: the same inode with other bytes.
    Overwritten,
}

/// A folder with a replaceable engine. Its program has a unique name, because other tests run
/// engines too.
struct Place {
    dir: tempfile::TempDir,
    name: &'static str,
    gguf: String,
}

impl Place {
    fn new(parts: &Parts, name: &'static str) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), name, gguf: model(parts, "dense-q8") }
    }

    fn at(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    /// Copies the engine of these launchers.
    fn install(&self, bin: &Path, how: How) {
        for file in fs::read_dir(bin.join("../exe")).unwrap().map(|f| f.unwrap().path()) {
            let name = file.file_name().unwrap().to_str().unwrap();
            let to = self.at(if name == "nodes" { self.name } else { name });
            if how == How::Overwritten && to.exists() {
                let inode = fs::metadata(&to).unwrap().ino();
                // The kernel does not allow writing to a running program; its libraries can be
                // written.
                let written = fs::write(&to, fs::read(&file).unwrap());
                assert!(written.is_ok() || name == "nodes", "{written:?}");
                assert_eq!(fs::metadata(&to).unwrap().ino(), inode);
            } else {
                let new = self.at("new");
                fs::copy(&file, &new).unwrap();
                fs::rename(&new, &to).unwrap();
            }
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.at(self.name));
        command.args(["-m", &self.gguf, "-t", "1", "-p", "5", "-c", "4096"]).args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// Runs it to its end. Returns its process and its list.
    fn run(&self) -> (u32, Vec<Call>) {
        let child = self.command(&["-n", "3", "--list"]).spawn().unwrap();
        let pid = child.id();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let calls = parse(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(calls.len(), 4, "prefill and three decodes");
        (pid, calls)
    }

    /// Starts it up to its first decode, before which it waits.
    fn paused(&self) -> Child {
        let mut child =
            self.command(&["-n", "3", "--list", "--pause"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("ready"), "{line}");
        child
    }

    fn trace(&self) -> PathBuf {
        self.at("trace.pfi")
    }

    /// The agent, already waiting.
    fn agent(&self, parts: &Parts, options: &[&str]) -> Child {
        let mut agent = Command::new(&parts.agent)
            .args(["record", "--full", "--out", self.trace().to_str().unwrap()])
            .args(options)
            .stderr(File::create(self.at("agent.log")).unwrap())
            .spawn()
            .unwrap();
        // The agent reports when it sees a starting engine from its beginning. For a process by its
        // ID, it logs what it examines.
        let by_pid = options.contains(&"--pid");
        let begun = Instant::now();
        while !(by_pid && fs::metadata(self.trace()).is_ok_and(|m| m.len() > 0)
            || self.said().contains("waiting for"))
        {
            assert!(agent.try_wait().unwrap().is_none(), "{}", self.said());
            assert!(begun.elapsed() < Duration::from_secs(60), "the agent does not begin: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
        agent
    }

    fn said(&self) -> String {
        fs::read_to_string(self.at("agent.log")).unwrap()
    }
}

/// Sends Ctrl-C, and reads the recording.
fn interrupted(mut agent: Child, place: &Place) -> Model {
    assert!(agent.try_wait().unwrap().is_none(), "the session goes on: {}", place.said());
    signal(agent.id(), Signal::SIGINT);
    assert!(wait(&mut agent), "{}", place.said());
    let trace = read(&place.trace());
    assert!(trace.health.damage.is_empty() && !trace.health.cut_short(), "{:#?}", trace.health);
    trace
}

fn decodes_of(trace: &Model, pid: u32) -> Vec<usize> {
    (0..trace.llama_calls.len())
        .filter(|d| trace.threads.get(trace.llama_calls.thread[*d]).pid == pid)
        .collect()
}

/// The trace of the process equals its list: calls, tokens, every node of every graph, and executed
/// operators.
fn check(trace: &Model, pid: u32, calls: &[Call]) {
    let own = decodes_of(trace, pid);
    assert_eq!(own.len(), calls.len(), "calls of process {pid}");
    for (decode, call) in own.iter().zip(calls) {
        assert_eq!(trace.llama_calls.n_tokens[*decode], call.n_tokens, "tokens of process {pid}");
        let graphs = backend_calls(trace, *decode);
        let ours: Vec<Listed> = graphs.iter().flat_map(|g| list(trace, *g)).collect();
        assert_eq!(ours, call.nodes, "nodes of process {pid}");
        let of_pid = |thread: ThreadId| trace.threads.get(thread).pid == pid;
        let spans = (0..trace.spans.len()).filter(|i| graphs.contains(&trace.spans.graph_call[*i]));
        let spans = spans.inspect(|i| assert!(of_pid(trace.spans.thread[*i]))).count();
        assert!(spans * 2 > ours.len(), "{spans} operators of {} nodes", ours.len());
    }
    assert_eq!(
        trace.session.processes.iter().filter(|p| p.pid == pid).count(),
        1,
        "one record of process {pid}"
    );
}

fn parts_and_engines() -> Option<(Parts, PathBuf, PathBuf)> {
    Some((parts()?, engine("PROFINFER_MID_ENGINE_DIR")?, engine("PROFINFER_OLD_ENGINE_DIR")?))
}

#[test]
fn an_engine_is_killed_and_begins_again() {
    killed_and_begins_again("restarted-often", &[]);
}

#[test]
fn an_engine_with_direct_probes_is_killed_and_begins_again() {
    let direct = ["--probes", "direct", "--levels", "token,graph,op"];
    let Some(trace) = killed_and_begins_again("restarted-direct", &direct) else { return };
    assert!(trace.health.direct.is_some_and(|d| d.records > 0), "{:#?}", trace.health.direct);
}

fn killed_and_begins_again(name: &'static str, options: &[&str]) -> Option<Model> {
    let (parts, bin, _) = parts_and_engines()?;
    let place = Place::new(&parts, name);
    place.install(&bin, How::Moved);
    let agent = place.agent(&parts, &[&["--name", place.name, "--restarts"], options].concat());
    let first = place.run();
    let mut killed = place.command(&["-n", "4000"]).stdout(Stdio::null()).spawn().unwrap();
    wait_for(&place.trace(), "decodes of the second run", |m| decodes_of(m, killed.id()).len() > 3);
    killed.kill().unwrap();
    killed.wait().unwrap();
    // At once, and once more: do not wait until the agent has noticed.
    let (third, fourth) = (place.run(), place.run());
    let trace = interrupted(agent, &place);
    println!("first {}, killed {}, third {}, fourth {}", first.0, killed.id(), third.0, fourth.0);
    for (pid, calls) in [&first, &third, &fourth] {
        check(&trace, *pid, calls);
    }
    assert!(decodes_of(&trace, killed.id()).len() > 3);
    assert_eq!(trace.session.processes.len(), 4, "{:#?}", trace.session.processes);
    Some(trace)
}

/// Two of them start while the agent releases another one.
#[test]
fn three_engines_begin_at_once() {
    let Some((parts, bin, _)) = parts_and_engines() else { return };
    let place = Place::new(&parts, "three-at-once");
    place.install(&bin, How::Moved);
    let agent = place.agent(&parts, &["--name", place.name, "--restarts"]);
    let begun = Instant::now();
    let engines = [(); 3].map(|()| place.command(&["-n", "3", "--list"]).spawn().unwrap());
    let spread = begun.elapsed();
    let lists = engines.map(|engine| {
        let pid = engine.id();
        let output = engine.wait_with_output().unwrap();
        (pid, parse(&String::from_utf8(output.stdout).unwrap()))
    });
    let trace = interrupted(agent, &place);
    // On a machine without CPU time for the agent, one may have started before it was stopped: then
    // it is reported.
    let is_late = |pid: u32| trace.endings.iter().any(|e| e.kind == EndingKind::Late && e.pid == pid);
    let (late, seen): (Vec<_>, Vec<_>) = lists.iter().partition(|(pid, _)| is_late(*pid));
    println!("{} of 3, started within {spread:?}, were met late", late.len());
    for (pid, calls) in &seen {
        check(&trace, *pid, calls);
    }
    assert!(!seen.is_empty(), "{:?}", trace.endings);
    whole(&trace);
}

fn another_version_at_the_same_path(name: &'static str, how: How) {
    let Some((parts, newer, older)) = parts_and_engines() else { return };
    let place = Place::new(&parts, name);
    place.install(&newer, How::Moved);
    let agent = place.agent(&parts, &["--name", place.name, "--restarts"]);
    let first = place.run();
    place.install(&older, how);
    let second = place.run();
    place.install(&newer, how);
    let third = place.run();
    let trace = interrupted(agent, &place);
    for (pid, calls) in [&first, &second, &third] {
        check(&trace, *pid, calls);
    }
    let offset =
        |pid: u32| trace.session.probes.iter().find(|p| p.pid == pid && p.symbol == "llama_decode").unwrap();
    whole(&trace);
    assert_ne!(offset(first.0).offset, offset(second.0).offset, "two versions");
}

#[test]
fn another_version_is_moved_over_the_old() {
    another_version_at_the_same_path("moved-over", How::Moved);
}

#[test]
fn another_version_is_written_into_the_old() {
    another_version_at_the_same_path("written-into", How::Overwritten);
}

/// The old process waits at its first decode, with probes in files that have other contents now.
#[test]
fn a_file_is_overwritten_under_a_traced_process() {
    let Some((parts, newer, older)) = parts_and_engines() else { return };
    let place = Place::new(&parts, "overwritten");
    place.install(&newer, How::Moved);
    let agent = place.agent(&parts, &["--name", place.name, "--restarts"]);
    let mut standing = place.paused();
    wait_for(&place.trace(), "probes", |m| m.session.probes.iter().any(|p| p.symbol == "llama_decode"));
    // Its program cannot be written while it runs.
    place.install(&older, How::Overwritten);
    fs::remove_file(place.at(place.name)).unwrap();
    place.install(&older, How::Overwritten);
    let second = place.run();
    let trace = interrupted(agent, &place);
    standing.kill().unwrap();
    standing.wait().unwrap();
    check(&trace, second.0, &second.1);
    let probes = trace.session.probes.iter().filter(|p| p.pid == standing.id());
    let gone: Vec<_> = probes.filter(|p| p.note.contains("was overwritten")).collect();
    assert!(!gone.is_empty() && gone.iter().all(|p| !p.attached), "{:#?}", trace.session.probes);
}

/// A package upgrade while the engine runs: its mapped files have no name any more, and its path is
/// another version.
#[test]
fn files_that_are_gone_before_the_agent_comes() {
    let Some((parts, newer, older)) = parts_and_engines() else { return };
    for replaced in [true, false] {
        let place = Place::new(&parts, "upgraded");
        place.install(&newer, How::Moved);
        let mut engine = place.paused();
        if replaced {
            place.install(&older, How::Moved);
        } else {
            let files = fs::read_dir(place.dir.path()).unwrap().map(|f| f.unwrap().path());
            files.for_each(|f| fs::remove_file(f).unwrap());
        }
        let pid = engine.id().to_string();
        let mut agent = place.agent(&parts, &["--pid", &pid]);
        wait_for(&place.trace(), "probes", |m| m.session.probes.len() > 5);
        engine.stdin.take().unwrap().write_all(b"\n").unwrap();
        let output: Output = engine.wait_with_output().unwrap();
        assert!(output.status.success() && wait(&mut agent), "{}", place.said());
        let trace = read(&place.trace());
        whole(&trace);
        check(&trace, pid.parse().unwrap(), &parse(&String::from_utf8(output.stdout).unwrap()));
        let ours =
            |l: &&profinfer_trace::model::Library| l.path.starts_with(place.dir.path().to_str().unwrap());
        assert!(trace.session.libraries.iter().filter(ours).count() >= 3, "{:#?}", trace.session.libraries);
    }
}

/// A process with the name that is not an engine is reported. It is not traced, and does not count
/// as the expected engine.
#[test]
fn a_process_of_that_name_that_is_no_engine() {
    let Some((parts, bin, _)) = parts_and_engines() else { return };
    let place = Place::new(&parts, "no-engine");
    let sleep = |seconds: &str| Command::new(place.at(place.name)).arg(seconds).spawn().unwrap();
    fs::copy("/bin/sleep", place.at(place.name)).unwrap();
    let mut before = sleep("600");
    let mut agent = place.agent(&parts, &["--name", place.name]);
    let mut after = sleep("0.2");
    assert!(wait(&mut after));
    let begun = Instant::now();
    while !place.said().contains(&format!("process {} (no-engine) ended", after.id())) {
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", place.said());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(
        place.said().contains(&format!("process {} (no-engine) has this name", before.id())),
        "{}",
        place.said()
    );
    assert!(agent.try_wait().unwrap().is_none(), "it waits on");
    place.install(&bin, How::Moved);
    let (pid, calls) = place.run();
    assert!(wait(&mut agent), "{}", place.said());
    before.kill().unwrap();
    before.wait().unwrap();
    let trace = read(&place.trace());
    whole(&trace);
    check(&trace, pid, &calls);
    assert_eq!(trace.session.processes.len(), 1, "{:#?}", trace.session.processes);
}
