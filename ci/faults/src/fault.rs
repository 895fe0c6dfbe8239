//! Faults of a link.

use crate::random::Random;

/// Texts that consoles write between and inside frames.
const NOISE: [&[u8]; 4] = [
    b"[   12.345678] mmc0: new high speed SDXC card at address 0007\r\n",
    b"login: ",
    b"\0\0\0",
    b"random: crng init done\n",
];

/// Kinds of faults. Each changes the bytes of a stream in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Bytes are lost.
    Drop,
    /// Nothing arrives any more.
    Cut,
    /// A piece comes twice.
    Duplicate,
    /// Two neighbouring pieces are swapped.
    Reorder,
    /// A bit flips.
    Flip,
    /// A pause: a reader gets an empty piece.
    Stall,
    /// From here on, every line feed gets a carriage return before it.
    LineFeeds,
    /// From here on, carriage returns are dropped.
    CarriageReturns,
    /// Text of a console.
    Noise,
}

impl Fault {
    /// All kinds, in the order of the table that is printed.
    pub(crate) const ALL: [Self; 9] = [
        Self::Drop,
        Self::Cut,
        Self::Duplicate,
        Self::Reorder,
        Self::Flip,
        Self::Stall,
        Self::LineFeeds,
        Self::CarriageReturns,
        Self::Noise,
    ];

    /// Faults after which a host that requests again gets everything: the line continues, and the
    /// damage is visible as noise.
    pub(crate) const REPAIRABLE: [Self; 5] =
        [Self::Flip, Self::Stall, Self::LineFeeds, Self::CarriageReturns, Self::Noise];

    /// Its name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Drop => "bytes dropped",
            Self::Cut => "cut",
            Self::Duplicate => "piece duplicated",
            Self::Reorder => "pieces reordered",
            Self::Flip => "bit flipped",
            Self::Stall => "stalled",
            Self::LineFeeds => "\\n to \\r\\n",
            Self::CarriageReturns => "\\r dropped",
            Self::Noise => "console noise",
        }
    }

    /// Applies it to `bytes`, after byte `from`. Pauses are recorded in `stalls`.
    pub(crate) fn apply(
        self,
        bytes: &mut Vec<u8>,
        from: usize,
        stalls: &mut Vec<usize>,
        random: &mut Random,
    ) {
        if bytes.len() <= from {
            return;
        }
        let at = from + random.below(bytes.len() - from);
        // Small ones hit the middle of a frame, large ones many frames.
        let most = if random.once_in(4) { 5000 } else { 80 };
        let end = (at + 1 + random.below(most)).min(bytes.len());
        match self {
            Self::Drop => drop(bytes.drain(at..end)),
            Self::Cut => bytes.truncate(at),
            Self::Duplicate => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            Self::Reorder => bytes[at..end].rotate_left(random.below(end - at)),
            Self::Flip => bytes[at] ^= 1 << random.below(8),
            Self::Stall => stalls.push(at),
            Self::LineFeeds => rewrite(bytes, at, |b, out| {
                if b == b'\n' {
                    out.push(b'\r');
                }
                out.push(b);
            }),
            Self::CarriageReturns => rewrite(bytes, at, |b, out| {
                if b != b'\r' {
                    out.push(b);
                }
            }),
            Self::Noise => {
                drop(bytes.splice(at..at, NOISE[random.below(NOISE.len())].iter().copied()));
            }
        }
    }
}

fn rewrite(bytes: &mut Vec<u8>, from: usize, each: impl Fn(u8, &mut Vec<u8>)) {
    let tail = bytes.split_off(from);
    tail.into_iter().for_each(|b| each(b, bytes));
}
