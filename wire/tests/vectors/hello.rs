//! The example of the hello, and bytes that are not a hello.

use profinfer_wire::hello::{CANARY, HELLO_LEN, Hello, HelloError};

pub(super) const HELLO: Hello =
    Hello { wire_version: 1, agent_version: [0, 1, 0], build: [0; 8], nonce: *b"0123456789abcdef" };

#[test]
fn hello_every_prefix_and_every_bit() {
    let bytes = HELLO.to_bytes();
    assert_eq!(Hello::parse(&bytes), Ok(HELLO));
    for cut in 0..HELLO_LEN {
        let expected = if cut == 0 { HelloError::NotAStream } else { HelloError::Short { found: cut } };
        assert_eq!(Hello::parse(&bytes[..cut]), Err(expected), "cut at {cut}");
    }
    for bit in 0..HELLO_LEN * 8 {
        let mut flipped = bytes;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Hello::parse(&flipped).is_err(), "bit {bit}");
    }
}

#[test]
fn hello_of_other_versions() {
    let of = |wire_version| Hello::parse(&Hello { wire_version, ..HELLO }.to_bytes());
    assert_eq!(of(2), Err(HelloError::Newer { found: 2 }));
    assert_eq!(of(0), Err(HelloError::Older { found: 0 }));
    assert_eq!(of(1), Ok(HELLO));
}

#[test]
fn rewritten_line_ends_are_recognised() {
    let bytes = HELLO.to_bytes();
    let replace = |from: &[u8], to: &[u8]| {
        let (mut out, mut i) = (Vec::new(), 0);
        while i < bytes.len() {
            if bytes[i..].starts_with(from) {
                out.extend_from_slice(to);
                i += from.len();
            } else {
                out.push(bytes[i]);
                i += 1;
            }
        }
        out.resize(HELLO_LEN, 0);
        out
    };
    assert!(bytes.windows(8).any(|w| w == CANARY));
    for (from, to) in [("\n", "\r\n"), ("\r\n", "\n"), ("\r", "\n"), ("\r", "")] {
        let seen = Hello::parse(&replace(from.as_bytes(), to.as_bytes()));
        assert_eq!(seen, Err(HelloError::NewlinesRewritten), "{from:?} to {to:?}");
    }
}
