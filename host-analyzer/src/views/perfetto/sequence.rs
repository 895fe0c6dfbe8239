//! The packets of one track.
//!
//! Every track is a packet sequence of its own: its times can then be differences to the packet before, its
//! track is a default, and a slice costs tens of bytes.

use std::io;

use super::File;
use super::descriptor::{Parent, describe};
use super::intern::{Entry, Interner, Kind};
use super::message::{
    CLOCK_INCREMENTAL, CLOCK_MONOTONIC, Clock, ClockSnapshot, EventType, INCREMENTAL_STATE_CLEARED,
    TracePacket, TracePacketDefaults, TrackDescriptor, TrackEventDefaults,
};
use super::packet::{Packets, annotate_bool, annotate_uint, repeat};
use super::template::Template;
use crate::analyses::track::{Edge, Slice, Track};
use crate::model::SpanId;
use crate::views::timeline::label::{self, CPU, Label, MIGRATED};

/// `TrackEvent { type: TYPE_SLICE_END }`.
pub(super) const SLICE_END: [u8; 2] = [9 << 3, EventType::SliceEnd as u8];

/// Writes the slices of a track.
pub(super) fn sequence(file: &mut File<'_>, track: &Track, uuid: u64) -> io::Result<()> {
    let id = file.next_sequence();
    file.packet(&opening(id, uuid, file.origin_ns))?;
    let packets = Packets::new(id);
    let (mut end, mut barrier) = (Vec::new(), Vec::new());
    packets.tail(&SLICE_END, &mut end);
    packets.tail(&file.barrier.track_event, &mut barrier);
    let mut writer = Writer { packets, end, barrier, now_ns: file.origin_ns, interned: Vec::new(), id };
    for edge in track.edges(file.model) {
        match edge {
            Edge::Begin(slice, at) => writer.begin(file, slice, at),
            Edge::End(_, at) => writer.end(file, at),
        }
        file.out.flush_if_full()?;
    }
    Ok(())
}

/// Begins a track of its own below `parent`, and its sequence, whose number it returns.
pub(super) fn begin_track(file: &mut File<'_>, name: &str, parent: Parent, rank: i32) -> io::Result<u32> {
    let uuid = file.next_uuid();
    file.packet(&describe(TrackDescriptor {
        uuid: Some(uuid),
        name: Some(name.to_owned()),
        parent_uuid: Some(parent.uuid),
        sibling_order_rank: Some(rank),
        ..TrackDescriptor::default()
    }))?;
    let id = file.next_sequence();
    file.packet(&opening(id, uuid, file.origin_ns))?;
    Ok(id)
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

struct Writer {
    packets: Packets,
    /// Tails of the packets that are the same for all slices, and for all waits at the barrier.
    end: Vec<u8>,
    barrier: Vec<u8>,
    now_ns: u64,
    /// Kept only for its memory.
    interned: Vec<u8>,
    id: u32,
}

impl Writer {
    fn begin(&mut self, file: &mut File<'_>, slice: Slice, start: u64) {
        self.interned.clear();
        match slice {
            Slice::Work(SpanId(i)) => self.work(file, i as usize, start),
            Slice::Barrier(_) => {
                file.barrier.define(&mut file.texts, self.id, &mut self.interned);
                let delta = self.delta(start);
                match self.interned.is_empty() {
                    true => repeat(&mut file.out.bytes, delta, &self.barrier),
                    false => {
                        let event = &file.barrier.track_event;
                        self.packets.event(&mut file.out.bytes, delta, event, &self.interned);
                    }
                }
            }
            Slice::Decode(id) => {
                self.call(file, &label::decode(file.model, &file.analysis.phases, id), start)
            }
            Slice::Graph(id) => self.call(file, &label::graph(file.model, id), start),
        }
    }

    fn call(&mut self, file: &mut File<'_>, label: &Label, start: u64) {
        let mut template = Template::new(&mut file.texts, label, &[]);
        template.define(&mut file.texts, self.id, &mut self.interned);
        let delta = self.delta(start);
        self.packets.event(&mut file.out.bytes, delta, &template.track_event, &self.interned);
    }

    fn work(&mut self, file: &mut File<'_>, i: usize, start: u64) {
        let spans = &file.model.spans;
        let topology = file.model.graph_calls.topology[spans.graph_call[i].0 as usize];
        let (node, last) = (spans.node[i], spans.last_node[i]);
        let (model, texts, names) = (file.model, &mut file.texts, &file.names);
        let template = file.nodes.get(topology, node, last, || {
            Template::new(texts, &label::operator(model, topology, node, last), &[names.cpu.1])
        });
        template.define(texts, self.id, &mut self.interned);
        let delta = self.delta(start);
        let tail_of = Some((self.id, spans.cpu[i]));
        if template.tail_of == tail_of && !spans.migrated[i] {
            return repeat(&mut file.out.bytes, delta, &template.tail);
        }
        let event = &mut file.event;
        event.clear();
        event.extend_from_slice(&template.track_event);
        if let Some(cpu) = spans.cpu[i] {
            annotate_uint(event, names.cpu.0, u64::from(cpu));
        }
        if spans.migrated[i] {
            texts.define(&[names.migrated.1], self.id, &mut self.interned);
            annotate_bool(event, names.migrated.0, true);
        } else {
            self.packets.tail(event, &mut template.tail);
            template.tail_of = tail_of;
        }
        self.packets.event(&mut file.out.bytes, delta, event, &self.interned);
    }

    fn end(&mut self, file: &mut File<'_>, at: u64) {
        let delta = self.delta(at);
        repeat(&mut file.out.bytes, delta, &self.end);
    }

    fn delta(&mut self, at: u64) -> u64 {
        at - std::mem::replace(&mut self.now_ns, at)
    }
}

/// Names of the arguments that are appended to templates.
pub(super) struct ArgumentNames {
    pub(super) cpu: (u64, Entry),
    migrated: (u64, Entry),
}

impl ArgumentNames {
    pub(super) fn new(texts: &mut Interner) -> Self {
        Self {
            cpu: texts.intern(Kind::ArgumentName, CPU),
            migrated: texts.intern(Kind::ArgumentName, MIGRATED),
        }
    }
}
