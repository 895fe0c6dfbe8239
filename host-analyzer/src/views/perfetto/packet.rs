//! Packets of slices, laid out by hand: a recording has millions of them.
//!
//! The result is what `prost` makes of the same [`super::message::TracePacket`]; a test holds the two together.

use super::message::{NEEDS_INCREMENTAL_STATE, TRACE_PACKET};

const VARINT: u8 = 0;
const BYTES: u8 = 2;

/// Key of a field below 16, the only ones that slices need.
const fn key(field: u32, wire_type: u8) -> u8 {
    assert!(field < 16, "the key would take two bytes");
    (field as u8) << 3 | wire_type
}

pub(super) const PACKET: u8 = key(TRACE_PACKET, BYTES);
const TIMESTAMP: u8 = key(8, VARINT);
const SEQUENCE_ID: u8 = key(10, VARINT);
const TRACK_EVENT: u8 = key(11, BYTES);
const INTERNED_DATA: u8 = key(12, BYTES);
const SEQUENCE_FLAGS: u8 = key(13, VARINT);

const DEBUG_ANNOTATION: u8 = key(4, BYTES);
const ANNOTATION_NAME_IID: u8 = key(1, VARINT);
const ANNOTATION_BOOL: u8 = key(2, VARINT);
const ANNOTATION_UINT: u8 = key(3, VARINT);

/// Appends a base-128 varint.
#[inline]
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a field of bytes.
#[inline]
pub(super) fn field(bytes: &mut Vec<u8>, key: u8, content: &[u8]) {
    bytes.push(key);
    varint(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

/// Bytes of a varint.
const fn varint_len(value: u64) -> usize {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// Bytes of a field of bytes.
const fn field_len(content: &[u8]) -> usize {
    1 + varint_len(content.len() as u64) + content.len()
}

/// Builds packets of one sequence, without memory of its own for each.
pub(super) struct Packets {
    sequence: Vec<u8>,
}

impl Packets {
    pub(super) fn new(sequence: u32) -> Self {
        let mut id = vec![SEQUENCE_ID];
        varint(&mut id, u64::from(sequence));
        Self { sequence: id }
    }

    /// Appends a packet: `delta` ns after the one before it, with an encoded `TrackEvent` and, where
    /// there is something to define, an encoded `InternedData`.
    #[inline]
    pub(super) fn event(&self, out: &mut Vec<u8>, delta: u64, track_event: &[u8], interned: &[u8]) {
        let flags = [SEQUENCE_FLAGS, NEEDS_INCREMENTAL_STATE as u8];
        let mut len = 1 + varint_len(delta) + self.sequence.len() + field_len(track_event) + flags.len();
        if !interned.is_empty() {
            len += field_len(interned);
        }
        out.push(PACKET);
        varint(out, len as u64);
        out.push(TIMESTAMP);
        varint(out, delta);
        out.extend_from_slice(&self.sequence);
        field(out, TRACK_EVENT, track_event);
        if !interned.is_empty() {
            field(out, INTERNED_DATA, interned);
        }
        out.extend_from_slice(&flags);
    }

    /// What a packet without definitions has behind its time: the same for every slice that says the same.
    pub(super) fn tail(&self, track_event: &[u8], tail: &mut Vec<u8>) {
        tail.clear();
        tail.extend_from_slice(&self.sequence);
        field(tail, TRACK_EVENT, track_event);
        tail.extend_from_slice(&[SEQUENCE_FLAGS, NEEDS_INCREMENTAL_STATE as u8]);
    }
}

/// Appends a packet: `delta` ns after the one before it, with a [`Packets::tail`].
#[inline]
pub(super) fn repeat(out: &mut Vec<u8>, delta: u64, tail: &[u8]) {
    out.push(PACKET);
    varint(out, (1 + varint_len(delta) + tail.len()) as u64);
    out.push(TIMESTAMP);
    varint(out, delta);
    out.extend_from_slice(tail);
}

/// Appends a debug annotation to an encoded `TrackEvent`.
#[inline]
pub(super) fn annotate_uint(track_event: &mut Vec<u8>, name_iid: u64, value: u64) {
    annotate(track_event, name_iid, ANNOTATION_UINT, value);
}

/// Appends a debug annotation to an encoded `TrackEvent`.
#[inline]
pub(super) fn annotate_bool(track_event: &mut Vec<u8>, name_iid: u64, value: bool) {
    annotate(track_event, name_iid, ANNOTATION_BOOL, u64::from(value));
}

#[inline]
fn annotate(track_event: &mut Vec<u8>, name_iid: u64, value_key: u8, value: u64) {
    track_event.extend_from_slice(&[DEBUG_ANNOTATION, 0]);
    let start = track_event.len();
    track_event.push(ANNOTATION_NAME_IID);
    varint(track_event, name_iid);
    track_event.push(value_key);
    varint(track_event, value);
    // Two keys and two varints of at most ten bytes: the length fits in the one byte left for it.
    track_event[start - 1] = (track_event.len() - start) as u8;
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::views::perfetto::message::{
        DebugAnnotation, EventType, InternedData, InternedString, TracePacket, TrackEvent,
    };

    #[test]
    fn a_packet_by_hand_is_the_packet_by_prost() {
        for (delta, sequence, cpu) in
            [(0, 1, 0), (127, 127, 127), (128, 300, 128), (u64::MAX, u32::MAX, 65_535)]
        {
            let event = TrackEvent {
                category_iids: vec![1, 200],
                r#type: Some(EventType::SliceBegin as i32),
                name_iid: Some(70_000),
                ..TrackEvent::default()
            };
            let names = vec![InternedString { iid: Some(70_000), text: Some("x".repeat(300)) }];
            let interned = InternedData { event_names: names, ..InternedData::default() };
            let mut encoded = event.encode_to_vec();
            annotate_uint(&mut encoded, 9, cpu);
            annotate_bool(&mut encoded, 1 << 40, true);
            let mut out = Vec::new();
            Packets::new(sequence).event(&mut out, delta, &encoded, &interned.encode_to_vec());

            let annotation = |name_iid, uint_value, bool_value| DebugAnnotation {
                name_iid: Some(name_iid),
                uint_value,
                bool_value,
                ..DebugAnnotation::default()
            };
            let debug_annotations =
                vec![annotation(9, Some(cpu), None), annotation(1 << 40, None, Some(true))];
            let expected = TracePacket {
                timestamp: Some(delta),
                trusted_packet_sequence_id: Some(sequence),
                track_event: Some(TrackEvent { debug_annotations, ..event }),
                interned_data: Some(interned),
                sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
                ..TracePacket::default()
            };
            assert_eq!(out[0], PACKET);
            assert_eq!(TracePacket::decode_length_delimited(&out[1..]), Ok(expected));

            let (mut plain, mut repeated, mut tail) = (Vec::new(), Vec::new(), Vec::new());
            Packets::new(sequence).event(&mut plain, delta, &encoded, &[]);
            Packets::new(sequence).tail(&encoded, &mut tail);
            repeat(&mut repeated, delta, &tail);
            assert_eq!(repeated, plain);
        }
    }
}
