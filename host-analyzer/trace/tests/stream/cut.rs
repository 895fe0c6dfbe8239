//! A recording that stops at any byte.

use crate::partial::{loss_is_named, within};
use crate::{read, write_views};
use profinfer_trace::decode::OpenError;
use profinfer_trace::model::DamageKind;
use profinfer_trace::test_support::session::{SMALL, session};

#[test]
fn at_every_byte() {
    let sent = session(2, SMALL);
    let bytes = sent.bytes();
    let (mut spans, mut llama_calls) = (0, 0);
    for at in 1..bytes.len() {
        let model = read(&bytes[..at], usize::MAX).unwrap_or_else(|e| panic!("cut at {at}: {e}"));
        assert!(model.health.cut_short() && !model.health.perfect(), "cut at {at}");
        within(&model, &sent.truth);
        loss_is_named(&model, &sent);
        if at >= 64 {
            assert_eq!(model.health.bytes, at as u64, "every byte is a frame's, or damage's");
            let whole = bytes[64..at].iter().rposition(|b| *b == 0).map_or(64, |zero| 64 + zero + 1);
            assert_eq!(model.health.cut_bytes, (at - whole) as u64, "cut at {at}");
        }
        // The cut part is not damaged; what it would have explained may be missing.
        for damage in &model.health.damage {
            assert_eq!(damage.kind, DamageKind::Unresolved, "cut at {at}: {damage:?}");
        }
        // What has arrived does not go away again.
        assert!(
            model.health.spans_received >= spans && model.llama_calls.len() >= llama_calls,
            "cut at {at}"
        );
        (spans, llama_calls) = (model.health.spans_received, model.llama_calls.len());
        write_views(&model);
    }
    assert_eq!(read(&[], usize::MAX).unwrap_err(), OpenError::Empty);
}
