//! Gauges: values of the board's sensors outside the cores, read several times per second.
//!
//! ```text
//! requests ─▶ path (`*` to files) ─▶ sensor (open, read once) ─▶ gauges, one number each
//!                                        └── sample: read, parse ─▶ one batch of all sensors that are due
//! ```
//! A value that does not have exactly the expected form is absent, never 0. Sampling allocates
//! nothing.

pub mod parse;
pub mod path;
pub mod pmu;
mod sensor;

use std::path::Path;
use std::time::{Duration, Instant};

use profinfer_wire::gauges::{GaugeSample, MAX_SAMPLE_LEN};
use profinfer_wire::record::Record;
use profinfer_wire::record::gauge::{Gauge as GaugeRecord, GaugeBatch, GaugeKind, GaugeUnit, MAX_GAUGES};

use crate::clock;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::request::plan::{GaugeRequest, GaugeSource};
use parse::MAX_VALUES;
use sensor::Sensor;

/// Limits of the time between two samples of one gauge, ms.
const PERIODS: std::ops::RangeInclusive<u32> = 10..=1000;

/// One gauge. Its number is its index in [`Gauges::all`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gauge {
    /// Name for people.
    pub name: String,
    /// What it measures.
    pub kind: GaugeKind,
    /// Unit of its values.
    pub unit: GaugeUnit,
    /// The file, or PMU/event; the request's path if no file was found.
    pub source: String,
    /// Time between two samples, ms.
    pub period_ms: u32,
    /// Whether it is read.
    pub attached: bool,
    /// Why it is not read, or why values are absent.
    pub note: String,
}

/// All gauges of a session.
#[derive(Debug, Default)]
pub struct Gauges {
    /// Gauges that are read, and gauges that cannot be read.
    pub all: Vec<Gauge>,
    sensors: Vec<Sensor>,
}

impl Gauges {
    /// Opens what can be opened; `root` is `/`.
    #[must_use]
    pub fn open(requests: &[GaugeRequest], root: &Path) -> Self {
        let mut gauges = Self::default();
        let now = Instant::now();
        for request in requests {
            let period_ms = request.period_ms.clamp(*PERIODS.start(), *PERIODS.end());
            let request = GaugeRequest { period_ms, ..request.clone() };
            match &request.source {
                GaugeSource::File { path, parse } => match path::expand(root, path) {
                    Ok(found) if found.is_empty() => gauges.refuse(&request, path, "there is no such file"),
                    Ok(found) => {
                        for file in found {
                            gauges.add(
                                &request,
                                &file.path,
                                &file.name(request.kind),
                                Sensor::file(&file.file, *parse),
                                now,
                            );
                        }
                    }
                    Err(why) => gauges.refuse(&request, path, why),
                },
                GaugeSource::Pmu { pmu, event } => {
                    let sensor = Sensor::pmu(&root.join("sys"), pmu, event);
                    gauges.add(&request, &format!("{pmu}/{event}"), event, sensor, now);
                }
            }
        }
        gauges
    }

    fn refuse(&mut self, request: &GaugeRequest, source: &str, why: &str) {
        // One more entry, for the message about the limit.
        let (attached, why) = match self.all.len() {
            0..MAX_GAUGES => (false, why),
            MAX_GAUGES => (false, "there are more sensors than the 64 that are sampled"),
            _ => return,
        };
        let name = request.name.clone();
        self.all.push(request.gauge(name, source, attached, why));
    }

    /// Adds the gauges of a sensor that was read once.
    fn add(
        &mut self,
        request: &GaugeRequest,
        source: &str,
        which: &str,
        sensor: Result<Sensor, String>,
        now: Instant,
    ) {
        let mut sensor = match sensor {
            Ok(sensor) if self.all.len() + sensor.values <= MAX_GAUGES => sensor,
            Ok(_) => {
                return self.refuse(request, source, "there are more sensors than the 64 that are sampled");
            }
            Err(why) => return self.refuse(&request.called(which), source, &why),
        };
        let first = self.all.len();
        for i in 0..sensor.values {
            let core = if sensor.values > 1 { format!("core {i}") } else { String::new() };
            let name = [request.name.as_str(), which, &core].join(" ");
            let mut name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            // The path distinguishes two zones of one type.
            if self.all.iter().any(|g| g.name == name) {
                let number = source.rsplit('/').nth(1).unwrap_or(source);
                name = format!("{name} {number}");
            }
            self.all.push(request.gauge(name, source, true, ""));
        }
        let period = Duration::from_millis(request.period_ms.into());
        (sensor.first, sensor.period, sensor.due, sensor.unit) = (first, period, now, Some(request.unit));
        self.sensors.push(sensor);
    }

    /// Time until [`Self::sample`] has something to do; `None` if never.
    #[must_use]
    pub fn due_in(&self) -> Option<Duration> {
        let due = self.sensors.iter().map(|n| n.due).min()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Sends a record for each gauge.
    pub fn emit(&self, emit: &mut Emitter) {
        for id in 0..self.all.len() {
            self.emit_one(id, emit);
        }
    }

    fn emit_one(&self, id: usize, emit: &mut Emitter) {
        let (Some(g), Ok(id)) = (self.all.get(id), u16::try_from(id)) else { return };
        let cut = |text: &str| text.floor_char_boundary(500);
        let record = GaugeRecord {
            id,
            name: &g.name[..cut(&g.name)],
            kind: g.kind,
            unit: g.unit,
            source: &g.source[..cut(&g.source)],
            period_ms: g.period_ms,
            attached: g.attached,
            note: &g.note[..cut(&g.note)],
        };
        emit.emit(&Record::Gauge(record), Weight::Essential);
    }

    /// Reads the sensors that are due, or with `all` every one, and sends their values.
    pub fn sample(&mut self, emit: &mut Emitter, all: bool) {
        let now = Instant::now();
        if !self.sensors.iter().any(|n| all || n.due <= now) {
            return;
        }
        let at_ns = clock::monotonic_ns();
        let (mut bytes, mut len, mut count) = ([0; MAX_GAUGES * MAX_SAMPLE_LEN], 0, 0u16);
        for at in 0..self.sensors.len() {
            let Some(sensor) = self.sensors.get_mut(at).filter(|n| all || n.due <= now) else { continue };
            // Samples that were skipped by a pause are not made up.
            let next = sensor.due + sensor.period;
            sensor.due = if next > now { next } else { now + sensor.period };
            let mut values = [None; MAX_VALUES];
            let failed = sensor.sample(&mut values);
            let ids = sensor.first..sensor.first + sensor.values;
            for (id, value) in ids.clone().zip(values) {
                let sample = GaugeSample { id: u16::try_from(id).unwrap_or(u16::MAX), value };
                // All of them fit.
                if let Some(end) = sample.encode(&mut bytes, len) {
                    (len, count) = (end, count + 1);
                }
            }
            if let Some(why) = failed {
                for id in ids {
                    self.all[id].note.clone_from(&why);
                    self.emit_one(id, emit);
                }
            }
        }
        let batch = GaugeBatch { at_ns, count, bytes: &bytes[..len] };
        emit.emit(&Record::GaugeBatch(batch), Weight::Droppable);
    }
}

impl GaugeRequest {
    fn gauge(&self, name: String, source: &str, attached: bool, note: &str) -> Gauge {
        Gauge {
            name,
            kind: self.kind,
            unit: self.unit,
            source: source.to_owned(),
            period_ms: self.period_ms,
            attached,
            note: note.to_owned(),
        }
    }

    fn called(&self, which: &str) -> Self {
        let name = [self.name.as_str(), which].join(" ").trim_end().to_owned();
        Self { name, ..self.clone() }
    }
}

impl path::Found {
    /// Distinguishes several files of one path; a thermal zone by its type.
    fn name(&self, kind: GaugeKind) -> String {
        let said = || std::fs::read_to_string(self.file.with_file_name("type")).ok();
        let said = if kind == GaugeKind::Temperature { said() } else { None };
        said.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()).unwrap_or_else(|| self.which.clone())
    }
}
