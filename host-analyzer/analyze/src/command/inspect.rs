//! `analyze inspect`: the raw frames and records of a recording, with offsets.

use std::io::Write;
use std::path::Path;

use profinfer_wire::predicted::{MAX_PERIOD, UNKNOWN, UNKNOWN_COUNTS};
use profinfer_wire::record::Record;
use profinfer_wire::tensors::NO_TENSOR;

use crate::{Diagnostic, Result, diagnostic};
use profinfer_trace::decode::{Decoder, Found};

pub(crate) fn inspect(path: &Path) -> Result<()> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path)
        .map_err(|e| Diagnostic::new(format!("opening {name}"), e, "give the path of a recording"))?;
    let mut out = anstream::stdout().lock();
    let places = usize::from(MAX_PERIOD);
    let (mut usually, mut counts) = (vec![UNKNOWN; places], vec![UNKNOWN_COUNTS; places]);
    let mut show = |found: Found<'_>| {
        let _ = match &found {
            Found::Hello(h) => writeln!(
                out,
                "{:>10}         hello: wire version {}, agent {}.{}.{}",
                0, h.wire_version, h.agent_version[0], h.agent_version[1], h.agent_version[2]
            ),
            Found::Damage(d) => {
                writeln!(
                    out,
                    "{:>10}         DAMAGE {:?}: {} bytes, {} times",
                    d.offset, d.kind, d.bytes, d.count
                )
            }
            Found::Cut { offset, bytes } => {
                writeln!(out, "{offset:>10}         CUT SHORT: {bytes} bytes of a frame")
            }
            Found::Record { offset, bytes, seq, record } => {
                let shown = match record {
                    Record::SpanBatch(b) => {
                        let spans: Vec<_> = b.spans().collect();
                        format!(
                            "SpanBatch graph {} topology {} tid {} base {} count {}: {spans:?}",
                            b.graph, b.topology, b.tid, b.base_ns, b.count
                        )
                    }
                    Record::CountedBatch(b) => {
                        let spans: Vec<_> = b.spans().zip(b.counts()).collect();
                        format!(
                            "CountedBatch graph {} topology {} tid {} base {} count {}: {spans:?}",
                            b.graph, b.topology, b.tid, b.base_ns, b.count
                        )
                    }
                    Record::PredictedBatch(b) => {
                        let mut batch = b.spans(&mut usually, &mut counts);
                        let mut spans = Vec::new();
                        while let Some(span) = batch.next() {
                            spans.push((span, b.counted.then_some(batch.counted)));
                        }
                        format!(
                            "PredictedBatch graph {} topology {} tid {} base {} count {} period {}: {spans:?}",
                            b.graph, b.topology, b.tid, b.base_ns, b.count, b.period
                        )
                    }
                    Record::Tensors(t) => {
                        let tensors: Vec<_> = t.iter().collect();
                        format!(
                            "Tensors topology {} first {} count {}: {tensors:?}",
                            t.topology, t.first, t.count
                        )
                    }
                    Record::TensorBatch(t) => {
                        let mut tensors = vec![NO_TENSOR; t.most()];
                        let n = t.decode(&mut tensors);
                        format!(
                            "TensorBatch topology {} first {} count {} period {}: {:?}",
                            t.topology,
                            t.first,
                            t.count,
                            t.period,
                            &tensors[..n]
                        )
                    }
                    other => format!("{other:?}"),
                };
                writeln!(out, "{offset:>10} {seq:>7} {bytes:>5} B {shown}")
            }
        };
    };
    let mut decoder = Decoder::new();
    let result = decoder.feed(&bytes, &mut show).and_then(|()| decoder.finish(&mut show));
    result.map_err(|e| diagnostic::not_readable(&name, e))
}
