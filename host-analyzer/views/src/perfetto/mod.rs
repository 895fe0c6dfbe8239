//! `timeline.pftrace`: Perfetto's own format, for ui.perfetto.dev and trace_processor.
//!
//! Stage: view. From: the `track` analysis. To: a protobuf `Trace` of track events. Promises: the same tracks and
//! slices as `timeline.json`, without the shortest waits, which are counted; times are ns of the session's monotonic clock; texts are
//! sent once per track. Packets are compressed.

mod descriptor;
mod gauge;
mod intern;
mod message;
mod packet;
mod part;
mod probes;
mod sequence;
mod state;
mod template;

use std::io::{self, Write};

use prost::Message;

use self::intern::Interner;
use self::message::TracePacket;
use self::packet::{Bundle, Forms};
use self::part::is_left_out;
use self::template::{ArgumentNames, Template};
use super::timeline::buffer::Buffer;
use super::timeline::label;
use super::timeline::metadata;
use super::timeline::process::processes;
use profinfer_analysis::Analysis;
use profinfer_analysis::per_node::PerNode;
use profinfer_analysis::track::Slice;
use profinfer_trace::model::Model;

/// Sequence of the packets that belong to no track; the tracks have those behind it.
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
    let probes = super::timeline::probes::tracks(model, analysis, metadata::origin_ns(model, analysis));
    let states = super::timeline::state::tracks(model);
    for process in processes(model, &analysis.track) {
        let mut shown = Vec::new();
        for (rank, track) in (0..).zip(process.tracks) {
            let slices = part.of_track(model, track);
            match track.order.range(slices.clone()).all(|slice| is_left_out(model, slice)) {
                true => track.order.range(slices).for_each(|slice| file.left_out.add(model, slice)),
                false => shown.push((rank, track, slices)),
            }
        }
        let mut rank = i32::try_from(process.tracks.len()).unwrap_or(i32::MAX);
        let mut ranked = |is_shown: bool| {
            rank = rank.saturating_add(1);
            is_shown.then_some(rank)
        };
        let states: Vec<_> = (states.iter().filter(|s| s.process == process.pid))
            .filter_map(|s| Some((ranked(s.pieces.iter().any(|p| part.has(p.start_ns)))?, s)))
            .collect();
        let probes: Vec<_> = (probes.iter().filter(|p| p.process == process.pid))
            .filter_map(|p| Some((ranked(p.stretches.iter().any(|s| part.has(s.start_ns)))?, p)))
            .collect();
        if shown.is_empty() && states.is_empty() && probes.is_empty() {
            continue;
        }
        let parent = descriptor::process(&mut file, &process)?;
        for (rank, track, slices) in shown {
            let uuid = descriptor::track(&mut file, track, parent, rank)?;
            sequence::sequence(&mut file, track, slices, uuid)?;
        }
        for (rank, track) in states {
            state::track(&mut file, track, parent, rank)?;
        }
        for (rank, track) in probes {
            probes::track(&mut file, track, parent, rank)?;
        }
    }
    gauge::gauges(&mut file)?;
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
    barrier: Template,
    /// The end of a slice: the same for all of a sequence.
    end: Forms<u32>,
    bundle: Bundle,
    part: Part,
    left_out: LeftOut,
    /// The track with what is to be known of the file.
    health: u64,
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
            model,
            analysis,
            out: Buffer::new(out),
            texts,
            end: Forms::default(),
            bundle: Bundle::default(),
            part,
            left_out: LeftOut::default(),
            health: 0,
            origin_ns: metadata::origin_ns(model, analysis).max(part.from_ns),
            sequences: COMMON_SEQUENCE,
            uuids: 0,
        }
    }

    /// Writes a packet that prost encodes, after those that were laid out by hand.
    fn packet(&mut self, packet: &TracePacket) -> io::Result<()> {
        self.bundle.finish(&mut self.out.bytes)?;
        packet::field(&mut self.out.bytes, packet::PACKET, &packet.encode_to_vec());
        self.out.flush_if_full()
    }

    /// To be called between slices.
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
