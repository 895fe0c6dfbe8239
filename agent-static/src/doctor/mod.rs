//! What works on this machine, what does not, and why: a table of the trials that a session makes
//! too.
//!
//! Nothing is derived from a version number if it can be tried. The real programs are loaded and
//! attached to a function of the agent itself.

mod engines;
mod kernel;
mod options;
mod permissions;
mod pmus;

use std::io::{self, Write};

use serde::Serialize;

use crate::target::process::Target;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Yes,
    /// It does not work, and a session lacks something.
    No,
    /// Information only.
    Info,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What was tried. Rows that belong to the row above are indented, in text only.
    #[serde(serialize_with = "without_indent")]
    pub name: String,
    pub verdict: Verdict,
    /// The result, for people.
    pub text: String,
}

#[expect(clippy::ptr_arg, reason = "serde gives the field as it is")]
fn without_indent<S: serde::Serializer>(name: &String, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name.trim_start())
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    pub name: &'static str,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// Probes work on this kernel.
    pub probes: bool,
    /// Operators of the running engines can be traced. `None` if no engine runs.
    pub operators: Option<bool>,
    /// Cost of the two probes of one operator, ns. `None` if probes cannot be attached.
    pub probe_pair_ns: Option<u64>,
    pub sections: Vec<Section>,
}

impl Examined {
    /// False if something known prevents operator tracing.
    #[must_use]
    pub fn works(&self) -> bool {
        self.probes && self.operators != Some(false)
    }
}

impl Row {
    fn new(name: impl Into<String>, verdict: Verdict, text: impl Into<String>) -> Self {
        Self { name: name.into(), verdict, text: text.into() }
    }

    fn yes(what: impl Into<String>, said: impl Into<String>) -> Self {
        Self::new(what, Verdict::Yes, said)
    }

    fn no(what: impl Into<String>, said: impl Into<String>) -> Self {
        Self::new(what, Verdict::No, said)
    }

    fn info(what: impl Into<String>, said: impl Into<String>) -> Self {
        Self::new(what, Verdict::Info, said)
    }
}

/// Examines the kernel, the permissions, the PMUs and the engine.
#[must_use]
pub fn examine(target: Option<&Target>) -> Examined {
    let kernel = kernel::examine();
    let (engine, operators) = engines::rows(target);
    let section = |name, rows| Section { name, rows };
    Examined {
        probes: kernel.works,
        operators,
        probe_pair_ns: kernel.pair_ns,
        sections: vec![
            section("kernel", kernel.rows),
            section("permissions", permissions::rows()),
            section("counters", pmus::rows(std::path::Path::new("/sys"))),
            section("engine", engine),
            section("what will be traced", verdicts(kernel.works, operators)),
        ],
    }
}

///
/// # Errors
/// If `out` cannot be written.
pub fn write(examined: &Examined, out: &mut dyn Write) -> io::Result<()> {
    for Section { name, rows } in &examined.sections {
        writeln!(out, "{name}")?;
        let width = rows.iter().map(|r| r.name.chars().count()).max().unwrap_or(0);
        for row in rows {
            let verdict = match row.verdict {
                Verdict::Yes => "yes",
                Verdict::No => "NO ",
                Verdict::Info => "   ",
            };
            writeln!(out, "  {verdict}  {:width$}  {}", row.name, row.text)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn verdicts(traces: bool, operators: Option<bool>) -> Vec<Row> {
    let row = match (traces, operators) {
        (false, _) => Row::no("engines", "nothing can be traced on this kernel: see the rows with NO"),
        (true, Some(true)) => Row::yes("this engine", "see the rows above for what is traced"),
        (true, Some(false)) => Row::no("this engine", "its operators cannot be traced: see the rows with NO"),
        (true, None) => Row::yes("engines", "select one to examine it: --pid PID or --name NAME"),
    };
    vec![row]
}
