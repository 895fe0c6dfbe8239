//! The packets of one track.
//!
//! Every track is a separate packet sequence: its times are then differences to the previous packet,
//! and its track is a default.

use std::io;

use super::File;
use super::message::{
    CLOCK_INCREMENTAL, CLOCK_MONOTONIC, Clock, ClockSnapshot, EventType, INCREMENTAL_STATE_CLEARED,
    TracePacket, TracePacketDefaults, TrackEventDefaults,
};
use super::template::Template;
use crate::timeline::label::{self, Label};
use crate::timeline::state;
use profinfer_analysis::sched::pieces::Piece;

/// `TrackEvent { type: TYPE_SLICE_END }`.
const SLICE_END: [u8; 2] = [9 << 3, EventType::SliceEnd as u8];

/// The packet that sets up a sequence: its clock counts from the previous packet, in nanoseconds.
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
    id: u32,
    now_ns: u64,
}

impl Sequence {
    pub(super) fn begin(file: &mut File<'_>, uuid: u64) -> io::Result<Self> {
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

    pub(super) fn barrier(&mut self, file: &mut File<'_>, start: u64) {
        let delta = self.delta(start);
        file.barrier.begin(&mut file.bundle, &mut file.texts, &file.names, (self.id, None, false), delta);
    }

    pub(super) fn state(&mut self, file: &mut File<'_>, piece: &Piece) {
        let (model, names, texts) = (file.model, &file.names, &mut file.texts);
        let key = (piece.state, piece.task(model));
        let template = file
            .states
            .entry(key)
            .or_insert_with(|| Template::new(texts, &state::label(model, key.0, key.1), &[names.cpu.1]));
        let delta = self.delta(piece.start_ns);
        template.begin(&mut file.bundle, texts, names, (self.id, Some(piece.cpu), false), delta);
    }

    #[inline]
    pub(super) fn work(&mut self, file: &mut File<'_>, i: usize, start: u64) {
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
    const fn delta(&mut self, at: u64) -> u64 {
        at - std::mem::replace(&mut self.now_ns, at)
    }
}
