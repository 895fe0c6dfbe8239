//! The first bytes: streams, damaged streams, and other files.

use profinfer_trace::decode::OpenError;
use profinfer_trace::model::DamageKind;

use crate::read;
use crate::received::Received;
use profinfer_trace::test_support::bytes::{crc32c, hello};
use profinfer_trace::test_support::session::{SMALL, session};

fn refused(bytes: &[u8]) -> OpenError {
    let whole = read(bytes, usize::MAX).unwrap_err();
    assert_eq!(read(bytes, 1).unwrap_err(), whole, "the same in pieces");
    whole
}

#[test]
fn other_files() {
    assert_eq!(refused(b""), OpenError::Empty);
    assert_eq!(refused(b"x"), OpenError::NotAStream);
    assert_eq!(refused(&[0; 64]), OpenError::NotAStream);
    assert_eq!(refused(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0"), OpenError::NotAStream);
    assert_eq!(
        refused(&b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n<html>".repeat(3)),
        OpenError::NotAStream
    );
    // A recording from the second byte on.
    assert_eq!(refused(&session(1, SMALL).bytes()[1..]), OpenError::NotAStream);
}

#[test]
fn other_versions() {
    for found in [2, 3, 255, 256, u16::MAX] {
        assert_eq!(refused(&hello(found)), OpenError::Newer { found });
    }
    assert_eq!(refused(&hello(0)), OpenError::Older { found: 0 });
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let n = if rest.starts_with(from) { from.len() } else { 1 };
        out.extend_from_slice(if rest.starts_with(from) { to } else { &rest[..1] });
        rest = &rest[n..];
    }
    out
}

#[test]
fn rewritten_line_ends() {
    let bytes = session(1, SMALL).bytes();
    let ways: [(&[u8], &[u8]); 4] = [(b"\n", b"\r\n"), (b"\r\n", b"\n"), (b"\r", b"\n"), (b"\r", b"")];
    for (from, to) in ways {
        let bytes = replaced(&bytes, from, to);
        assert_eq!(refused(&bytes), OpenError::NewlinesRewritten, "{from:?} to {to:?}");
    }
}

/// Every flipped bit of a hello: the session is still read, and the damage reported.
#[test]
fn damaged_hello() {
    let sent = session(1, SMALL);
    let clean = sent.bytes();
    let whole = Received::new(&read(&clean, usize::MAX).unwrap());
    for bit in 0..64 * 8 {
        let mut bytes = clean.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        match read(&bytes, usize::MAX) {
            Ok(model) => {
                assert!(model.health.damage.iter().any(|d| d.kind == DamageKind::Hello), "bit {bit}");
                assert_eq!(model.health.bytes, bytes.len() as u64);
                let got = Received::new(&model);
                assert_eq!(
                    (got.llama_calls, got.calls),
                    (whole.llama_calls.clone(), whole.calls.clone()),
                    "bit {bit}"
                );
            }
            Err(e) => panic!("bit {bit}: {e}"),
        }
    }
}

/// Bytes lost inside the hello shift everything after them: the reader finds the frames again.
#[test]
fn shortened_hello() {
    let sent = session(1, SMALL);
    let clean = sent.bytes();
    for n in 1..30 {
        let mut bytes = clean.clone();
        bytes.drain(30..30 + n);
        let model = read(&bytes, usize::MAX).unwrap();
        assert!(model.health.damage.iter().any(|d| d.kind == DamageKind::Hello));
        crate::partial::within(&model, &sent.truth);
        assert!(model.health.frames + 2 >= sent.records.len() as u64, "{n} bytes lost");
    }
}

/// A damaged hello does not hide an unsupported version.
#[test]
fn damaged_hello_of_a_newer_version() {
    use profinfer_trace::test_support::bytes::{Fields, frame};
    let mut bytes = hello(2);
    bytes[40] ^= 1;
    let session = Fields::default().uint(2).text("9.0.0").text("").text("").text("").text("").uint(1).uint(7);
    bytes.extend(frame(0x01, 0, &session.uint(5).uint(6).0));
    assert_eq!(refused(&bytes), OpenError::Newer { found: 2 });
}

#[test]
fn checksum_of_the_hello() {
    let b = hello(1);
    assert_eq!(crc32c(&b[..60]).to_le_bytes(), b[60..]);
}
