//! A record of the kernel's ring buffer: read or not, and never beyond its bytes.

use profinfer_agent::bpf::ring::{Event, Op};

/// The bytes are one record.
pub fn ring(bytes: &[u8]) {
    let event = Event::parse(bytes);
    if let Some(Event::Tensor(tensor)) = &event {
        assert!(tensor.raw.len() <= bytes.len());
    }
    if let Some(Event::Experts(experts)) = &event {
        assert!(experts.ids().count() * 4 <= bytes.len());
    }
    // The short way finds what the long one finds.
    let plain = matches!(event, Some(Event::Op(_, None)));
    assert_eq!(Op::parse(bytes).is_some(), plain);
}
