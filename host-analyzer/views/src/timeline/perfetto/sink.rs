//! The walk over the timeline as packets of Perfetto.

use std::io;

use super::message::{CLOCK_MONOTONIC, EventType, TracePacket, TrackEvent};
use super::part::is_left_out;
use super::sequence::Sequence;
use super::{File, descriptor};
use crate::timeline::gauge::{Counter, GROUP, Number};
use crate::timeline::item::{Item, label};
use crate::timeline::row::{Process, Row};
use crate::timeline::walk::TimelineSink;
use profinfer_analysis::track::Slice;
use profinfer_trace::model::SpanId;

impl TimelineSink for File<'_> {
    type Track = Sequence;

    fn process(&mut self, process: &Process<'_>) -> io::Result<()> {
        descriptor::process(self, process)
    }

    fn track(&mut self, row: &Row<'_>) -> io::Result<Sequence> {
        let uuid = descriptor::track(self, row)?;
        Sequence::begin(self, uuid)
    }

    #[inline]
    fn begin(&mut self, track: &mut Sequence, item: Item<'_>, at_ns: u64) -> io::Result<()> {
        match item {
            Item::Slice(slice) if is_left_out(self.model, slice) => self.left_out.add(self.model, slice),
            Item::Slice(Slice::Work(SpanId(i))) => track.work(self, i as usize, at_ns),
            Item::Slice(Slice::Barrier(_)) => track.barrier(self, at_ns),
            Item::State(piece) => track.state(self, piece),
            Item::Slice(Slice::Decode(_) | Slice::Graph(_)) | Item::Probes(_) => {
                track.once(self, &label(self.model, self.analysis, item), at_ns);
            }
        }
        self.flush_if_full()
    }

    #[inline]
    fn end(&mut self, track: &mut Sequence, item: Item<'_>, at_ns: u64) -> io::Result<()> {
        if !matches!(item, Item::Slice(slice) if is_left_out(self.model, slice)) {
            track.end(self, at_ns);
        }
        self.flush_if_full()
    }

    /// Counters have few values: their packets are on the common sequence, each with a complete
    /// timestamp.
    fn counter_track(&mut self, counter: &Counter<'_>) -> io::Result<()> {
        if self.board == 0 {
            self.board = descriptor::group(self, GROUP)?;
        }
        self.counter = descriptor::counter(self, counter, self.board)?;
        Ok(())
    }

    fn counter(&mut self, _: &Counter<'_>, at_ns: u64, value: Number) -> io::Result<()> {
        let mut event = TrackEvent {
            r#type: Some(EventType::Counter as i32),
            track_uuid: Some(self.counter),
            ..TrackEvent::default()
        };
        match value {
            Number::Integer(n) => event.counter_value = Some(n),
            Number::Rate(n) => event.double_counter_value = Some(n),
        }
        self.packet(&descriptor::common(TracePacket {
            timestamp: Some(at_ns),
            timestamp_clock_id: Some(CLOCK_MONOTONIC),
            track_event: Some(event),
            ..TracePacket::default()
        }))
    }
}
