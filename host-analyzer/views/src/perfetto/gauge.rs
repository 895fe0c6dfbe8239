//! Counter tracks of gauges.

use std::io;

use super::File;
use super::descriptor::{common, describe};
use super::message::{
    CLOCK_MONOTONIC, CounterDescriptor, EventType, TracePacket, TrackDescriptor, TrackEvent,
};
use crate::timeline::gauge::{GROUP, Number, tracks};

/// Writes all of them, below one track that holds them together. They are few: their packets are on the common
/// sequence, each with its whole time.
pub(super) fn gauges(file: &mut File<'_>) -> io::Result<()> {
    let (model, analysis) = (file.model, file.analysis);
    let (mut group, part) = (None, file.part);
    for mut track in tracks(model, analysis) {
        track.points.retain(|(at, _)| part.has(*at));
        if track.points.is_empty() {
            continue;
        }
        let parent_uuid = match group {
            Some(uuid) => uuid,
            None => {
                let uuid = file.next_uuid();
                let name = Some(GROUP.to_owned());
                file.packet(&describe(TrackDescriptor {
                    uuid: Some(uuid),
                    name,
                    ..TrackDescriptor::default()
                }))?;
                *group.insert(uuid)
            }
        };
        let uuid = file.next_uuid();
        file.packet(&describe(TrackDescriptor {
            uuid: Some(uuid),
            name: Some(track.name.to_owned()),
            parent_uuid: Some(parent_uuid),
            counter: Some(CounterDescriptor { unit_name: Some(track.unit.to_owned()) }),
            ..TrackDescriptor::default()
        }))?;
        for (at, value) in track.points {
            let mut event = TrackEvent {
                r#type: Some(EventType::Counter as i32),
                track_uuid: Some(uuid),
                ..TrackEvent::default()
            };
            match value {
                Number::Whole(n) => event.counter_value = Some(n),
                Number::Rate(n) => event.double_counter_value = Some(n),
            }
            file.packet(&common(TracePacket {
                timestamp: Some(at),
                timestamp_clock_id: Some(CLOCK_MONOTONIC),
                track_event: Some(event),
                ..TracePacket::default()
            }))?;
        }
    }
    Ok(())
}
