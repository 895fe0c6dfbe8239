//! What works here, what does not, and why: the same trials that a session makes, printed as a table.
//!
//! Nothing is concluded from a version number if it can be tried. The real programs are loaded and attached to a
//! function of the agent itself.

mod engines;
mod kernel;
mod options;
mod permissions;
mod pmus;

use std::io::{self, Write};

use serde::Serialize;

use crate::target::process::Target;

/// Whether something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It works.
    Yes,
    /// It does not work, and a session loses something.
    No,
    /// Information that decides nothing.
    Info,
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What was tried or looked at; for people, what belongs to a row above is indented.
    #[serde(serialize_with = "without_indent")]
    pub name: String,
    /// Whether it works.
    pub verdict: Verdict,
    /// What was found, for people.
    pub text: String,
}

#[expect(clippy::ptr_arg, reason = "serde gives the field as it is")]
fn without_indent<S: serde::Serializer>(name: &String, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name.trim_start())
}

/// A part of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its title.
    pub name: &'static str,
    /// Its lines.
    pub rows: Vec<Row>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// Probes work on this kernel.
    pub probes: bool,
    /// Operators of the engines can be traced; `None` if no engine runs.
    pub operators: Option<bool>,
    /// What the two probes of an operator cost here, ns; `None` if they cannot be attached.
    pub probe_pair_ns: Option<u64>,
    /// All that was tried.
    pub sections: Vec<Section>,
}

impl Examined {
    /// Operators can be traced, as far as it is known.
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

/// Writes the table.
///
/// # Errors
/// Those of `out`.
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
        (true, None) => Row::yes("engines", "name one to examine it: --pid PID or --name NAME"),
    };
    vec![row]
}
