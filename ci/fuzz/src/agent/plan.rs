//! A plan from a host: whatever the bytes, nothing is kept beyond the limits, and no accepted plan
//! makes the agent write anywhere.

use profinfer_agent::request::limits::{beyond, checked, place};
use profinfer_agent::request::plan::{GaugeSource, KEPT_REQUESTS};
use profinfer_agent::request::plan_builder::PlanBuilder;
use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::{Frame, MAX_ENCODED, MAX_PAYLOAD, encode};
use profinfer_wire::record::Record;

/// Frames in order: kind and length of two bytes each, and the payload. The function computes the
/// checksums.
pub fn plan(bytes: &[u8]) {
    let mut plan_builder = PlanBuilder::default();
    let (mut accumulator, stream) = (Accumulator::new(), frames(bytes));
    let mut rest = stream.as_slice();
    while !rest.is_empty() {
        let Some(Found::Frame(frame)) = accumulator.feed(&mut rest) else { continue };
        let Ok(record) = Record::decode(&frame) else { continue };
        let Some(plan) = plan_builder.take(&record) else { continue };
        assert!(plan.counters.len() <= KEPT_REQUESTS && plan.gauges.len() <= KEPT_REQUESTS);
        assert_eq!(beyond(&plan).is_some(), checked(plan.clone()).is_err());
        if beyond(&plan).is_some() {
            continue;
        }
        assert!(!plan.only && plan.ring_bytes.is_none(), "of the agent's own command line");
        assert!(plan.board.len() <= 100 && plan.target.len() <= 100 && !plan.target.contains('/'));
        for gauge in &plan.gauges {
            if let GaugeSource::File { path, .. } = &gauge.source
                && place::check(path).is_ok()
            {
                let inside = ["/sys/", "/proc/"].iter().any(|root| path.starts_with(root));
                assert!(inside && !path.split('/').any(|part| part == ".."), "{path}");
            }
        }
    }
}

/// As a host would write them.
pub(crate) fn frames(mut bytes: &[u8]) -> Vec<u8> {
    let (mut stream, mut seq) = (Vec::new(), 0);
    while let [k0, k1, l0, l1, rest @ ..] = bytes {
        let len = usize::from(u16::from_le_bytes([*l0, *l1])).min(MAX_PAYLOAD).min(rest.len());
        let (payload, behind) = rest.split_at(len);
        let mut frame = [0; MAX_ENCODED];
        let kind = u16::from_le_bytes([*k0, *k1]);
        let len = encode(&Frame { kind, seq, payload }, &mut frame).expect("a payload that fits");
        stream.extend(frame.iter().take(len));
        (bytes, seq) = (behind, seq + 1);
    }
    stream
}
