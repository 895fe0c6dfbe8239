//! The timeline as ftrace text, for SmartPerf-Host and other readers of hitrace and systrace that
//! cannot read Perfetto's format.
//!
//! Stage: view. From: the walk over the timeline. To: lines in order of time,
//! `TASK-TID (TGID) [CPU] .... SECONDS: tracing_mark_write: WHAT`.
//! Promises: times are exact, with nine digits after the decimal point, of the session's clock
//! (`CLOCK_MONOTONIC`).
//!
//! Operators and waits are sections of their thread (`B` and `E`). Calls, and slices that overlap
//! otherwise, are asynchronous sections (`S` and `F`), which need not nest. A line must name a CPU.
//! Calls and operators without a recorded CPU name the last known CPU of the thread, or 0.
//!
//! Format: the kernel's Documentation/trace/ftrace.rst, and for markers the output of `hitrace` and
//! `atrace`: `B|pid|name`, `E|pid`, `S|pid|name|cookie`, `F|pid|name|cookie`, `C|pid|name|value`.

use std::fmt::Display;
use std::io::{self, Write};

use super::buffer::Buffer;
use super::gauge::{self, Counter, Number};
use super::item::{Item, label};
use super::metadata;
use super::row::{Content, Row};
use super::rows;
use super::walk::{self, TimelineSink};
use crate::foreign::marker;
use crate::words;
use profinfer_analysis::Analysis;
use profinfer_analysis::track::{Slice, TrackKind};
use profinfer_trace::model::{GraphCallId, LlamaCallId, Model, SpanId, ThreadId};

/// Writes the timeline. Returns the number of its slices.
///
/// # Errors
/// Those of `out`.
pub fn ftrace(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<u64> {
    let cpus = vec![0; model.threads.len()];
    let mut file = File { model, analysis, out: Buffer::new(out), cpus, slices: 0 };
    file.head()?;
    let processes = rows::tracks(model, analysis);
    walk::by_time(model, &processes, &gauge::counters(model, analysis), &mut file)?;
    file.out.flush()?;
    Ok(file.slices)
}

struct File<'a> {
    model: &'a Model,
    analysis: &'a Analysis,
    out: Buffer<'a>,
    /// The last known CPU, by row of the threads.
    cpus: Vec<u16>,
    slices: u64,
}

struct Track {
    process: u32,
    thread: ThreadId,
    tid: u32,
    /// It is the track of a thread, where slices nest.
    of_thread: bool,
}

impl TimelineSink for File<'_> {
    type Track = Track;

    fn track(&mut self, row: &Row<'_>) -> io::Result<Track> {
        let Content::Slices(track, _) = &row.content else {
            return Err(io::Error::other("ftrace has rows of calls and threads only"));
        };
        let of_thread = track.kind == TrackKind::Thread && track.lane == 0;
        Ok(Track { process: track.process, thread: track.thread, tid: track.tid, of_thread })
    }

    fn begin(&mut self, track: &mut Track, item: Item<'_>, at_ns: u64) -> io::Result<()> {
        self.slices += 1;
        let (pid, name) = (track.process, self.name(item));
        match track.of_thread {
            true => self.edge(track, item, at_ns, &format_args!("B|{pid}|{name}")),
            false => self.edge(track, item, at_ns, &format_args!("S|{pid}|{name}|{}", cookie(item))),
        }
    }

    fn end(&mut self, track: &mut Track, item: Item<'_>, at_ns: u64) -> io::Result<()> {
        let pid = track.process;
        match track.of_thread {
            true => self.edge(track, item, at_ns, &format_args!("E|{pid}")),
            false => {
                let name = self.name(item);
                self.edge(track, item, at_ns, &format_args!("F|{pid}|{name}|{}", cookie(item)))
            }
        }
    }

    /// Gauges belong to the board. Their lines name the first process, as a line must name one.
    fn counter(&mut self, counter: &Counter<'_>, at_ns: u64, value: Number) -> io::Result<()> {
        let pid = self.analysis.track.first().map_or(0, |t| t.process);
        let name = marker(&format!("{}, {}", counter.name, counter.unit));
        // Readers accept integers only; a rate is in bytes per second.
        let value = match value {
            Number::Integer(n) => n.to_string(),
            Number::Rate(n) => format!("{n:.0}"),
        };
        let what = format_args!("C|{pid}|{name}|{value}");
        line(&mut self.out.bytes, (gauge::GROUP, pid, pid), 0, at_ns, &what)?;
        self.out.flush_if_full()
    }
}

impl File<'_> {
    fn head(&mut self) -> io::Result<()> {
        let bytes = &mut self.out.bytes;
        bytes.extend_from_slice(b"# tracer: nop\n#\n");
        for line in words::health::lines(&self.analysis.health) {
            writeln!(bytes, "# health: {}", marker(&line))?;
        }
        for (key, value) in metadata::facts(self.model, self.analysis) {
            writeln!(bytes, "# {key}: {}", marker(&value))?;
        }
        bytes.extend_from_slice(b"#\n#           TASK-PID     (  TGID) CPU#  ||||  TIMESTAMP  FUNCTION\n");
        bytes.extend_from_slice(b"#              | |        |      |    ||||      |         |\n");
        Ok(())
    }

    fn name(&self, item: Item<'_>) -> String {
        marker(&label(self.model, self.analysis, item).name)
    }

    fn edge(&mut self, track: &Track, item: Item<'_>, at_ns: u64, what: &dyn Display) -> io::Result<()> {
        let thread = track.thread.0 as usize;
        if let (Item::Slice(Slice::Work(SpanId(i))), Some(cpu)) = (item, self.cpus.get_mut(thread)) {
            *cpu = self.model.spans.cpu[i as usize].unwrap_or(*cpu);
        }
        let cpu = self.cpus.get(thread).copied().unwrap_or_default();
        let name = self.model.texts.get(self.model.threads.get(track.thread).name);
        line(&mut self.out.bytes, (name, track.tid, track.process), cpu, at_ns, what)?;
        self.out.flush_if_full()
    }
}

/// Distinguishes an asynchronous slice from others of the same name.
const fn cookie(item: Item<'_>) -> u32 {
    match item {
        Item::Slice(Slice::Decode(LlamaCallId(i)) | Slice::Graph(GraphCallId(i))) => i,
        Item::Slice(Slice::Work(SpanId(i)) | Slice::Barrier(SpanId(i))) => i,
        Item::State(_) | Item::Probes(_) => 0,
    }
}

/// Writes one line of the task with this name, thread id and process id.
fn line(
    bytes: &mut Vec<u8>,
    (name, tid, pid): (&str, u32, u32),
    cpu: u16,
    at_ns: u64,
    what: &dyn Display,
) -> io::Result<()> {
    let name = if name.is_empty() { "<...>".to_owned() } else { marker(name) };
    let (seconds, ns) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000);
    writeln!(
        bytes,
        "{name:>16}-{tid:<7} ({pid:>7}) [{cpu:03}] .... {seconds}.{ns:09}: tracing_mark_write: {what}"
    )
}
