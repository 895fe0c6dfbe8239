//! Packets that describe the file, its processes and tracks.

use std::io;

use super::message::{
    Attribute, CLOCK_MONOTONIC, CLOCK_REALTIME, ChildTracksOrdering, Clock, ClockSnapshot, DebugAnnotation,
    EventType, ProcessDescriptor, ThreadDescriptor, TraceAttributes, TracePacket, TrackDescriptor,
    TrackEvent,
};
use super::{COMMON_SEQUENCE, File};
use crate::analyses::track::{Track, TrackKind};
use crate::views::timeline::metadata::{self, HEALTH};
use crate::views::timeline::process::Process;
use crate::views::words;

/// Where tracks of a process belong.
#[derive(Clone, Copy)]
pub(super) struct Parent {
    pub(super) uuid: u64,
    /// Process id; `None` where it is not one.
    pid: Option<i32>,
}

/// Clocks, metadata, and the health of the recording as the first event.
pub(super) fn head(file: &mut File<'_>) -> io::Result<()> {
    file.packet(&TracePacket { first_packet_on_sequence: Some(true), ..common(clocks(file)) })?;
    file.packet(&common(TracePacket {
        trace_attributes: Some(TraceAttributes { attribute: attributes(file) }),
        ..TracePacket::default()
    }))?;
    let uuid = file.next_uuid();
    file.packet(&describe(TrackDescriptor {
        uuid: Some(uuid),
        name: Some(HEALTH.to_owned()),
        ..TrackDescriptor::default()
    }))?;
    let event = health(file, uuid);
    file.packet(&common(TracePacket {
        timestamp: Some(metadata::first_ns(file.model, file.analysis)),
        timestamp_clock_id: Some(CLOCK_MONOTONIC),
        track_event: Some(event),
        ..TracePacket::default()
    }))
}

/// Describes a process.
pub(super) fn process(file: &mut File<'_>, process: &Process<'_>) -> io::Result<Parent> {
    // 0 stands for a process that is not known, which to Perfetto would be the kernel's idle task.
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
    Ok(Parent { uuid, pid })
}

/// Describes a track and gives its id: a thread's own track as such, any other as a named one of its process.
pub(super) fn track(file: &mut File<'_>, track: &Track, parent: Parent, rank: i32) -> io::Result<u64> {
    let uuid = file.next_uuid();
    let mut descriptor = TrackDescriptor { uuid: Some(uuid), ..TrackDescriptor::default() };
    if parent.pid.is_some() && track.kind == TrackKind::Thread && track.lane == 0 {
        let name = file.model.texts.get(file.model.threads.get(track.thread).name);
        descriptor.thread = Some(ThreadDescriptor {
            pid: parent.pid,
            tid: Some(i64::from(track.tid)),
            thread_name: Some(name.to_owned()).filter(|n| !n.is_empty()),
        });
    } else {
        descriptor.name = Some(track.track.clone());
        descriptor.parent_uuid = Some(parent.uuid);
        descriptor.sibling_order_rank = Some(rank);
    }
    file.packet(&describe(descriptor))?;
    Ok(uuid)
}

pub(super) fn common(packet: TracePacket) -> TracePacket {
    TracePacket { trusted_packet_sequence_id: Some(COMMON_SEQUENCE), ..packet }
}

pub(super) fn describe(descriptor: TrackDescriptor) -> TracePacket {
    common(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })
}

/// All times are of the monotonic clock; the wall clock at its side, where the session has read both.
fn clocks(file: &File<'_>) -> TracePacket {
    let session = &file.model.session;
    let clock = |id, ns| Clock { clock_id: Some(id), timestamp: Some(ns), ..Clock::default() };
    let mut clocks = vec![clock(CLOCK_MONOTONIC, file.origin_ns)];
    if session.start_ns != 0 && session.start_unix_ns != 0 {
        // The origin is never behind the start.
        let earlier = session.start_ns - file.origin_ns;
        clocks.extend(session.start_unix_ns.checked_sub(earlier).map(|ns| clock(CLOCK_REALTIME, ns)));
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
    facts.chain(health).collect()
}

fn health(file: &File<'_>, track_uuid: u64) -> TrackEvent {
    let lines = words::health::lines(&file.analysis.health);
    let name = metadata::headline(&lines).to_owned();
    let line = |text: String| DebugAnnotation { string_value: Some(text), ..DebugAnnotation::default() };
    TrackEvent {
        r#type: Some(EventType::Instant as i32),
        track_uuid: Some(track_uuid),
        name: Some(name),
        debug_annotations: vec![DebugAnnotation {
            name: Some("lines".to_owned()),
            array_values: lines.into_iter().map(line).collect(),
            ..DebugAnnotation::default()
        }],
        ..TrackEvent::default()
    }
}
