//! Bytes to records.
//!
//! Stage: first. From: the bytes of a stream, cut anywhere. To: [`Found`], which `ingest` reads.
//! Promises: opens no file and no socket. After the hello it never fails and never panics: bytes
//! that are not a record are [`Found::Damage`], with kind, place and size.

use profinfer_wire::SUPPORTED_VERSIONS;
use profinfer_wire::accumulator::{self, Accumulator, DamageKind as WireDamage};
use profinfer_wire::frame::{Frame, FrameError};
use profinfer_wire::hello::{HELLO_LEN, Hello, HelloError};
use profinfer_wire::record::{Record, RecordError};

/// One item of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<'a> {
    /// The complete hello.
    Hello(Hello),
    /// A record.
    Record {
        /// Offset of its frame in the stream.
        offset: u64,
        /// Bytes of the frame, the ending zero included.
        bytes: u64,
        /// Sequence number of the frame.
        seq: u32,
        /// The record.
        record: Record<'a>,
    },
    /// Something that is not a record.
    Damage(Damage),
    /// The stream ends in the middle of a frame: the recording is cut, not damaged.
    Cut {
        /// Offset of the frame's first byte in the stream.
        offset: u64,
        /// Bytes of the frame that arrived.
        bytes: u64,
    },
}

/// Bytes or frames that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// What is wrong.
    pub kind: DamageKind,
    /// Offset in the stream.
    pub offset: u64,
    /// Bytes lost to it; 0 for frames that never came.
    pub bytes: u64,
    /// Number of frames for a gap; otherwise 1.
    pub count: u64,
}

/// Kinds of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// The hello is recognisable, but its checksum is wrong.
    Hello,
    /// Too many bytes without a frame's end.
    Overlong,
    /// Not a frame.
    Frame(FrameError),
    /// Sequence numbers are missing.
    Gap,
    /// A sequence number came again.
    Repeated,
    /// Not a record of its kind.
    Malformed(u16),
    /// A kind that this build does not know.
    UnknownKind(u16),
}

/// Why a stream cannot be read at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// No bytes.
    #[error("it is empty")]
    Empty,
    /// Another file or service.
    #[error("it does not begin with a ProfInfer hello")]
    NotAStream,
    /// The link rewrites line ends.
    #[error("line ends were rewritten on the way")]
    NewlinesRewritten,
    /// Made by a newer agent.
    #[error("its wire version {found} is newer than this program reads")]
    Newer {
        /// The stream's version.
        found: u16,
    },
    /// Made by an older agent.
    #[error("its wire version {found} is older than this program reads")]
    Older {
        /// The stream's version.
        found: u16,
    },
}

/// The decoder: push bytes in, get records out.
#[derive(Debug)]
pub struct Decoder {
    hello: Option<Vec<u8>>,
    accumulator: Accumulator,
    offset: u64,
    next_seq: u32,
    /// The hello was damaged, so the version is still unknown.
    version_unknown: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        let hello = Some(Vec::with_capacity(HELLO_LEN));
        Self { hello, accumulator: Accumulator::new(), offset: 0, next_seq: 0, version_unknown: false }
    }

    /// Reads the next bytes and passes each item to `sink`.
    ///
    /// # Errors
    /// [`OpenError`], only while the hello is read. If the hello was damaged, until the session
    /// record gives the version.
    pub fn feed(&mut self, mut input: &[u8], sink: &mut dyn FnMut(Found<'_>)) -> Result<(), OpenError> {
        if let Some(hello) = &mut self.hello {
            let missing = HELLO_LEN - hello.len();
            let (head, rest) = input.split_at(missing.min(input.len()));
            hello.extend_from_slice(head);
            input = rest;
            if hello.len() < HELLO_LEN {
                return Ok(());
            }
            let bytes = std::mem::take(hello);
            self.hello = None;
            self.offset = HELLO_LEN as u64;
            self.open(&bytes, sink)?;
        }
        while !input.is_empty() {
            // Zeros between frames belong to no frame, so that a frame's offset and size are exact.
            if self.accumulator.pending() == 0 && input[0] == 0 {
                input = &input[1..];
                self.offset += 1;
                continue;
            }
            let before = input.len();
            let begun = self.offset - self.accumulator.pending();
            match self.accumulator.feed(&mut input) {
                Some(accumulator::Found::Frame(frame)) => {
                    self.offset += (before - input.len()) as u64;
                    let bytes = self.offset - begun;
                    if std::mem::take(&mut self.version_unknown) {
                        check_version(&frame)?;
                    }
                    judge(&mut self.next_seq, begun, bytes, &frame, sink);
                }
                Some(accumulator::Found::Damage(d)) => {
                    self.offset += (before - input.len()) as u64;
                    let kind = match d.kind {
                        WireDamage::Overlong => DamageKind::Overlong,
                        WireDamage::Frame(e) => DamageKind::Frame(e),
                    };
                    sink(Found::Damage(Damage { kind, offset: begun, bytes: d.bytes, count: 1 }));
                }
                None => self.offset += (before - input.len()) as u64,
            }
        }
        Ok(())
    }

    /// Sequence number of the next frame.
    #[must_use]
    pub fn next_seq(&self) -> u32 {
        self.next_seq
    }

    /// Drops a frame that began and did not end, because it will be sent again. Returns its bytes
    /// so far.
    pub fn forget_partial(&mut self) -> u64 {
        let pending = self.accumulator.pending();
        self.accumulator = Accumulator::new();
        self.offset -= pending;
        pending
    }

    /// The stream has no more bytes.
    ///
    /// # Errors
    /// [`OpenError`] if not even the beginning of a hello came.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Found<'_>)) -> Result<(), OpenError> {
        if let Some(hello) = self.hello.take() {
            return match Hello::parse(&hello) {
                _ if hello.is_empty() => Err(OpenError::Empty),
                // Cut inside the hello: a stream that was cut short very early.
                Err(HelloError::Short { .. }) => Ok(()),
                _ => Err(OpenError::NotAStream),
            };
        }
        let pending = self.accumulator.pending();
        if pending > 0 {
            sink(Found::Cut { offset: self.offset - pending, bytes: pending });
            self.accumulator = Accumulator::new();
        }
        Ok(())
    }

    fn open(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Found<'_>)) -> Result<(), OpenError> {
        match Hello::parse(bytes) {
            Ok(hello) => sink(Found::Hello(hello)),
            // The session record repeats the important fields; the next zero byte begins a frame.
            Err(HelloError::Damaged) => {
                self.version_unknown = true;
                let bytes = bytes.len() as u64;
                sink(Found::Damage(Damage { kind: DamageKind::Hello, offset: 0, bytes, count: 1 }));
            }
            Err(HelloError::NewlinesRewritten) => return Err(OpenError::NewlinesRewritten),
            Err(HelloError::Newer { found }) => return Err(OpenError::Newer { found }),
            Err(HelloError::Older { found }) => return Err(OpenError::Older { found }),
            Err(HelloError::NotAStream | HelloError::Short { .. }) => return Err(OpenError::NotAStream),
        }
        Ok(())
    }
}

/// The version in a session record. The first frame is one, unless it was damaged too.
fn check_version(frame: &Frame<'_>) -> Result<(), OpenError> {
    match Record::decode(frame) {
        Ok(Record::Session(s)) if !SUPPORTED_VERSIONS.contains(&s.wire_version) => {
            let found = s.wire_version;
            let newer = SUPPORTED_VERSIONS.iter().all(|v| found > *v);
            Err(if newer { OpenError::Newer { found } } else { OpenError::Older { found } })
        }
        _ => Ok(()),
    }
}

/// Checks a complete frame's sequence number and payload.
fn judge(next_seq: &mut u32, offset: u64, bytes: u64, frame: &Frame<'_>, sink: &mut dyn FnMut(Found<'_>)) {
    let record = Record::decode(frame);
    // Frames that the host added at the borders of pieces have no number in the stream.
    let goes_on = match &record {
        Ok(Record::Piece(p)) => frame.seq.wrapping_add(1).wrapping_add(p.carried),
        _ => frame.seq,
    };
    let first = *next_seq == 0;
    let ahead = match &record {
        // A single piece: the frames before are in other pieces, not lost.
        Ok(Record::Piece(_)) if first => 0,
        _ => goes_on.wrapping_sub(*next_seq),
    };
    if ahead > u32::MAX / 2 {
        sink(Found::Damage(Damage { kind: DamageKind::Repeated, offset, bytes, count: 1 }));
        return;
    }
    if ahead > 0 {
        sink(Found::Damage(Damage { kind: DamageKind::Gap, offset, bytes: 0, count: ahead.into() }));
    }
    *next_seq = match &record {
        Ok(Record::PieceEnd(_)) => frame.seq,
        _ => frame.seq.wrapping_add(1),
    };
    match record {
        Ok(record) => sink(Found::Record { offset, bytes, seq: frame.seq, record }),
        Err(e) => {
            let kind = match e {
                RecordError::Unknown { kind } => DamageKind::UnknownKind(kind),
                RecordError::Malformed { kind } => DamageKind::Malformed(kind),
            };
            sink(Found::Damage(Damage { kind, offset, bytes, count: 1 }));
        }
    }
}
