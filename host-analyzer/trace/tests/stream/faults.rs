//! Links that drop, repeat, cut, flip, insert and rewrite: what arrives was sent, and what does not
//! arrive is reported.

use proptest::prelude::*;

use crate::partial::{loss_is_named, within};
use crate::{read, without_last_zeros, write_views};
use profinfer_trace::test_support::bytes::hello;
use profinfer_trace::test_support::session::{SMALL, session};

/// Faults of a link; places are parts of the stream in 1/65536.
#[derive(Debug, Clone)]
enum Fault {
    DropFrame(u16),
    RepeatFrame(u16),
    LoseBytes(u16, u8),
    RepeatBytes(u16, u8),
    Flip(u16, u8),
    Insert(u16, Vec<u8>),
    Cut(u16),
    /// Line ends are rewritten from here on.
    CrLf(u16),
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        4 => any::<u16>().prop_map(Fault::DropFrame),
        2 => any::<u16>().prop_map(Fault::RepeatFrame),
        4 => any::<(u16, u8)>().prop_map(|(at, n)| Fault::LoseBytes(at, n)),
        2 => any::<(u16, u8)>().prop_map(|(at, n)| Fault::RepeatBytes(at, n)),
        4 => any::<(u16, u8)>().prop_map(|(at, bit)| Fault::Flip(at, bit)),
        2 => (any::<u16>(), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(at, b)| Fault::Insert(at, b)),
        1 => any::<u16>().prop_map(Fault::Cut),
        1 => any::<u16>().prop_map(Fault::CrLf),
    ]
}

fn place(part: u16, len: usize) -> usize {
    usize::from(part) * len / 65536
}

impl Fault {
    /// Faults of whole frames first, those of bytes after them.
    fn frames(&self, frames: &mut Vec<Vec<u8>>) {
        if frames.is_empty() {
            return;
        }
        match self {
            Self::DropFrame(at) => drop(frames.remove(place(*at, frames.len()))),
            Self::RepeatFrame(at) => {
                let at = place(*at, frames.len());
                frames.insert(at, frames[at].clone());
            }
            _ => {}
        }
    }

    fn bytes(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        match self {
            Self::LoseBytes(at, n) => {
                let at = place(*at, len);
                bytes.drain(at..(at + usize::from(*n)).min(len));
            }
            Self::RepeatBytes(at, n) => {
                let at = place(*at, len);
                let again = bytes[at..(at + usize::from(*n)).min(len)].to_vec();
                bytes.splice(at..at, again);
            }
            Self::Flip(at, bit) if len > 0 => bytes[place(*at, len)] ^= 1 << (bit % 8),
            Self::Insert(at, more) => {
                drop(bytes.splice(place(*at, len)..place(*at, len), more.iter().copied()))
            }
            Self::Cut(at) => bytes.truncate(place(*at, len)),
            Self::CrLf(at) => {
                let tail = bytes.split_off(place(*at, len));
                for b in tail {
                    if b == b'\n' {
                        bytes.push(b'\r');
                    }
                    bytes.push(b);
                }
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn received_is_within_sent(
        seed in 0u64..1000, faults in prop::collection::vec(fault(), 0..6), piece in 1usize..5000,
    ) {
        let sent = session(seed, SMALL);
        let mut frames = sent.frames();
        faults.iter().for_each(|f| f.frames(&mut frames));
        let mut body = frames.concat();
        faults.iter().for_each(|f| f.bytes(&mut body));
        let mut bytes = hello(1);
        bytes.extend_from_slice(&body);

        let model = read(&bytes, piece).unwrap();
        within(&model, &sent.truth);
        loss_is_named(&model, &sent);
        prop_assert_eq!(model.health.bytes, without_last_zeros(&bytes));
        // Only a stream that arrived completely may claim it; extra zeros between frames are not
        // damage.
        let nothing_lost = model.health.frames == sent.records.len() as u64;
        prop_assert!(nothing_lost || !model.health.perfect());
        if faults.is_empty() {
            prop_assert!(model.health.perfect());
        }
        write_views(&model);
    }
}
