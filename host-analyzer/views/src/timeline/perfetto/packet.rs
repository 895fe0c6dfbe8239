//! Packets of slices, laid out by hand: a recording has millions of them.
//!
//! `prost` decodes the bytes to the intended [`super::message::TracePacket`]; a test verifies that. The
//! time comes last and has one of three lengths, so that everything before it is identical for all
//! slices of a node.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::message::{COMPRESSED_PACKETS, NEEDS_INCREMENTAL_STATE, TRACE_PACKET};

const VARINT: u32 = 0;
const BYTES: u32 = 2;

/// Key of a field below 16; slices need no others.
const fn key(field: u32, wire_type: u32) -> u8 {
    assert!(field < 16, "the key would take two bytes");
    (field << 3 | wire_type) as u8
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

/// Lengths of the time in bytes, each with the first value that needs the next length.
const TIMES: [(usize, u64); 3] = [(2, 1 << 14), (3, 1 << 21), (10, u64::MAX)];

/// Size in bytes from which a bundle is compressed and written: Perfetto requires less than 512 KiB.
const BUNDLE: usize = 440 * 1024;

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

/// Begin or end of a slice without its time, for each length of the time. Made on first use.
#[derive(Default)]
pub(super) struct Forms<Of>([(Option<Of>, Vec<u8>); 3]);

/// Packets of one sequence after another, before they are written.
#[derive(Default)]
pub(super) struct Bundle {
    packets: Vec<u8>,
    /// Kept to reuse the allocation, like `stream`.
    event: Vec<u8>,
    stream: Vec<u8>,
}

impl Bundle {
    /// Adds an event of `sequence`, `delta` ns after the previous one. `forms` contains it if it was
    /// made for the same `of`; otherwise `make` encodes the `TrackEvent`.
    #[inline]
    pub(super) fn event<Of: PartialEq>(
        &mut self,
        sequence: u32,
        delta: u64,
        Forms(forms): &mut Forms<Of>,
        of: Of,
        make: impl FnOnce(&mut Vec<u8>),
    ) {
        let form = usize::from(delta >= TIMES[0].1) + usize::from(delta >= TIMES[1].1);
        let len = TIMES[form].0;
        let (made_for, packet) = &mut forms[form];
        if made_for.as_ref() != Some(&of) {
            self.event.clear();
            make(&mut self.event);
            without_time(sequence, &self.event, len, packet);
            *made_for = Some(of);
        }
        let mut time = [0; 10];
        let mut rest = delta;
        for byte in &mut time[..len] {
            *byte = rest as u8 | 0x80;
            rest >>= 7;
        }
        time[len - 1] &= 0x7F;
        self.packets.extend_from_slice(packet);
        self.packets.extend_from_slice(&time[..len]);
    }

    /// Adds a packet with an encoded `InternedData`, if it is not empty.
    #[inline]
    pub(super) fn interned(&mut self, sequence: u32, interned: &[u8]) {
        if interned.is_empty() {
            return;
        }
        let content = &mut self.event;
        content.clear();
        common(sequence, content);
        field(content, INTERNED_DATA, interned);
        field(&mut self.packets, PACKET, content);
    }

    /// Whether the bundle is due to be written.
    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.packets.len() >= BUNDLE
    }

    /// Appends everything that was added to the bytes of the file.
    ///
    /// # Errors
    /// None: it writes to memory.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        if self.packets.is_empty() {
            return Ok(());
        }
        let mut encoder = ZlibEncoder::new(std::mem::take(&mut self.stream), Compression::fast());
        encoder.write_all(&self.packets)?;
        self.stream = encoder.finish()?;
        compressed_packets(&self.stream, out);
        self.packets.clear();
        self.stream.clear();
        Ok(())
    }
}

fn compressed_packets(stream: &[u8], out: &mut Vec<u8>) {
    let mut head = Vec::with_capacity(16);
    varint(&mut head, u64::from(COMPRESSED_PACKETS << 3 | BYTES));
    varint(&mut head, stream.len() as u64);
    out.push(PACKET);
    varint(out, (head.len() + stream.len()) as u64);
    out.extend_from_slice(&head);
    out.extend_from_slice(stream);
}

fn common(sequence: u32, content: &mut Vec<u8>) {
    content.push(SEQUENCE_ID);
    varint(content, u64::from(sequence));
    content.extend_from_slice(&[SEQUENCE_FLAGS, NEEDS_INCREMENTAL_STATE as u8]);
}

/// A packet up to the time, which takes `len` bytes.
fn without_time(sequence: u32, track_event: &[u8], len: usize, packet: &mut Vec<u8>) {
    let mut content = Vec::with_capacity(track_event.len() + 16);
    common(sequence, &mut content);
    field(&mut content, TRACK_EVENT, track_event);
    content.push(TIMESTAMP);
    packet.clear();
    packet.push(PACKET);
    varint(packet, (content.len() + len) as u64);
    packet.extend_from_slice(&content);
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
    // Two keys and two varints of at most ten bytes: the length fits into the reserved byte.
    track_event[start - 1] = (track_event.len() - start) as u8;
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;
    use prost::Message;

    use super::*;
    use crate::timeline::perfetto::message::{
        DebugAnnotation, EventType, InternedData, InternedString, TracePacket, TrackEvent,
    };

    /// The packets of a file, with bundles unpacked.
    fn packets(mut file: &[u8]) -> Vec<TracePacket> {
        let mut all = Vec::new();
        while let Some((key, rest)) = file.split_first() {
            assert_eq!(*key, PACKET);
            file = rest;
            let packet = TracePacket::decode_length_delimited(&mut file).expect("a packet");
            match &packet.compressed_packets {
                None => all.push(packet),
                Some(compressed) => {
                    let mut bytes = Vec::new();
                    ZlibDecoder::new(&compressed[..]).read_to_end(&mut bytes).expect("a bundle");
                    all.extend(packets(&bytes));
                }
            }
        }
        all
    }

    #[test]
    fn a_packet_by_hand_is_the_packet_by_prost() {
        let (mut bundle, mut forms, mut file) = (Bundle::default(), Forms::default(), Vec::new());
        let mut expected = Vec::new();
        let edges = [0, 1, 127, (1 << 14) - 1, 1 << 14, (1 << 21) - 1, 1 << 21, u64::MAX];
        for (sequence, cpu) in [(1, 0), (127, 127), (300, 128), (u32::MAX, 65_535)] {
            let names = vec![InternedString { iid: Some(70_000), text: Some("x".repeat(300)) }];
            let interned = InternedData { event_names: names, ..InternedData::default() };
            let common = |track_event, timestamp, interned_data| TracePacket {
                timestamp,
                trusted_packet_sequence_id: Some(sequence),
                track_event,
                interned_data,
                sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
                ..TracePacket::default()
            };
            bundle.interned(sequence, &interned.encode_to_vec());
            bundle.interned(sequence, &[]);
            expected.push(common(None, None, Some(interned)));
            let annotation = |name_iid, uint_value, bool_value| DebugAnnotation {
                name_iid: Some(name_iid),
                uint_value,
                bool_value,
                ..DebugAnnotation::default()
            };
            let event = TrackEvent {
                category_iids: vec![1, 200],
                r#type: Some(EventType::SliceBegin as i32),
                name_iid: Some(70_000),
                ..TrackEvent::default()
            };
            let debug_annotations =
                vec![annotation(9, Some(cpu), None), annotation(1 << 40, None, Some(true))];
            let meant = TrackEvent { debug_annotations, ..event.clone() };
            for delta in edges.into_iter().chain(edges) {
                bundle.event(sequence, delta, &mut forms, (sequence, cpu), |bytes| {
                    event.encode(bytes).expect("room");
                    annotate_uint(bytes, 9, cpu);
                    annotate_bool(bytes, 1 << 40, true);
                });
                expected.push(common(Some(meant.clone()), Some(delta), None));
            }
            bundle.finish(&mut file).expect("memory");
        }
        bundle.finish(&mut file).expect("memory");
        assert_eq!(packets(&file), expected);
    }
}
