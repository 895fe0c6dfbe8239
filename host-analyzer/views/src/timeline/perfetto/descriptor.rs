//! Packets that describe the file, its processes and tracks.

use std::io;

use super::message::{
    Attribute, CLOCK_MONOTONIC, CLOCK_REALTIME, ChildTracksOrdering, Clock, ClockSnapshot, CounterDescriptor,
    DebugAnnotation, EventType, ProcessDescriptor, ThreadDescriptor, TraceAttributes, TracePacket,
    TrackDescriptor, TrackEvent,
};
use super::{COMMON_SEQUENCE, File, WAIT_FROM_NS};
use crate::timeline::gauge::Counter;
use crate::timeline::metadata::{self, HEALTH};
use crate::timeline::row::{Content, Process, Row};
use crate::words;
use profinfer_analysis::track::TrackKind;

/// The process to which tracks belong.
#[derive(Clone, Copy, Default)]
pub(super) struct Parent {
    uuid: u64,
    /// `None` if it is unknown.
    pid: Option<i32>,
}

/// Clocks, metadata, and the health of the recording as the first event.
pub(super) fn head(file: &mut File<'_>) -> io::Result<()> {
    file.packet(&TracePacket { first_packet_on_sequence: Some(true), ..common(clocks(file)) })?;
    file.packet(&common(TracePacket {
        trace_attributes: Some(TraceAttributes { attribute: attributes(file) }),
        ..TracePacket::default()
    }))?;
    file.health = group(file, HEALTH)?;
    let event = health(file);
    instant(file, event)
}

/// An event at the start of the file, where a user sees it first.
fn instant(file: &mut File<'_>, event: TrackEvent) -> io::Result<()> {
    let start = metadata::first_ns(file.model, file.analysis).max(file.part.from_ns);
    file.packet(&common(TracePacket {
        timestamp: Some(start),
        timestamp_clock_id: Some(CLOCK_MONOTONIC),
        track_event: Some(TrackEvent {
            r#type: Some(EventType::Instant as i32),
            track_uuid: Some(file.health),
            ..event
        }),
        ..TracePacket::default()
    }))
}

/// The waits that are not in the file, as an event next to the health event and as attributes.
pub(super) fn left_out(file: &mut File<'_>) -> io::Result<()> {
    let numbers = [
        ("waits_left_out", file.left_out.waits),
        ("waits_left_out_ns", file.left_out.ns),
        ("waits_shorter_than_ns", u64::from(WAIT_FROM_NS)),
    ];
    let attribute = |(key, n): (&str, u64)| Attribute {
        key: Some(format!("profinfer.{key}")),
        string_value: Some(n.to_string()),
    };
    file.packet(&common(TracePacket {
        trace_attributes: Some(TraceAttributes { attribute: numbers.into_iter().map(attribute).collect() }),
        ..TracePacket::default()
    }))?;
    if file.left_out.waits == 0 {
        return Ok(());
    }
    let annotation = |(name, n): (&str, u64)| DebugAnnotation {
        name: Some(name.to_owned()),
        uint_value: Some(n),
        ..DebugAnnotation::default()
    };
    let event = TrackEvent {
        name: Some(format!("{} barrier waits shorter than 1 µs are not shown", file.left_out.waits)),
        debug_annotations: numbers.into_iter().map(annotation).collect(),
        ..TrackEvent::default()
    };
    instant(file, event)
}

/// Describes a process; the following tracks belong to it.
pub(super) fn process(file: &mut File<'_>, process: &Process<'_>) -> io::Result<()> {
    // 0 means an unknown process; to Perfetto it would be the kernel's idle task.
    let pid = i32::try_from(process.pid).ok().filter(|pid| *pid > 0);
    let uuid = file.next_uuid();
    let mut descriptor = TrackDescriptor {
        uuid: Some(uuid),
        child_ordering: Some(ChildTracksOrdering::Explicit as i32),
        ..TrackDescriptor::default()
    };
    if pid.is_some() {
        let cmdline = if process.command.is_empty() { vec![] } else { vec![process.command.to_owned()] };
        let process_name = Some(process.name.clone());
        descriptor.process = Some(ProcessDescriptor { pid, cmdline, process_name });
    } else {
        descriptor.name = Some(process.name.clone());
    }
    file.packet(&describe(descriptor))?;
    file.parent = Parent { uuid, pid };
    Ok(())
}

/// Describes a track and returns its id: the track of a thread as that thread, any other as a named
/// track of its process.
pub(super) fn track(file: &mut File<'_>, row: &Row<'_>) -> io::Result<u64> {
    let (uuid, parent) = (file.next_uuid(), file.parent);
    let mut descriptor = TrackDescriptor { uuid: Some(uuid), ..TrackDescriptor::default() };
    match &row.content {
        Content::Slices(track, _)
            if parent.pid.is_some() && track.kind == TrackKind::Thread && track.lane == 0 =>
        {
            let name = file.model.texts.get(file.model.threads.get(track.thread).name);
            descriptor.thread = Some(ThreadDescriptor {
                pid: parent.pid,
                tid: Some(i64::from(track.tid)),
                thread_name: Some(name.to_owned()).filter(|n| !n.is_empty()),
            });
        }
        _ => {
            descriptor.name = Some(row.name.clone());
            descriptor.parent_uuid = Some(parent.uuid);
            descriptor.sibling_order_rank = Some(row.rank);
        }
    }
    file.packet(&describe(descriptor))?;
    Ok(uuid)
}

/// Describes a track with a name only, which holds others together.
pub(super) fn group(file: &mut File<'_>, name: &str) -> io::Result<u64> {
    let uuid = file.next_uuid();
    let name = Some(name.to_owned());
    file.packet(&describe(TrackDescriptor { uuid: Some(uuid), name, ..TrackDescriptor::default() }))?;
    Ok(uuid)
}

/// Describes a counter below `parent_uuid`.
pub(super) fn counter(file: &mut File<'_>, counter: &Counter<'_>, parent_uuid: u64) -> io::Result<u64> {
    let uuid = file.next_uuid();
    file.packet(&describe(TrackDescriptor {
        uuid: Some(uuid),
        name: Some(counter.name.to_owned()),
        parent_uuid: Some(parent_uuid),
        counter: Some(CounterDescriptor { unit_name: Some(counter.unit.to_owned()) }),
        ..TrackDescriptor::default()
    }))?;
    Ok(uuid)
}

pub(super) fn common(packet: TracePacket) -> TracePacket {
    TracePacket { trusted_packet_sequence_id: Some(COMMON_SEQUENCE), ..packet }
}

fn describe(descriptor: TrackDescriptor) -> TracePacket {
    common(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })
}

/// All times are of the monotonic clock. The wall clock is added if the session has read both.
fn clocks(file: &File<'_>) -> TracePacket {
    let session = &file.model.session;
    let clock = |id, ns| Clock { clock_id: Some(id), timestamp: Some(ns), ..Clock::default() };
    let mut clocks = vec![clock(CLOCK_MONOTONIC, file.origin_ns)];
    if session.start_ns != 0 && session.start_unix_ns != 0 {
        // The origin of a file can be before the start of the session, that of a part after it.
        let unix = session.start_unix_ns.checked_add(file.origin_ns);
        let unix = unix.and_then(|ns| ns.checked_sub(session.start_ns));
        clocks.extend(unix.map(|ns| clock(CLOCK_REALTIME, ns)));
    }
    TracePacket {
        timestamp: Some(file.origin_ns),
        timestamp_clock_id: Some(CLOCK_MONOTONIC),
        clock_snapshot: Some(ClockSnapshot { clocks, primary_trace_clock: Some(CLOCK_MONOTONIC) }),
        ..TracePacket::default()
    }
}

fn attributes(file: &File<'_>) -> Vec<Attribute> {
    let attribute = |key: &str, text: String| Attribute {
        key: Some(format!("profinfer.{key}")),
        string_value: Some(text),
    };
    let facts =
        metadata::facts(file.model, file.analysis).into_iter().map(|(key, text)| attribute(key, text));
    let lines = words::health::lines(&file.analysis.health);
    let health = (0..).zip(lines).map(|(n, line): (u32, _)| attribute(&format!("health.{n}"), line));
    let part = file.part;
    let part = (part.of > 1).then(|| attribute("part", format!("{} of {}", part.number, part.of)));
    facts.chain(part).chain(health).collect()
}

fn health(file: &File<'_>) -> TrackEvent {
    let lines = words::health::lines(&file.analysis.health);
    let name = metadata::headline(&lines).to_owned();
    let line = |text: String| DebugAnnotation { string_value: Some(text), ..DebugAnnotation::default() };
    TrackEvent {
        name: Some(name),
        debug_annotations: vec![DebugAnnotation {
            name: Some("lines".to_owned()),
            array_values: lines.into_iter().map(line).collect(),
            ..DebugAnnotation::default()
        }],
        ..TrackEvent::default()
    }
}
