//! The hello: any bytes are one or not; a decoded hello encodes to its bytes; one flipped bit never
//! makes another hello.

use profinfer_wire::WIRE_VERSION;
use profinfer_wire::hello::{HELLO_LEN, Hello};

/// The bytes as a hello, and as the fields of one with the bit to flip.
pub fn hello(bytes: &[u8]) {
    if let Ok(hello) = Hello::parse(bytes) {
        assert_eq!(Hello::parse(&hello.to_bytes()), Ok(hello), "another hello");
    }
    let [low, high, a, b, c, rest @ ..] = bytes else { return };
    let mut fields = rest.iter().copied().chain(std::iter::repeat(0));
    let mut hello =
        Hello { wire_version: WIRE_VERSION, agent_version: [*a, *b, *c], build: [0; 8], nonce: [0; 16] };
    hello.build.iter_mut().chain(&mut hello.nonce).zip(&mut fields).for_each(|(to, from)| *to = from);
    let mut sent = hello.to_bytes();
    assert_eq!(Hello::parse(&sent), Ok(hello), "another hello");
    let bit = usize::from(u16::from_le_bytes([*low, *high])) % (8 * HELLO_LEN);
    if let Some(byte) = sent.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
    assert!(Hello::parse(&sent).is_err(), "a hello with bit {bit} flipped");
}
