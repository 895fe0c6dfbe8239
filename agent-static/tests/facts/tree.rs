//! A tree of files, and what the agent says of it.

use std::fs::{self, File};
use std::path::Path;

use profinfer_agent::link::Output;
use profinfer_agent::link::emit::Emitter;
use profinfer_agent::link::output::Kind;
use profinfer_agent::observe::fact::Facts;
use profinfer_trace::model::{FactScope, FactValue, Model};

pub(crate) const PID: u32 = 42;

/// Gets the threads that compute, process and thread, and the number of the reading; false when there shall be no other.
type Between<'b> = &'b mut dyn FnMut(&mut Vec<(u32, u32)>, u32) -> bool;

/// Files of a machine, in a folder of their own.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    /// A process on a machine with nothing else.
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
        let file = self.root().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // In place: a file of the kernel is the same one when its text has changed.
        fs::write(file, text).unwrap();
    }

    /// The statistics of a process or, as `42/task/43`, of a thread, with page faults.
    pub(crate) fn stat(&self, tid: u32, folder: &str, minor: u64, major: u64) {
        let before = format!("{tid} (a) b) R 1 1 1 0 -1 0 {minor} 0 {major} 0 1 1 0 0 20 -5 2");
        let behind = "0 ".repeat(19);
        self.put(&format!("proc/{folder}/stat"), format!("{before} {behind}50 1 0"));
    }

    /// What the host reads when a process is met and the numbers are read again, each time when `between` has changed something.
    pub(crate) fn told(&self, between: Between<'_>) -> (Model, Vec<u8>) {
        let out = self.root().join("out.pfi");
        let file = File::create(&out).unwrap();
        let mut emit = Emitter::begin(Output::new(file, Kind::File, "the test").unwrap(), [7; 16]);
        let mut facts = Facts::begin(self.root(), &mut emit);
        facts.process(PID, &mut emit);
        let (mut round, mut computing) = (0, Vec::new());
        while between(&mut computing, round) {
            facts.sample(&mut computing, &mut emit);
            round += 1;
        }
        facts.end(&mut computing, &mut emit);
        emit.flush();
        let bytes = fs::read(out).unwrap();
        (profinfer_trace::read(&bytes).unwrap(), bytes)
    }

    /// What the host reads when a process is met and nothing changes.
    pub(crate) fn told_once(&self) -> Model {
        self.told(&mut |_, _| false).0
    }
}

/// All values of a fact: numbers as digits, reasons of absence behind `!`.
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
