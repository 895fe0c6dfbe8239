//! `gauges`: the board's sensors.

use super::Publish;
use crate::words;
use profinfer_analysis::gauge;
use profinfer_schema as schema;

fields! {
    gauge::Figures => GaugeFigures { min, mean, max, covered_ns }
}

impl Publish for gauge::Gauge {
    type Form = schema::Gauge;

    fn publish(&self) -> Self::Form {
        let Self {
            name,
            kind,
            unit,
            source,
            period_ns,
            attached,
            note,
            samples,
            absent,
            whole,
            decode,
            decode_bytes_per_token,
            decode_tokens,
        } = self;
        schema::Gauge {
            name: name.publish(),
            kind: kind.publish(),
            unit: unit.publish(),
            source: source.publish(),
            period_ns: *period_ns,
            attached: *attached,
            note: words::gauge_note(note).to_owned(),
            samples: *samples,
            absent: *absent,
            session: whole.publish(),
            decode: decode.publish(),
            decode_bytes_per_token: *decode_bytes_per_token,
            decode_tokens: *decode_tokens,
        }
    }
}
