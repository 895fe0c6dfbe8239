//! The command `bench`.

use std::fs::File;
use std::path::Path;

use profinfer_wire::record::ceiling::{CurveEnd, doubt};
use serde::Serialize;

use super::json;
use crate::cli::{Bench, Format};
use crate::error::{Diagnostic, Result};
use crate::link::Output;
use crate::link::output::Kind;
use crate::observe::bench::ceiling::{Ceiling, CeilingKind, name};
use crate::observe::bench::{self, Point, table};
use crate::session::ceiling;
use crate::signals::Signals;

pub(super) fn bench(options: &Bench) -> Result<i32> {
    let signals = Signals::new()?;
    let wanted = bench::Options {
        cpus: options.cpus.clone().unwrap_or_default(),
        threads: options.threads.clone().unwrap_or_default(),
        budget: std::time::Duration::try_from_secs_f64(options.budget).map_err(|e| {
            Diagnostic::new(
                format!("reading the budget {}", options.budget),
                e,
                "give seconds, for example 10",
            )
        })?,
        engine: None,
    };
    let tried = |path: &Path| format!("writing {}", path.display());
    let unwritable =
        |path: &Path, e: std::io::Error| Diagnostic::new(tried(path), e, "choose another place with --out");
    // Before the measurement: a file that cannot be created must not cost ten seconds.
    let file =
        options.out.as_deref().map(|path| File::create(path).map_err(|e| unwritable(path, e))).transpose()?;
    let mut complete = true;
    let ceilings = ceiling::measure(&wanted, &mut |_| {
        complete = !signals.asked_to_end();
        complete
    })?;
    match options.format.format {
        Format::Json => {
            let ceilings = ceilings.iter().map(Measured::new).collect();
            json::print(&Benched { schema: json::SCHEMA, complete, ceilings })?;
        }
        Format::Text => table::write(&ceilings, &mut std::io::stdout().lock()).map_err(|e| {
            Diagnostic::new("writing the table", e, "redirect standard output to a terminal or a file")
        })?,
    }
    if let (Some(file), Some(path)) = (file, options.out.as_deref()) {
        let name = path.display().to_string();
        let output = Output::new(file, Kind::File, name).map_err(|e| unwritable(path, e))?;
        ceiling::write(&ceilings, output)?;
    }
    Ok(i32::from(!complete))
}

/// The result as JSON. The names are those of `ceilings` in the output schema.
#[derive(Debug, Serialize)]
struct Benched<'a> {
    schema: u32,
    /// False if a signal ended the measurements early.
    complete: bool,
    ceilings: Vec<Measured<'a>>,
}

#[derive(Debug, Serialize)]
struct Measured<'a> {
    kind: &'static str,
    /// The unit of `median`, `min` and `max`: `bytes_per_s`, `ops_per_s` or `ns`.
    unit: &'static str,
    core: &'a str,
    threads: usize,
    cpus: &'a [u32],
    how: &'a str,
    /// Sorted by working set. Empty if nothing was measured; `note` has the reason.
    points: Vec<Figures>,
    /// Why the curve ends: `cache`, `memory` or `time`. `null` if the ceiling is not a curve.
    end: Option<&'static str>,
    note: &'a str,
    /// Who held the CPUs meanwhile. `null` if nothing was measured, or the kernel does not report it.
    load: Option<Load<'a>>,
}

#[derive(Debug, Serialize)]
struct Load<'a> {
    wall_ns: u64,
    others_ns: u64,
    pid: u32,
    name: &'a str,
    pid_ns: u64,
}

#[derive(Debug, Serialize)]
struct Figures {
    /// `null` if the loop reads no memory.
    working_set_bytes: Option<u64>,
    repeats: u32,
    median: u64,
    min: u64,
    max: u64,
    doubts: Vec<&'static str>,
}

impl<'a> Measured<'a> {
    fn new(c: &'a Ceiling) -> Self {
        Self {
            kind: name(c.kind),
            unit: match c.kind {
                CeilingKind::Read | CeilingKind::Copy => "bytes_per_s",
                CeilingKind::Int8 | CeilingKind::F32 | CeilingKind::F16 => "ops_per_s",
                CeilingKind::Barrier | CeilingKind::WakeUp => "ns",
            },
            core: &c.core,
            threads: c.cpus.len(),
            cpus: &c.cpus,
            how: &c.how,
            points: c.points.iter().map(Figures::new).collect(),
            end: c.largest().and_then(|p| match p.end {
                CurveEnd::Open => None,
                CurveEnd::Cache => Some("cache"),
                CurveEnd::Memory => Some("memory"),
                CurveEnd::Time => Some("time"),
            }),
            note: &c.note,
            load: c.load.as_ref().map(|l| Load {
                wall_ns: u64::try_from(l.wall.as_nanos()).unwrap_or(u64::MAX),
                others_ns: l.others_ns,
                pid: l.pid,
                name: &l.name,
                pid_ns: l.pid_ns,
            }),
        }
    }
}

impl Figures {
    fn new(p: &Point) -> Self {
        let doubts = [(doubt::UNSTABLE, "unstable"), (doubt::ENGINE_RAN, "engine_ran")];
        Self {
            working_set_bytes: (p.bytes > 0).then_some(p.bytes),
            repeats: p.spread.repeats,
            median: p.spread.median,
            min: p.spread.min,
            max: p.spread.max,
            doubts: doubts.into_iter().filter(|(bit, _)| p.doubts & bit != 0).map(|(_, name)| name).collect(),
        }
    }
}
