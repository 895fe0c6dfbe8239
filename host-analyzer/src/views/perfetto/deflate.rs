//! Deflate (RFC 1951, 1950) for packets whose bytes are known to have been written before.
//!
//! A general compressor searches each byte for earlier ones; that takes several times as long as making the packets.
//! The writer of slices already knows that a packet repeats and where, so that nothing is searched or hashed here: a [`Block`]
//! remembers its last place. Codes are the fixed ones of the format, and the checksum of a block is computed once.

/// A reference reaches so far back.
const WINDOW: u32 = 32_768;
/// The longest reference, and the shortest.
const LONGEST: usize = 258;
const SHORTEST: usize = 3;

/// Bits to send, least significant first, and how many.
#[derive(Clone, Copy, Default)]
struct Code {
    bits: u32,
    len: u32,
}

/// Several codes: at most [`PUT`] bits.
#[derive(Clone, Copy, Default)]
struct Codes {
    bits: u64,
    len: u32,
}

impl Codes {
    #[inline]
    fn add(&mut self, code: Code) {
        self.bits |= u64::from(code.bits) << self.len;
        self.len += code.len;
    }
}

/// Bits that can be sent at once: up to seven are left from before.
const PUT: u32 = 56;
/// The most bits of a literal.
const LITERAL: u32 = 9;

/// Codes of the fixed Huffman tables for all literals and all lengths.
struct Tables {
    literal: [Code; 256],
    /// By the length, with the extra bits.
    length: [Code; LONGEST + 1],
}

static TABLES: Tables = tables();

/// Code of a symbol of literals and lengths: Huffman codes go from their most significant bit.
const fn symbol(value: u32) -> Code {
    let (code, len) = match value {
        0..=143 => (0x30 + value, 8),
        144..=255 => (0x190 + value - 144, 9),
        256..=279 => (value - 256, 7),
        _ => (0xC0 + value - 280, 8),
    };
    Code { bits: code.reverse_bits() >> (32 - len), len }
}

const fn tables() -> Tables {
    let mut tables =
        Tables { literal: [Code { bits: 0, len: 0 }; 256], length: [Code { bits: 0, len: 0 }; 259] };
    let mut value = 0;
    while value < 256 {
        tables.literal[value] = symbol(value as u32);
        value += 1;
    }
    // From symbol 265 on four symbols have the same number of extra bits, then four one more.
    let (mut value, mut length) = (257, SHORTEST);
    while value < 285 {
        let extra = if value < 265 { 0 } else { (value - 261) / 4 };
        let mut more = 0;
        while more < 1 << extra {
            let code = symbol(value);
            tables.length[length] = Code { bits: code.bits | more << code.len, len: code.len + extra };
            more += 1;
            length += 1;
        }
        value += 1;
    }
    tables.length[LONGEST] = symbol(285);
    tables
}

/// Code of a distance of 1 to [`WINDOW`].
#[inline]
const fn distance(distance: u32) -> Code {
    let before = distance - 1;
    let (value, extra) = match before {
        0..=3 => (before, 0),
        _ => {
            let log = before.ilog2();
            (2 * log + (before >> (log - 1) & 1), log - 1)
        }
    };
    let code = value.reverse_bits() >> 27;
    Code { bits: code | (before & ((1 << extra) - 1)) << 5, len: 5 + extra }
}

/// Bytes that are sent again and again.
#[derive(Default)]
pub(super) struct Block {
    bytes: Vec<u8>,
    /// What they add to Adler's two sums.
    sum: u64,
    weighted: u64,
    /// Where they were sent last: number of the stream (0 for none) and place in it.
    last: (u32, u32),
}

impl Block {
    /// Takes other bytes.
    pub(super) fn set(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.last = (0, 0);
        (self.sum, self.weighted) = (0, 0);
        for byte in bytes {
            self.sum += u64::from(*byte);
            self.weighted += self.sum;
        }
    }
}

/// One stream after the other.
#[derive(Default)]
pub(super) struct Deflate {
    /// The stream, up to `at`; behind it is room.
    out: Vec<u8>,
    at: usize,
    bits: u64,
    used: u32,
    /// Bytes of this stream before compression.
    len: u32,
    /// Adler's sums; a stream is so short that they need their remainder only once, at its end.
    sum: u64,
    weighted: u64,
    number: u32,
    /// The last block that was sent as literals, from its third byte on, and its place: similar ones often have the same beginning.
    similar: Vec<u8>,
    similar_at: u32,
}

impl Deflate {
    /// Bytes of this stream before compression.
    #[inline]
    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    fn begin(&mut self) {
        self.number += 1;
        // A window of 32 KiB, the fastest compressor; then the only block, with fixed codes.
        (self.at, self.bits, self.used) = (0, 0, 0);
        self.put(Codes { bits: 0b011 << 16 | 0x0178, len: 19 });
        (self.sum, self.weighted) = (1, 0);
        self.similar.clear();
    }

    /// Ends the stream and gives it, until the next one begins.
    pub(super) fn finish(&mut self) -> &[u8] {
        let mut end = Codes::default();
        end.add(symbol(256));
        self.put(end);
        // Up to the next byte.
        self.put(Codes { bits: 0, len: (8 - self.used) % 8 });
        let adler = ((self.weighted % 65_521) << 16) | (self.sum % 65_521);
        self.put(Codes { bits: u64::from((adler as u32).swap_bytes()), len: 32 });
        self.len = 0;
        &self.out[..self.at]
    }

    /// Writes eight bytes, of which those that are complete stay.
    #[inline]
    fn put(&mut self, codes: Codes) {
        self.bits |= codes.bits << self.used;
        self.used += codes.len;
        if self.at + 8 > self.out.len() {
            self.out.resize(self.out.len() * 2 + 4096, 0);
        }
        self.out[self.at..self.at + 8].copy_from_slice(&self.bits.to_le_bytes());
        let complete = self.used / 8;
        self.at += complete as usize;
        self.bits >>= complete * 8;
        self.used %= 8;
    }

    #[inline]
    fn checksum(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.sum += u64::from(*byte);
            self.weighted += self.sum;
        }
    }

    /// Sends codes and then bytes.
    #[inline]
    fn put_literals(&mut self, mut codes: Codes, bytes: &[u8]) {
        for byte in bytes {
            if codes.len > PUT - LITERAL {
                self.put(std::mem::take(&mut codes));
            }
            codes.add(TABLES.literal[usize::from(*byte)]);
        }
        self.put(codes);
        self.len += bytes.len() as u32;
    }

    /// Codes for `length` bytes as they were `back` bytes ago, at most 13 bits and 18.
    #[inline]
    fn reference(&mut self, length: usize, back: u32) -> Codes {
        let mut codes = Codes::default();
        codes.add(TABLES.length[length]);
        codes.add(distance(back));
        self.len += length as u32;
        codes
    }

    /// Sends a block and bytes behind it.
    #[inline]
    pub(super) fn block(&mut self, block: &mut Block, behind: &[u8]) {
        if self.len == 0 {
            self.begin();
        }
        let here = (self.number, self.len);
        self.weighted += self.sum * block.bytes.len() as u64 + block.weighted;
        self.sum += block.sum;
        self.checksum(behind);
        let (number, at) = std::mem::replace(&mut block.last, here);
        let fits = matches!(block.bytes.len(), SHORTEST..=LONGEST);
        let codes = match number == here.0 && here.1 - at <= WINDOW && fits {
            true => self.reference(block.bytes.len(), here.1 - at),
            false => {
                self.like_another(&block.bytes);
                Codes::default()
            }
        };
        self.put_literals(codes, behind);
    }

    /// The first two bytes, then what is as in the last block that came here, then the rest.
    fn like_another(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(2));
        self.put_literals(Codes::default(), head);
        let back = self.len - self.similar_at.min(self.len);
        let same = rest.iter().zip(&self.similar).take_while(|(a, b)| a == b).count().min(LONGEST);
        let here = self.len;
        if same >= SHORTEST && (1..=WINDOW).contains(&back) {
            let codes = self.reference(same, back);
            self.put_literals(codes, &rest[same..]);
        } else {
            self.put_literals(Codes::default(), rest);
        }
        self.similar.clear();
        self.similar.extend_from_slice(rest);
        self.similar_at = here;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;
    use proptest::prelude::*;

    use super::{Block, Deflate};

    fn inflate(stream: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut decoder = ZlibDecoder::new(stream);
        decoder.read_to_end(&mut bytes).expect("a stream, with its checksum");
        assert_eq!(decoder.total_in(), stream.len() as u64, "something is behind the stream");
        bytes
    }

    fn blocks(texts: &[Vec<u8>]) -> Vec<Block> {
        let block = |text: &Vec<u8>| {
            let mut block = Block::default();
            block.set(text);
            block
        };
        texts.iter().map(block).collect()
    }

    /// Bytes that nothing refers to.
    fn literals(deflate: &mut Deflate, bytes: &[u8]) {
        deflate.block(&mut Block::default(), bytes);
    }

    #[test]
    fn every_byte_length_and_distance_is_read_back() {
        let mut deflate = Deflate::default();
        let all: Vec<u8> = (0..=255).chain(0..=2).collect();
        let mut expected = Vec::new();
        for length in 3..=258_usize {
            // The same first bytes, then one of its own, so that both kinds of references occur.
            let mut text = all[..length].to_vec();
            text[length - 1] ^= 0x55;
            let mut block = Block::default();
            block.set(&text);
            for gap in [0, 1, length % 7, 40 + length] {
                deflate.block(&mut block, &all[..gap.min(200)]);
                expected.extend_from_slice(&text);
                expected.extend_from_slice(&all[..gap.min(200)]);
            }
        }
        assert_eq!(inflate(deflate.finish()), expected);
    }

    #[test]
    fn a_reference_reaches_as_far_as_the_window_and_no_farther() {
        let text: Vec<u8> = (0..50).collect();
        let lens = [32_767, 32_768, 32_769].map(|distance| {
            let mut deflate = Deflate::default();
            let mut block = Block::default();
            block.set(&text);
            deflate.block(&mut block, &[]);
            let gap: Vec<u8> = (0..distance - 50).map(|i: u32| ((i * i) >> 3) as u8).collect();
            literals(&mut deflate, &gap);
            deflate.block(&mut block, &[]);
            let stream = deflate.finish().to_vec();
            assert_eq!(inflate(&stream), [&text[..], &gap, &text].concat());
            stream.len() as i64
        });
        assert!(lens[1] - lens[0] <= 2 && lens[2] - lens[1] > 30, "{lens:?}");
    }

    proptest! {
        #[test]
        fn what_is_sent_is_read_back(
            texts in prop::collection::vec(prop::collection::vec(0_u8..6, 0..400), 1..6),
            sent in prop::collection::vec((0_usize..8, prop::collection::vec(any::<u8>(), 0..5)), 1..300),
            streams in 1_usize..4,
        ) {
            let (mut deflate, mut blocks) = (Deflate::default(), blocks(&texts));
            for _ in 0..streams {
                let mut expected = vec![7];
                literals(&mut deflate, &[7]);
                for (which, gap) in &sent {
                    if let Some(block) = blocks.get_mut(*which) {
                        deflate.block(block, gap);
                        expected.extend_from_slice(&texts[*which]);
                        expected.extend_from_slice(gap);
                    }
                    literals(&mut deflate, gap);
                    expected.extend_from_slice(gap);
                }
                prop_assert_eq!(inflate(deflate.finish()), expected);
            }
        }
    }
}
