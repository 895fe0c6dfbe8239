//! Which hosts are accepted, and which are not.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod support;

use profinfer_secure::hello::HELLO_LEN;
use profinfer_secure::responder::UNKNOWN_LEN;
use profinfer_secure::{Error, Initiator, Key, Refusal, Responder, Step};
use support::{WIRE, answer, give, key, open, seal, session};

fn refused(responder: &mut Responder, bytes: &[u8], key: &Key) -> Option<Refusal> {
    give(responder, bytes, key).err()
}

/// The answer of the agent to a valid request, and the host that waits for it.
fn answered() -> (Initiator, Responder, [u8; 48]) {
    let (initiator, request) = Initiator::new(&key(), WIRE).unwrap();
    let mut responder = Responder::new();
    let Ok(Step::Answer(said)) = give(&mut responder, &request, &key()) else { panic!("no answer") };
    (initiator, responder, said)
}

#[test]
fn who_has_the_key_gets_in() {
    let mut s = session();
    let frame = seal(&mut s.host.0, b"a plan");
    assert_eq!(open(&mut s.agent.1, &frame).unwrap(), b"a plan");
    let frame = seal(&mut s.agent.0, b"a stream");
    assert_eq!(open(&mut s.host.1, &frame).unwrap(), b"a stream");
    assert!(!frame.windows(8).any(|w| w == b"a stream"));
}

#[test]
fn who_has_another_does_not() {
    let (_, request) = Initiator::new(&key(), WIRE).unwrap();
    for other in [Key::new("board-1", [8; 32]).unwrap(), Key::new("board-2", [9; 32]).unwrap()] {
        assert_eq!(refused(&mut Responder::new(), &request, &other), Some(Refusal::WrongKey), "{other:?}");
        // Vice versa: the agent must hold the key too.
        let (initiator, _) = Initiator::new(&key(), WIRE).unwrap();
        let (_, request) = Initiator::new(&other, WIRE).unwrap();
        let Ok(Step::Answer(said)) = give(&mut Responder::new(), &request, &other) else { panic!() };
        assert_eq!(answer(initiator, &said).err(), Some(Error::Answer));
    }
    let (_, request) = Initiator::new(&key(), WIRE + 1).unwrap();
    assert_eq!(refused(&mut Responder::new(), &request, &key()), Some(Refusal::WrongKey), "wire version");
}

#[test]
fn a_recorded_session_opens_nothing() {
    let s = session();
    let mut responder = Responder::new();
    assert!(matches!(give(&mut responder, &s.request, &key()), Ok(Step::Answer(_))), "as far as this");
    assert_eq!(refused(&mut responder, &s.first, &key()), Some(Refusal::WrongKey));
    assert!(responder.room().is_empty());
    assert_eq!(refused(&mut responder, &[], &key()), Some(Refusal::WrongKey), "and it is over");
    // A replayed answer of an agent does not fit another request.
    let (_, _, said) = answered();
    let (initiator, _) = Initiator::new(&key(), WIRE).unwrap();
    assert_eq!(answer(initiator, &said).err(), Some(Error::Answer));
}

#[test]
fn another_version_or_pattern_is_not_talked_down() {
    let (_, request) = Initiator::new(&key(), WIRE).unwrap();
    for (at, byte) in [(4, 0), (4, 2), (5, 0), (5, 2), (5, 255)] {
        let mut request = request;
        request[at] = byte;
        assert_eq!(refused(&mut Responder::new(), &request, &key()), Some(Refusal::Unknown), "{at} {byte}");
    }
}

#[test]
fn without_a_key_it_is_told_at_the_first_byte_that_differs() {
    for bytes in [&b"\0plan"[..], b"GET / HTTP/1.1\r\n", b"PROFINFR", b"PFIs", b"X"] {
        assert_eq!(refused(&mut Responder::new(), bytes, &key()), Some(Refusal::KeyWanted), "{bytes:?}");
    }
}

#[test]
fn a_bit_that_fell_over_anywhere() {
    let s = session();
    for bit in 0..s.request.len() * 8 {
        let mut request = s.request;
        request[bit / 8] ^= 1 << (bit % 8);
        assert!(give(&mut Responder::new(), &request, &key()).is_err(), "bit {bit} of the request");
    }
    for bit in 0..48 * 8 {
        let (initiator, _, mut said) = answered();
        said[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(answer(initiator, &said).err(), Some(Error::Answer), "bit {bit} of the answer");
    }
    for bit in 0..s.first.len() * 8 {
        let (initiator, mut responder, said) = answered();
        let mut first = answer(initiator, &said).unwrap().unwrap().first;
        first[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(
            refused(&mut responder, &first, &key()),
            Some(Refusal::WrongKey),
            "bit {bit} of the first"
        );
    }
}

#[test]
fn a_cut_at_any_byte_waits_and_no_more_is_read() {
    let s = session();
    for cut in 0..s.request.len() {
        let mut responder = Responder::new();
        assert!(matches!(give(&mut responder, &s.request[..cut], &key()), Ok(Step::More)), "{cut}");
        assert!(responder.room().len() <= s.request.len() - cut);
    }
    for cut in 0..48 {
        let (initiator, _, said) = answered();
        assert!(answer(initiator, &said[..cut]).unwrap().is_none(), "{cut}");
    }
    for cut in 0..s.first.len() {
        let (initiator, mut responder, said) = answered();
        let first = answer(initiator, &said).unwrap().unwrap().first;
        assert!(matches!(give(&mut responder, &first[..cut], &key()), Ok(Step::More)), "{cut}");
        assert_eq!(responder.room().len(), first.len() - cut);
    }
    assert_eq!(UNKNOWN_LEN, s.request.len() + s.first.len());
    const { assert!(UNKNOWN_LEN <= 96) };
}

#[test]
fn refusals_are_read_as_they_were_meant() {
    use Refusal::{KeyWanted, NoKeyHere, TooSlow, Unknown, WrongKey};
    for refusal in [KeyWanted, NoKeyHere, Unknown, WrongKey, TooSlow] {
        let (initiator, _) = Initiator::new(&key(), WIRE).unwrap();
        assert_eq!(answer(initiator, &refusal.to_bytes()).err(), Some(Error::Refused(refusal)));
        assert!(!refusal.help().is_empty() && !refusal.to_string().is_empty());
    }
    assert_eq!(Refusal::parse(&[b'P', b'F', b'I', b'S', 0, 77]), Some(Unknown), "of a later release");
    assert_eq!(Refusal::parse(b"PROFIN"), None);
    assert_eq!(Refusal::KeyWanted.to_bytes().len(), HELLO_LEN);
}
