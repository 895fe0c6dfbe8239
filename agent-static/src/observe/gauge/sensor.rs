//! One sensor: a file or a PMU event, kept open.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use profinfer_wire::record::gauge::{GaugeParse, GaugeUnit};

use super::parse::{MAX_VALUES, values};
use super::pmu::{self, Traffic};
use crate::sys::perf;

/// Longest text of a sensor, in bytes. No known form has a longer text.
const TEXT: usize = 512;
/// Longest time for one read. A slower sensor (on a slow bus, or with a driver that waits) would
/// delay the trace.
const SLOW: Duration = Duration::from_millis(20);

#[derive(Debug)]
enum Reader {
    File { file: File, parse: GaugeParse },
    Pmu(Traffic),
}

#[derive(Debug)]
pub(super) struct Sensor {
    reader: Reader,
    /// Number of gauges that it provides.
    pub(super) values: usize,
    /// Index of its first gauge.
    pub(super) first: usize,
    pub(super) period: Duration,
    pub(super) due: Instant,
    pub(super) unit: Option<GaugeUnit>,
    /// The value at the session's start, which is subtracted, and the last value.
    counted: Option<(i64, i64)>,
    failed: bool,
}

impl Sensor {
    /// Opens a file and reads it once.
    pub(super) fn file(path: &Path, parse: GaugeParse) -> Result<Self, String> {
        // Some kernel files would block until an event happens.
        let file = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path);
        let file = file.map_err(|e| format!("opening it: {e}"))?;
        Self::tried(Reader::File { file, parse })
    }

    /// Opens an event and reads it once.
    pub(super) fn pmu(sysfs: &Path, pmu: &str, event: &str) -> Result<Self, String> {
        Self::tried(Reader::Pmu(pmu::open(sysfs, pmu, event)?))
    }

    fn tried(reader: Reader) -> Result<Self, String> {
        let now = Instant::now();
        let mut sensor = Self {
            reader,
            values: 0,
            first: 0,
            period: Duration::ZERO,
            due: now,
            unit: None,
            counted: None,
            failed: false,
        };
        sensor.values = sensor.read(&mut [0; MAX_VALUES])?;
        if now.elapsed() > SLOW {
            // The first read may load a driver or wake a device.
            let again = Instant::now();
            sensor.read(&mut [0; MAX_VALUES])?;
            if again.elapsed() > SLOW {
                return Err(format!(
                    "reading it takes {} ms, which would delay the trace",
                    again.elapsed().as_millis()
                ));
            }
        }
        Ok(sensor)
    }

    fn read(&self, out: &mut [i64; MAX_VALUES]) -> Result<usize, Failure> {
        match &self.reader {
            Reader::File { file, parse } => {
                let mut text = [0; TEXT];
                let len = file.read_at(&mut text, 0).map_err(Failure::System)?;
                let text = text.get(..len).filter(|t| t.len() < TEXT).ok_or(Failure::Form(*parse))?;
                values(text, *parse, out).ok_or(Failure::Form(*parse))
            }
            Reader::Pmu(traffic) => {
                let count = perf::read_timed(&traffic.event).map_err(Failure::System)?;
                let count = i64::try_from(count.ok_or(Failure::Multiplexed)?).ok();
                out[0] = count.and_then(|c| c.checked_mul(traffic.bytes)).ok_or(Failure::Back)?;
                Ok(1)
            }
        }
    }

    /// Reads the values. Returns the reason on the first failure.
    pub(super) fn sample(&mut self, out: &mut [Option<i64>; MAX_VALUES]) -> Option<String> {
        let mut values = [0; MAX_VALUES];
        let read = match self.read(&mut values) {
            Ok(n) if n != self.values => Err(Failure::Number),
            Ok(_) if self.unit == Some(GaugeUnit::Bytes) => self.since_the_start(&mut values[0]),
            Ok(_) => Ok(()),
            Err(e) => Err(e),
        };
        match read {
            Ok(()) => {
                for (out, value) in out.iter_mut().zip(values).take(self.values) {
                    *out = Some(value);
                }
                None
            }
            Err(_) if self.failed => None,
            Err(e) => {
                self.failed = true;
                Some(e.into())
            }
        }
    }

    /// Counts bytes from the session's start. A count never decreases.
    fn since_the_start(&mut self, value: &mut i64) -> Result<(), Failure> {
        let (first, last) = self.counted.unwrap_or((*value, *value));
        if *value < last {
            return Err(Failure::Back);
        }
        self.counted = Some((first, *value));
        *value -= first;
        Ok(())
    }
}

/// Why there is no value.
#[derive(Debug)]
enum Failure {
    System(io::Error),
    Form(GaugeParse),
    Number,
    Multiplexed,
    Back,
}

impl From<Failure> for String {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::System(e) => format!("reading it: {e}"),
            Failure::Form(parse) => format!("its text is not {}", form(parse)),
            Failure::Number => "the number of its values differs from that at the start".to_owned(),
            Failure::Multiplexed => {
                "it did not count all the time: another program uses the PMU too".to_owned()
            }
            Failure::Back => "its count decreased, or overflowed".to_owned(),
        }
    }
}

const fn form(parse: GaugeParse) -> &'static str {
    match parse {
        GaugeParse::Integer | GaugeParse::Thousands => "one whole number",
        GaugeParse::Percent => "a whole number of percent",
        GaugeParse::LoadAtFrequency => "a load at a frequency, as in `45@1560000000Hz`",
        GaugeParse::RknpuLoad => "the load of an NPU, as in `NPU load:  Core0: 12%,`",
    }
}
