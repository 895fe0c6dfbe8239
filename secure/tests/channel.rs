//! Frames after the handshake: in order, once, complete.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod support;

use profinfer_secure::channel::{FRAME_OVERHEAD, MAX_PLAIN, REKEY_FRAMES};
use profinfer_secure::feed::{Outcome, channel, initiator, responder};
use profinfer_secure::{Error, Refusal};
use proptest::prelude::*;
use support::{open, seal, session};

#[test]
fn frames_of_every_size_in_pieces_of_every_size() {
    let mut s = session();
    let mut sent = Vec::new();
    let mut bytes = Vec::new();
    for len in [1, 2, 15, 16, 17, 255, 256, 4096, MAX_PLAIN] {
        let plain: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        bytes.extend(seal(&mut s.agent.0, &plain));
        sent.extend(plain);
    }
    let mut got = Vec::new();
    let mut pieces = [1, 7, 1000, 70_000].into_iter().cycle();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(pieces.next().unwrap().min(rest.len()));
        got.extend(open(&mut s.host.1, piece).unwrap());
        rest = more;
    }
    assert!(got == sent);
    let mut frame = vec![0; MAX_PLAIN + FRAME_OVERHEAD + 1];
    assert_eq!(s.agent.0.seal(&[0; MAX_PLAIN + 1], &mut frame), None);
    assert_eq!(s.agent.0.seal(&[0; 10], &mut frame[..10 + FRAME_OVERHEAD - 1]), None);
    // A frame that was not encrypted does not count.
    let frame = seal(&mut s.agent.0, b"next");
    assert_eq!(open(&mut s.host.1, &frame).unwrap(), b"next");
}

#[test]
fn nothing_moved_repeated_or_left_out_opens() {
    let wrong: [&[usize]; 4] = [&[1, 0], &[0, 0], &[0, 2], &[0, 1, 1]];
    for order in wrong {
        let mut s = session();
        let frames: Vec<_> = (0..3u8).map(|i| seal(&mut s.host.0, &[i; 40])).collect();
        let mut last = Ok(Vec::new());
        for i in order {
            last = open(&mut s.agent.1, &frames[*i]);
        }
        assert_eq!(last, Err(Error::Frame), "{order:?}");
        assert_eq!(open(&mut s.agent.1, &frames[1]), Err(Error::Frame), "and nothing opens after it");
    }
    let mut s = session();
    let own = seal(&mut s.host.0, b"mine");
    assert_eq!(open(&mut s.host.1, &own), Err(Error::Frame), "a frame sent back to its sender");
    let mut other = session();
    let frame = seal(&mut other.host.0, b"of another session");
    assert_eq!(open(&mut s.agent.1, &frame), Err(Error::Frame));
}

#[test]
fn a_bit_that_fell_over_anywhere_and_a_cut() {
    let plain = [5; 20];
    for bit in 0..(plain.len() + FRAME_OVERHEAD) * 8 {
        let mut s = session();
        let mut frame = seal(&mut s.agent.0, &plain);
        frame[bit / 8] ^= 1 << (bit % 8);
        // With a modified length, the opener waits for bytes of other frames.
        frame.resize(1 << 16, 0);
        assert_eq!(open(&mut s.host.1, &frame), Err(Error::Frame), "bit {bit}");
    }
    let mut s = session();
    let frame = seal(&mut s.agent.0, &plain);
    for byte in &frame[..frame.len() - 1] {
        assert_eq!(open(&mut s.host.1, &[*byte]).unwrap(), b"");
    }
    assert_eq!(open(&mut s.host.1, &frame[frame.len() - 1..]).unwrap(), plain);
}

#[test]
fn both_directions_change_their_keys_at_the_same_frame() {
    let mut s = session();
    for side in [&mut s.host, &mut s.agent] {
        side.0.rekey_every(3);
        side.1.rekey_every(3);
    }
    for i in 0..20u8 {
        let frame = seal(&mut s.agent.0, &[i]);
        assert_eq!(open(&mut s.host.1, &frame).unwrap(), [i]);
        if i % 2 == 0 {
            let frame = seal(&mut s.host.0, &[i]);
            assert_eq!(open(&mut s.agent.1, &frame).unwrap(), [i]);
        }
    }
    // A side that does not change its key is no longer understood.
    s.agent.0.rekey_every(u64::MAX);
    let opened: Vec<_> = (0..4).map(|i| open(&mut s.host.1, &seal(&mut s.agent.0, &[i])).is_ok()).collect();
    assert!(opened.contains(&false), "{opened:?}");
}

/// The real number of frames between two keys, in one direction.
#[test]
fn over_the_border_of_a_million_frames() {
    let mut s = session();
    let mut frame = [0; 1 + FRAME_OVERHEAD];
    for i in 0..REKEY_FRAMES + 3 {
        s.agent.0.seal(&[i as u8], &mut frame).unwrap();
        s.host.1.room()[..2].copy_from_slice(&frame[..2]);
        s.host.1.filled(2).unwrap();
        s.host.1.room().copy_from_slice(&frame[2..]);
        s.host.1.filled(frame.len() - 2).unwrap();
        assert_eq!(s.host.1.plain(), [i as u8]);
    }
}

proptest! {
    /// A short version of a fuzzer.
    #[test]
    fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), piece in 1usize..100) {
        prop_assert!(!matches!(responder(&bytes, piece), Outcome::Known(..)));
        prop_assert!(!matches!(initiator(&bytes, piece), Outcome::Known(..)));
        let hello = [profinfer_secure::hello::HELLO.as_slice(), &bytes].concat();
        let came = responder(&hello, piece);
        prop_assert!(matches!(came, Outcome::Short | Outcome::Refused(Refusal::WrongKey)), "{:?}", came);
        let mut s = session();
        prop_assert!(matches!(channel(&mut s.host.1, &bytes, piece), Outcome::Known(0, _)));
    }
}
