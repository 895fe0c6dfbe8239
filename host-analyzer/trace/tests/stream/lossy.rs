//! A link that loses one frame: every frame of a session in turn. A span is read without any other
//! record of spans, so only the frame's own contents, and references to them, are missing.

use profinfer_trace::model::DamageKind;

use crate::partial::{loss_is_named, within};
use crate::read;
use crate::received::Received;
use profinfer_trace::test_support::bytes::hello;
use profinfer_trace::test_support::session::{Size, session};

#[test]
fn every_frame_lost_in_turn() {
    // More nodes than a period, so that batches have learnt something.
    let sent = session(3, Size { threads: 2, llama_calls: 3, nodes: 70, views_run: false });
    let frames = sent.frames();
    let whole = sent.truth.spans.len();
    for (lost, (kind, _)) in sent.records.iter().enumerate() {
        let mut bytes = hello(1);
        for (i, frame) in frames.iter().enumerate() {
            if i != lost {
                bytes.extend_from_slice(frame);
            }
        }
        let model = read(&bytes, usize::MAX).expect("a stream");
        within(&model, &sent.truth);
        loss_is_named(&model, &sent);
        let count = |kind| model.health.damage.iter().find(|d| d.kind == kind).map_or(0, |d| d.count);
        assert_eq!(
            count(DamageKind::Malformed),
            0,
            "frame {lost} of kind {kind:#x} was lost, and others cannot be read"
        );
        if matches!(kind, 0x30 | 0x32) {
            // Everything except the batch's contents is there.
            let other: u64 = model.health.spans_received;
            assert_eq!(Received::new(&model).spans.len() as u64, other, "frame {lost}");
            assert!(other < whole as u64 && other + 200 >= whole as u64);
        }
    }
}
