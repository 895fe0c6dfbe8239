//! The packets of one track.
//!
//! Every track is a separate packet sequence: its times can then be differences to the packet before, and its
//! track is a default.

use std::io;
use std::ops::Range;

use super::File;
use super::descriptor::{Parent, describe};
use super::message::{
    CLOCK_INCREMENTAL, CLOCK_MONOTONIC, Clock, ClockSnapshot, EventType, INCREMENTAL_STATE_CLEARED,
    TracePacket, TracePacketDefaults, TrackDescriptor, TrackEventDefaults,
};
use super::part::is_left_out;
use super::template::Template;
use crate::timeline::label::{self, Label};
use profinfer_analysis::track::{Edge, Slice, Track};
use profinfer_trace::model::SpanId;

/// `TrackEvent { type: TYPE_SLICE_END }`.
const SLICE_END: [u8; 2] = [9 << 3, EventType::SliceEnd as u8];

/// Writes some slices of a track, by place.
pub(super) fn sequence(
    file: &mut File<'_>,
    track: &Track,
    slices: Range<usize>,
    uuid: u64,
) -> io::Result<()> {
    let mut writer = Sequence::begin(file, uuid)?;
    for edge in track.edges_of(file.model, slices) {
        match edge {
            Edge::Begin(slice, _) if is_left_out(file.model, slice) => file.left_out.add(file.model, slice),
            Edge::End(slice, _) if is_left_out(file.model, slice) => {}
            Edge::Begin(slice, at) => slice_begins(&mut writer, file, slice, at),
            Edge::End(_, at) => writer.end(file, at),
        }
        file.flush_if_full()?;
    }
    Ok(())
}

fn slice_begins(writer: &mut Sequence, file: &mut File<'_>, slice: Slice, start: u64) {
    match slice {
        Slice::Work(SpanId(i)) => writer.work(file, i as usize, start),
        Slice::Barrier(_) => {
            let delta = writer.delta(start);
            file.barrier.begin(
                &mut file.bundle,
                &mut file.texts,
                &file.names,
                (writer.id, None, false),
                delta,
            );
        }
        Slice::Decode(id) => {
            writer.once(file, &label::decode(file.model, &file.analysis.phases, id), start);
        }
        Slice::Graph(id) => writer.once(file, &label::graph(file.model, id), start),
    }
}

/// Begins a track below `parent`, and its sequence.
pub(super) fn begin_track(
    file: &mut File<'_>,
    name: &str,
    parent: Parent,
    rank: i32,
) -> io::Result<Sequence> {
    let uuid = file.next_uuid();
    file.packet(&describe(TrackDescriptor {
        uuid: Some(uuid),
        name: Some(name.to_owned()),
        parent_uuid: Some(parent.uuid),
        sibling_order_rank: Some(rank),
        ..TrackDescriptor::default()
    }))?;
    Sequence::begin(file, uuid)
}

/// The packet that sets up a sequence: its clock counts from the packet before, in nanoseconds.
fn opening(sequence: u32, track_uuid: u64, origin_ns: u64) -> TracePacket {
    let monotonic = Clock { clock_id: Some(CLOCK_MONOTONIC), timestamp: Some(origin_ns), ..Clock::default() };
    let incremental = Clock {
        clock_id: Some(CLOCK_INCREMENTAL),
        timestamp: Some(origin_ns),
        is_incremental: Some(true),
        unit_multiplier_ns: Some(1),
    };
    TracePacket {
        timestamp: Some(origin_ns),
        timestamp_clock_id: Some(CLOCK_MONOTONIC),
        trusted_packet_sequence_id: Some(sequence),
        sequence_flags: Some(INCREMENTAL_STATE_CLEARED),
        first_packet_on_sequence: Some(true),
        clock_snapshot: Some(ClockSnapshot {
            clocks: vec![monotonic, incremental],
            primary_trace_clock: Some(CLOCK_MONOTONIC),
        }),
        trace_packet_defaults: Some(TracePacketDefaults {
            timestamp_clock_id: Some(CLOCK_INCREMENTAL),
            track_event_defaults: Some(TrackEventDefaults { track_uuid: Some(track_uuid) }),
        }),
        ..TracePacket::default()
    }
}

/// The sequence of one track.
pub(super) struct Sequence {
    pub(super) id: u32,
    now_ns: u64,
}

impl Sequence {
    fn begin(file: &mut File<'_>, uuid: u64) -> io::Result<Self> {
        let id = file.next_sequence();
        file.packet(&opening(id, uuid, file.origin_ns))?;
        Ok(Self { id, now_ns: file.origin_ns })
    }

    /// Begins a slice whose label is unique.
    pub(super) fn once(&mut self, file: &mut File<'_>, label: &Label, start: u64) {
        let mut template = Template::new(&mut file.texts, label, &[]);
        let delta = self.delta(start);
        template.begin(&mut file.bundle, &mut file.texts, &file.names, (self.id, None, false), delta);
    }

    #[inline]
    fn work(&mut self, file: &mut File<'_>, i: usize, start: u64) {
        let spans = &file.model.spans;
        let topology = file.model.graph_calls.topology[spans.graph_call[i].0 as usize];
        let (node, last) = (spans.node[i], spans.last_node[i]);
        let (model, texts, names) = (file.model, &mut file.texts, &file.names);
        let template = file.nodes.get(topology, node, last, || {
            Template::new(texts, &label::operator(model, topology, node, last), &[names.cpu.1])
        });
        let delta = self.delta(start);
        template.begin(&mut file.bundle, texts, names, (self.id, spans.cpu[i], spans.migrated[i]), delta);
    }

    /// Ends the innermost slice.
    #[inline]
    pub(super) fn end(&mut self, file: &mut File<'_>, at: u64) {
        let delta = self.delta(at);
        let File { bundle, end, .. } = file;
        bundle.event(self.id, delta, end, self.id, |event| event.extend_from_slice(&SLICE_END));
    }

    #[inline]
    pub(super) const fn delta(&mut self, at: u64) -> u64 {
        at - std::mem::replace(&mut self.now_ns, at)
    }
}
