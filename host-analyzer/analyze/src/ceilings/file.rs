//! The file with the kept ceilings of one machine. Anything may be in it: every number is checked.

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use profinfer_trace::model::{Ceiling, CeilingKind, CeilingLoad, CeilingPoint, CeilingSource, CurveEnd};

/// Format of the file. A file of another one is not read.
const FORMAT: u32 = 1;
/// Most ceilings of a machine, CPUs and points of a ceiling, bytes of a text: those of a recording.
const MOST: usize = 4096;
const MOST_CPUS: usize = 1024;
const MOST_POINTS: usize = 64;
const MOST_TEXT: usize = 1024;
const ENDS: [CurveEnd; 4] = [CurveEnd::Open, CurveEnd::Cache, CurveEnd::Memory, CurveEnd::Time];

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct File {
    format: u32,
    pub(super) machine: Machine,
    ceilings: Vec<Row>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    /// When the session began in which it was measured, ns since 1970.
    unix_ns: u64,
    kind: String,
    core: String,
    cpus: Vec<u16>,
    how: String,
    /// By working set. Doubtful points are not kept, so there is at least one.
    points: Vec<Point>,
    load: Option<Load>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Point {
    /// 0 for kinds that read no memory.
    working_set_bytes: u64,
    repeats: u32,
    median: u64,
    min: u64,
    max: u64,
    end: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Load {
    wall_ns: u64,
    others_ns: u64,
    pid: u32,
    name: String,
    pid_ns: u64,
}

impl File {
    pub(super) fn new(machine: &Machine, ceilings: &[Ceiling]) -> Self {
        let ceilings = ceilings.iter().take(MOST).map(Row::new).collect();
        Self { format: FORMAT, machine: machine.clone(), ceilings }
    }

    /// The ceilings in it, or what is wrong with the file.
    pub(super) fn ceilings(self) -> Result<Vec<Ceiling>, String> {
        if self.format != FORMAT {
            return Err(format!("its format is {}, this program reads {FORMAT}", self.format));
        }
        if self.ceilings.len() > MOST {
            return Err(format!("it has {} ceilings", self.ceilings.len()));
        }
        let number = |(n, row): (usize, Row)| {
            row.ceiling().ok_or_else(|| format!("its ceiling number {} is invalid", n + 1))
        };
        self.ceilings.into_iter().enumerate().map(number).collect()
    }
}

impl Row {
    fn new(c: &Ceiling) -> Self {
        let point = |p: &CeilingPoint| Point {
            working_set_bytes: p.working_set_bytes,
            repeats: p.repeats,
            median: p.median,
            min: p.min,
            max: p.max,
            end: p.end.name().to_owned(),
        };
        let load = |l: &CeilingLoad| Load {
            wall_ns: l.wall_ns,
            others_ns: l.others_ns,
            pid: l.pid,
            name: l.name.clone(),
            pid_ns: l.pid_ns,
        };
        Self {
            unix_ns: match c.source {
                CeilingSource::Kept { unix_ns } => unix_ns,
                _ => 0,
            },
            kind: c.kind.name().to_owned(),
            core: c.core.clone(),
            cpus: c.cpus.clone(),
            how: c.how.clone(),
            points: c.points.iter().map(point).collect(),
            load: c.load.as_ref().map(load),
        }
    }

    fn ceiling(self) -> Option<Ceiling> {
        let kind = CeilingKind::ALL.into_iter().find(|kind| kind.name() == self.kind)?;
        let texts = [&self.core, &self.how];
        let ascending = self.cpus.is_sorted_by(|a, b| a < b) && !self.cpus.is_empty();
        if texts.iter().any(|t| t.len() > MOST_TEXT) || !ascending || self.cpus.len() > MOST_CPUS {
            return None;
        }
        if self.points.len() > MOST_POINTS {
            return None;
        }
        let points = self.points.into_iter().map(Point::point).collect::<Option<Vec<_>>>()?;
        if !points.is_sorted_by(|a, b| a.working_set_bytes < b.working_set_bytes) {
            return None;
        }
        let last = points.last()?;
        let load = match self.load {
            Some(l) if l.name.len() > MOST_TEXT => return None,
            load => load.map(|l| CeilingLoad {
                wall_ns: l.wall_ns,
                others_ns: l.others_ns,
                pid: l.pid,
                name: l.name,
                pid_ns: l.pid_ns,
            }),
        };
        Some(Ceiling {
            kind,
            core: self.core,
            cpus: self.cpus,
            how: self.how,
            repeats: last.repeats,
            median: last.median,
            min: last.min,
            max: last.max,
            note: String::new(),
            points,
            load,
            source: CeilingSource::Kept { unix_ns: self.unix_ns },
        })
    }
}

impl Point {
    fn point(self) -> Option<CeilingPoint> {
        let end = ENDS.into_iter().find(|end| end.name() == self.end)?;
        let ordered =
            self.repeats > 0 && self.min <= self.median && self.median <= self.max && self.median > 0;
        ordered.then_some(CeilingPoint {
            working_set_bytes: self.working_set_bytes,
            repeats: self.repeats,
            median: self.median,
            min: self.min,
            max: self.max,
            doubts: Vec::new(),
            end,
        })
    }
}
