//! A tree of files, and the facts that the agent sends for it.

use std::fs;
use std::path::Path;

use profinfer_agent::bpf::page_read::PageRead;
use profinfer_agent::observe::fact::Facts;
use profinfer_trace::model::{FactScope, FactValue, Model};

use crate::stream;

pub(crate) const PID: u32 = 42;

/// Called with the list of computing threads (process, thread) and the number of the reading.
/// Returns false to stop.
type Between<'b> = &'b mut dyn FnMut(&mut Vec<(u32, u32)>, u32) -> bool;

/// Files of a machine, in a temporary folder.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    /// One process on a machine without anything else.
    pub(crate) fn new() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        tree.put("proc/42/status", "Name:\tllama\nRssAnon:\t 10 kB\nRssFile:\t 20 kB\nRssShmem:\t 3 kB\nThreads:\t2\nCpus_allowed_list:\t0-1\n");
        tree.stat(PID, "42", 5, 1);
        tree
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn put(&self, file: &str, text: impl AsRef<[u8]>) {
        crate::files::put(self.root(), file, text);
    }

    /// The stat file of a process or, as `42/task/43`, of a thread, with page faults.
    pub(crate) fn stat(&self, tid: u32, folder: &str, minor: u64, major: u64) {
        self.stat_with(tid, folder, (minor, major), 0);
    }

    /// The same with flags of the kernel.
    pub(crate) fn stat_with(&self, tid: u32, folder: &str, (minor, major): (u64, u64), flags: u64) {
        let before = format!("{tid} (a) b) R 1 1 1 0 -1 {flags} {minor} 0 {major} 0 1 1 0 0 20 -5 2");
        let after = "0 ".repeat(19);
        self.put(&format!("proc/{folder}/stat"), format!("{before} {after}50 1 0"));
    }

    /// The model that the host reads for a found process and repeated readings; `between` may
    /// change files before each.
    pub(crate) fn read(&self, between: Between<'_>) -> (Model, Vec<u8>) {
        let out = self.root().join("out.pfi");
        let mut emit = stream::begin(&out);
        let mut facts = Facts::begin(self.root(), &mut emit);
        facts.process(PID, &mut emit);
        let (mut round, mut computing) = (0, Vec::new());
        while between(&mut computing, round) {
            facts.sample(&mut computing, &reads(round), &mut emit);
            round += 1;
        }
        facts.end(&mut computing, &reads(round), &mut emit);
        let model = stream::finish(emit, &out);
        (model, fs::read(out).unwrap())
    }

    /// The model that the host reads for a found process without changes.
    pub(crate) fn read_once(&self) -> Model {
        self.read(&mut |_, _| false).0
    }
}

/// The process reads a page of a file without a name in each round, another process reads more.
fn reads(round: u32) -> [PageRead; 2] {
    let read = |pid, pages: u32| PageRead { pid, dev: 0xfe << 20 | 1, ino: 1234, pages: pages.into() };
    [read(PID, round), read(7, 100)]
}

/// All values of a fact: numbers as digits, reasons of absence after `!`.
pub(crate) fn all(model: &Model, scope: FactScope, name: &str) -> Vec<String> {
    let Some(name) = model.texts.find(name) else { return Vec::new() };
    let text = |value| match value {
        FactValue::Number(n) => n.to_string(),
        FactValue::Text(t) => model.texts.get(t).to_owned(),
        FactValue::Absent(t) => format!("!{}", model.texts.get(t)),
    };
    model.facts.of(scope, name).map(|fact| text(fact.value)).collect()
}

/// The values of a fact of the process, separated by spaces.
pub(crate) fn of_process(model: &Model, name: &str) -> String {
    all(model, FactScope::Process(PID), name).join(" ")
}

pub(crate) fn of_system(model: &Model, name: &str) -> String {
    all(model, FactScope::System, name).join(" ")
}
