//! `timeline.json`: Chrome Trace Event Format, for tools that read it. Written only on request:
//! Perfetto and trace_processor read `timeline.pftrace`, which is a tenth of the size.
//!
//! Stage: view. From: the walk over the timeline. To: a JSON object with begin and end events
//! (`B`, `E`) by track and time.
//! Promises: times are exact. `ts` is in microseconds since the start of the session, a decimal
//! with three digits that is formatted from integer nanoseconds: serde_json has no decimals, and a
//! binary fraction would be inexact.
//!
//! There are no complete (`X`) events, though they are shorter. A reader that adds their `ts` and
//! `dur` in binary fractions gets an end that differs from the start of the next slice by a
//! rounding error. Slices that touch, as operators and waits do, then seem to overlap: speedscope
//! shows nonsense, older versions of Perfetto drop slices.
//!
//! Format: "Trace Event Format", the document of the Chromium project's catapult.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};

use serde_json::{Value, json};

use super::gauge::{self, Counter, Number};
use super::item::{Item, cpu, label};
use super::label::{self, CPU, MIGRATED};
use super::metadata::{self, HEALTH};
use super::row::{Content, Process, Row};
use super::rows;
use super::walk::{self, TimelineSink};
use crate::words;
use profinfer_analysis::Analysis;
use profinfer_analysis::track::TrackKind;
use profinfer_trace::model::Model;

/// Writes the timeline.
///
/// # Errors
/// Those of `out`.
pub fn chrome(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let origin_ns = metadata::origin_ns(model, analysis);
    let (free, out) = (FreeIds::new(model), BufWriter::new(out));
    let mut file = File { model, analysis, out, separator: "\n", origin_ns, free, board: 0 };
    let facts = metadata::facts(model, analysis).into_iter();
    let mut facts: serde_json::Map<_, _> = facts.map(|(k, v)| (k.to_owned(), json!(v))).collect();
    let lines = words::health::lines(&analysis.health);
    facts.insert(HEALTH.to_owned(), json!(lines));
    write!(file.out, r#"{{"displayTimeUnit":"ns","otherData":{},"traceEvents":["#, Value::Object(facts))?;
    file.health(&lines)?;
    let processes = rows::all(model, analysis, origin_ns);
    let counters = gauge::counters(model, analysis);
    walk::by_row(model, &processes, &counters, &mut file)?;
    file.out.write_all(b"\n]}\n")?;
    file.out.flush()
}

struct File<'a, 'w> {
    model: &'a Model,
    analysis: &'a Analysis,
    out: BufWriter<&'w mut dyn Write>,
    /// Written before the next event.
    separator: &'static str,
    /// Time 0 of the file.
    origin_ns: u64,
    free: FreeIds,
    /// Process of the counters; 0 before the first.
    board: u32,
}

struct Track {
    pid: u32,
    tid: u32,
    /// Names of the open slices: some readers match an end event with its begin event by name.
    open: Vec<String>,
}

impl TimelineSink for File<'_, '_> {
    type Track = Track;

    fn process(&mut self, process: &Process<'_>) -> io::Result<()> {
        self.process_name(process.pid, &process.name)
    }

    fn track(&mut self, row: &Row<'_>) -> io::Result<Track> {
        // Only the track of a thread has the thread's id. Every other track has an id of no thread.
        let tid = match &row.content {
            Content::Slices(track, _) if track.kind == TrackKind::Thread && track.lane == 0 => track.tid,
            _ => self.free.next(),
        };
        // The health has index 0.
        self.thread_metadata(row.process, tid, &row.name, row.rank.saturating_add(1))?;
        Ok(Track { pid: row.process, tid, open: Vec::new() })
    }

    fn begin(&mut self, track: &mut Track, item: Item<'_>, at_ns: u64) -> io::Result<()> {
        let label = label(self.model, self.analysis, item);
        let arg = |(key, value): &(&str, label::Value)| {
            let value = match value {
                label::Value::Text(text) => json!(text),
                label::Value::Number(number) => json!(number),
            };
            ((*key).to_owned(), value)
        };
        let mut args: serde_json::Map<_, _> = label.args.iter().map(arg).collect();
        if let Some((cpu, migrated)) = cpu(self.model, item) {
            args.insert(CPU.to_owned(), json!(cpu));
            if migrated {
                args.insert(MIGRATED.to_owned(), json!(true));
            }
        }
        let (name, cat) = (&label.name, label.categories.join(","));
        let fields =
            json!({ "ph": "B", "pid": track.pid, "tid": track.tid, "name": name, "cat": cat, "args": args });
        track.open.push(label.name);
        self.timed(at_ns, &fields)
    }

    fn end(&mut self, track: &mut Track, _: Item<'_>, at_ns: u64) -> io::Result<()> {
        let name = track.open.pop();
        self.timed(at_ns, &json!({ "ph": "E", "pid": track.pid, "tid": track.tid, "name": name }))
    }

    /// Counters are in a separate process.
    fn counter_track(&mut self, _: &Counter<'_>) -> io::Result<()> {
        if self.board == 0 {
            self.board = self.free.next();
            self.process_name(self.board, gauge::GROUP)?;
        }
        Ok(())
    }

    fn counter(&mut self, counter: &Counter<'_>, at_ns: u64, value: Number) -> io::Result<()> {
        let value = match value {
            Number::Integer(n) => json!(n),
            Number::Rate(n) => json!(n),
        };
        let name = format!("{}, {}", counter.name, counter.unit);
        let args = json!({ "value": value });
        self.timed(at_ns, &json!({ "ph": "C", "pid": self.board, "name": name, "args": args }))
    }
}

impl File<'_, '_> {
    /// An instant at the start, so that viewers show the health and not only the metadata has it.
    fn health(&mut self, lines: &[String]) -> io::Result<()> {
        let pid = self.analysis.track.first().map_or(0, |t| t.process);
        let tid = self.free.next();
        self.thread_metadata(pid, tid, HEALTH, 0)?;
        let (name, args) = (metadata::headline(lines), json!({ "lines": lines }));
        let fields = json!({
            "ph": "i", "s": "g", "pid": pid, "tid": tid, "name": name, "cat": HEALTH, "args": args
        });
        self.timed(metadata::first_ns(self.model, self.analysis), &fields)
    }

    fn process_name(&mut self, pid: u32, name: &str) -> io::Result<()> {
        self.event(&json!({ "ph": "M", "pid": pid, "name": "process_name", "args": { "name": name } }))
    }

    fn thread_metadata(&mut self, pid: u32, tid: u32, name: &str, index: i32) -> io::Result<()> {
        for (kind, args) in
            [("thread_name", json!({ "name": name })), ("thread_sort_index", json!({ "sort_index": index }))]
        {
            self.event(&json!({ "ph": "M", "pid": pid, "tid": tid, "name": kind, "args": args }))?;
        }
        Ok(())
    }

    fn event(&mut self, fields: &Value) -> io::Result<()> {
        let separator = std::mem::replace(&mut self.separator, ",\n");
        write!(self.out, "{separator}{fields}")
    }

    /// An event with these fields and the time.
    fn timed(&mut self, at_ns: u64, fields: &Value) -> io::Result<()> {
        let separator = std::mem::replace(&mut self.separator, ",\n");
        let (time, fields) = (microseconds(at_ns - self.origin_ns), fields.to_string());
        write!(self.out, "{separator}{{\"ts\":{time},{}", &fields[1..])
    }
}

/// Thread ids for tracks that are not threads: the smallest ids that nothing in the recording has.
struct FreeIds {
    taken: BTreeSet<u32>,
    last: u32,
}

impl FreeIds {
    fn new(model: &Model) -> Self {
        let threads = model.threads.iter().flat_map(|(_, t)| [t.tid, t.pid]);
        let taken = threads.chain(model.session.processes.iter().map(|p| p.pid)).collect();
        Self { taken, last: 0 }
    }

    fn next(&mut self) -> u32 {
        self.last += 1;
        while self.taken.contains(&self.last) {
            self.last += 1;
        }
        self.last
    }
}

/// Nanoseconds as microseconds with three digits after the decimal point.
fn microseconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_exact() {
        assert_eq!(
            [0, 7, 99, 1000, 1_234_567, u64::MAX].map(microseconds),
            ["0.000", "0.007", "0.099", "1.000", "1234.567", "18446744073709551.615"]
        );
    }
}
