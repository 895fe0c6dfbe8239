//! `timeline.pftrace`: Perfetto's own format, for ui.perfetto.dev and trace_processor.
//!
//! Stage: view. From: the walk over the timeline. To: a protobuf `Trace` of track events.
//! Promises: barrier waits shorter than 1 µs are left out and counted; everything else of the
//! timeline is there. Times are ns of the session's monotonic clock. Each track sends a text once.
//! Packets are compressed.

mod descriptor;
mod intern;
mod message;
mod packet;
mod part;
mod sequence;
mod sink;
mod template;

use std::collections::BTreeMap;
use std::io::{self, Write};

use prost::Message;

use self::descriptor::Parent;
use self::intern::Interner;
use self::message::TracePacket;
use self::packet::{Bundle, Forms};
use self::template::{ArgumentNames, Template};
use super::buffer::Buffer;
use super::{gauge, label, metadata, rows, walk};
use profinfer_analysis::Analysis;
use profinfer_analysis::per_node::PerNode;
use profinfer_analysis::track::Slice;
use profinfer_trace::model::{Model, TaskId, ThreadState};

/// Sequence of the packets that belong to no track. The sequences of the tracks have higher ids.
const COMMON_SEQUENCE: u32 = 1;

pub use part::{Part, SLICES, WAIT_FROM_NS, bytes, parts};

/// Writes the timeline as one file.
///
/// # Errors
/// Those of `out`.
pub fn perfetto(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    part(model, analysis, Part::WHOLE, out)
}

/// Writes a part of the timeline as a separate file.
///
/// # Errors
/// Those of `out`.
pub fn part(model: &Model, analysis: &Analysis, part: Part, out: &mut dyn Write) -> io::Result<()> {
    let mut file = File::new(model, analysis, part, out);
    descriptor::head(&mut file)?;
    let mut processes = rows::all(model, analysis, metadata::origin_ns(model, analysis));
    for process in &mut processes {
        process.rows.retain_mut(|row| part.restrict(model, row, &mut file.left_out));
    }
    processes.retain(|process| !process.rows.is_empty());
    let mut counters = gauge::counters(model, analysis);
    for counter in &mut counters {
        counter.points.retain(|(at, _)| part.has(*at));
    }
    counters.retain(|counter| !counter.points.is_empty());
    walk::by_row(model, &processes, &counters, &mut file)?;
    descriptor::left_out(&mut file)?;
    file.bundle.finish(&mut file.out.bytes)?;
    file.out.flush()
}

/// Waits that are not in the file, because they are too short.
#[derive(Default)]
struct LeftOut {
    waits: u64,
    ns: u64,
}

impl LeftOut {
    fn add(&mut self, model: &Model, slice: Slice) {
        let (start, end) = slice.bounds(model);
        self.waits += 1;
        self.ns += end - start;
    }
}

struct File<'a> {
    model: &'a Model,
    analysis: &'a Analysis,
    out: Buffer<'a>,
    texts: Interner,
    names: ArgumentNames,
    nodes: PerNode<Template>,
    states: BTreeMap<(ThreadState, Option<TaskId>), Template>,
    barrier: Template,
    /// The end of a slice: the same for all of a sequence.
    end: Forms<u32>,
    bundle: Bundle,
    part: Part,
    left_out: LeftOut,
    /// Track of the events about the file itself.
    health: u64,
    /// The current process.
    parent: Parent,
    /// Track above the counters; 0 before the first.
    board: u64,
    /// Track of the current counter.
    counter: u64,
    /// No time in the file is before it.
    origin_ns: u64,
    sequences: u32,
    uuids: u64,
}

impl<'a> File<'a> {
    fn new(model: &'a Model, analysis: &'a Analysis, part: Part, out: &'a mut dyn Write) -> Self {
        let mut texts = Interner::default();
        Self {
            names: ArgumentNames::new(&mut texts),
            barrier: Template::new(&mut texts, &label::barrier(), &[]),
            nodes: PerNode::new(model),
            states: BTreeMap::new(),
            model,
            analysis,
            out: Buffer::new(out),
            texts,
            end: Forms::default(),
            bundle: Bundle::default(),
            part,
            left_out: LeftOut::default(),
            health: 0,
            parent: Parent::default(),
            board: 0,
            counter: 0,
            origin_ns: metadata::origin_ns(model, analysis).max(part.from_ns),
            sequences: COMMON_SEQUENCE,
            uuids: 0,
        }
    }

    /// Writes a packet that prost encodes, after the packets that were laid out by hand.
    fn packet(&mut self, packet: &TracePacket) -> io::Result<()> {
        self.bundle.finish(&mut self.out.bytes)?;
        packet::field(&mut self.out.bytes, packet::PACKET, &packet.encode_to_vec());
        self.out.flush_if_full()
    }

    /// Call it between slices.
    #[inline]
    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bundle.is_full() {
            self.bundle.finish(&mut self.out.bytes)?;
            self.out.flush_if_full()?;
        }
        Ok(())
    }

    fn next_sequence(&mut self) -> u32 {
        self.sequences += 1;
        self.sequences
    }

    fn next_uuid(&mut self) -> u64 {
        self.uuids += 1;
        self.uuids
    }
}
