//! The encodings of docs/wire-format.md by hand: LEB128, postcard's forms, CRC-32C bit by bit,
//! COBS, frames.

/// The bytes of one record, built field by field.
#[derive(Debug, Default, Clone)]
pub struct Fields(pub Vec<u8>);

impl Fields {
    /// Unsigned integer of 16 bits or more.
    pub fn uint(mut self, mut v: u64) -> Self {
        while v > 127 {
            self.0.push((v % 128 + 128) as u8);
            v /= 128;
        }
        self.0.push(v as u8);
        self
    }

    /// Signed integer of 16 bits or more.
    pub fn int(self, v: i64) -> Self {
        self.uint(if v < 0 { (-(v + 1)) as u64 * 2 + 1 } else { v as u64 * 2 })
    }

    /// Unsigned integer of 8 bits, or a flag.
    pub fn byte(mut self, v: u8) -> Self {
        self.0.push(v);
        self
    }

    /// Text.
    pub fn text(self, s: &str) -> Self {
        self.bytes(s.as_bytes())
    }

    /// Bytes with their number before them.
    pub fn bytes(self, b: &[u8]) -> Self {
        let mut f = self.uint(b.len() as u64);
        f.0.extend_from_slice(b);
        f
    }

    /// Value or none.
    pub fn maybe(self, v: Option<u64>) -> Self {
        match v {
            Some(v) => self.byte(1).uint(v),
            None => self.byte(0),
        }
    }
}

/// CRC-32C: reflected polynomial 0x82f63b78, all ones before and after.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for b in bytes {
        crc ^= u32::from(*b);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    !crc
}

/// Consistent overhead byte stuffing, without the ending zero.
pub fn cobs(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for group in raw.split(|b| *b == 0) {
        let mut rest = group;
        while rest.len() >= 254 {
            out.push(255);
            out.extend_from_slice(&rest[..254]);
            rest = &rest[254..];
        }
        out.push(rest.len() as u8 + 1);
        out.extend_from_slice(rest);
    }
    out
}

/// A complete frame as in the stream.
pub fn frame(kind: u16, seq: u32, payload: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    raw.extend_from_slice(&kind.to_le_bytes());
    raw.extend_from_slice(&seq.to_le_bytes());
    raw.extend_from_slice(&(payload.len() as u16).to_le_bytes());
    raw.extend_from_slice(payload);
    let crc = crc32c(&raw);
    raw.extend_from_slice(&crc.to_le_bytes());
    let mut out = cobs(&raw);
    out.push(0);
    out
}

/// The hello of a stream of `version`.
pub fn hello(version: u16) -> Vec<u8> {
    let mut b = b"PROFINF\x1a\n\r\n\r\x00\xff\n\n".to_vec();
    b.extend_from_slice(&version.to_le_bytes());
    b.extend_from_slice(&[0, 0, 0, 1, 0, 0]);
    b.extend_from_slice(&[0xb1; 8]);
    b.extend_from_slice(&[0x5e; 16]);
    b.extend_from_slice(&[0; 12]);
    let crc = crc32c(&b);
    b.extend_from_slice(&crc.to_le_bytes());
    b
}

#[test]
fn catalogue_values() {
    // The check value of CRC-32/ISCSI, and the examples of the COBS paper.
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    assert_eq!(cobs(&[0]), [1, 1]);
    assert_eq!(cobs(&[0x11, 0x22, 0, 0x33]), [3, 0x11, 0x22, 2, 0x33]);
    assert_eq!(hello(1).len(), 64);
    assert_eq!(Fields::default().int(-1).int(1).int(-64).0, [1, 2, 127]);
    assert_eq!(Fields::default().uint(300).0, [0xac, 2]);
}
