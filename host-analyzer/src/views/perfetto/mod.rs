//! `timeline.pftrace`: Perfetto's own format, for ui.perfetto.dev and trace_processor.
//!
//! Stage: view. From: the `track` analysis. To: a protobuf `Trace` of track events. Promises: the same tracks and
//! slices as `timeline.json`; times are ns of the session's monotonic clock; texts are sent once per track.

mod descriptor;
mod gauge;
mod intern;
mod message;
mod packet;
mod probes;
mod sequence;
mod state;
mod template;

use std::io::{self, Write};

use prost::Message;

use self::intern::Interner;
use self::message::TracePacket;
use self::sequence::ArgumentNames;
use self::template::Template;
use super::timeline::buffer::Buffer;
use super::timeline::label;
use super::timeline::metadata;
use super::timeline::process::processes;
use crate::analyses::Analysis;
use crate::analyses::per_node::PerNode;
use crate::model::Model;

/// Sequence of the packets that belong to no track; the tracks have those behind it.
const COMMON_SEQUENCE: u32 = 1;

/// Writes the timeline.
///
/// # Errors
/// Those of `out`.
pub fn perfetto(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut file = File::new(model, analysis, out);
    descriptor::head(&mut file)?;
    let probes = super::timeline::probes::tracks(model, analysis, file.origin_ns);
    let states = super::timeline::state::tracks(model);
    for process in processes(model, &analysis.track) {
        let parent = descriptor::process(&mut file, &process)?;
        for (rank, track) in (0..).zip(process.tracks) {
            let uuid = descriptor::track(&mut file, track, parent, rank)?;
            sequence::sequence(&mut file, track, uuid)?;
        }
        let rank = i32::try_from(process.tracks.len()).unwrap_or(i32::MAX);
        for (rank, track) in (rank..).zip(states.iter().filter(|s| s.process == process.pid)) {
            state::track(&mut file, track, parent, rank)?;
        }
        let rank = i32::try_from(process.tracks.len() + states.len()).unwrap_or(i32::MAX);
        for (rank, track) in (rank..).zip(probes.iter().filter(|s| s.process == process.pid)) {
            probes::track(&mut file, track, parent, rank)?;
        }
    }
    gauge::gauges(&mut file)?;
    file.out.flush()
}

struct File<'a> {
    model: &'a Model,
    analysis: &'a Analysis,
    out: Buffer<'a>,
    texts: Interner,
    names: ArgumentNames,
    nodes: PerNode<Template>,
    barrier: Template,
    /// Kept only for its memory.
    event: Vec<u8>,
    /// No time in the file is before it.
    origin_ns: u64,
    sequences: u32,
    uuids: u64,
}

impl<'a> File<'a> {
    fn new(model: &'a Model, analysis: &'a Analysis, out: &'a mut dyn Write) -> Self {
        let mut texts = Interner::default();
        Self {
            names: ArgumentNames::new(&mut texts),
            barrier: Template::new(&mut texts, &label::barrier(), &[]),
            nodes: PerNode::new(model),
            model,
            analysis,
            out: Buffer::new(out),
            texts,
            event: Vec::new(),
            origin_ns: metadata::origin_ns(model, analysis),
            sequences: COMMON_SEQUENCE,
            uuids: 0,
        }
    }

    /// Writes a packet that is not made by hand.
    fn packet(&mut self, packet: &TracePacket) -> io::Result<()> {
        packet::field(&mut self.out.bytes, packet::PACKET, &packet.encode_to_vec());
        self.out.flush_if_full()
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
