//! `analyze inspect`: the raw frames and records of a recording, with offsets.

use std::fmt;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use profinfer_wire::predicted::{MAX_PERIOD, UNKNOWN, UNKNOWN_COUNTS, UsualCounts, Usually};
use profinfer_wire::record::Record;
use profinfer_wire::tensors::NO_TENSOR;

use crate::args::format::Format;
use crate::json::{self, Object};
use crate::{Diagnostic, Result, diagnostic};
use profinfer_trace::decode::{DamageKind, Decoder, Found};

/// The object.
#[derive(Debug, Serialize)]
struct Inspected {
    file: String,
    frames: Vec<Item>,
}

/// A frame, or bytes that are not one. Offsets and sizes are bytes of the stream.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Item {
    Hello {
        offset: u64,
        wire_version: u16,
        agent_version: [u8; 3],
    },
    Record {
        offset: u64,
        bytes: u64,
        seq: u32,
        record: String,
        /// The fields of docs/wire-format.md. Bytes that are encoded further are numbers.
        content: Value,
        /// The decoded content, for people.
        text: String,
    },
    Damage {
        offset: u64,
        bytes: u64,
        damage: &'static str,
        count: u64,
    },
    Cut {
        offset: u64,
        bytes: u64,
    },
}

pub(crate) fn inspect(path: &Path, format: Format) -> Result<()> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path)
        .map_err(|e| Diagnostic::new(format!("opening {name}"), e, "give the path of a recording"))?;
    let (mut records, mut frames) = (Records::new(format), Vec::new());
    let mut out = (!format.is_json()).then(|| anstream::stdout().lock());
    let mut show = |found: Found<'_>| {
        let item = records.item(&found);
        match &mut out {
            Some(out) => drop(writeln!(out, "{item}")),
            None => frames.push(item),
        }
    };
    let mut decoder = Decoder::new();
    let result = decoder.feed(&bytes, &mut show).and_then(|()| decoder.finish(&mut show));
    result.map_err(|e| diagnostic::not_readable(&name, &bytes, e))?;
    if format.is_json() {
        json::print(&Object::new(Inspected { file: name, frames }))?;
    }
    Ok(())
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hello { offset, wire_version, agent_version: [major, minor, patch] } => {
                write!(
                    f,
                    "{offset:>10}         hello: wire version {wire_version}, agent {major}.{minor}.{patch}"
                )
            }
            Self::Record { offset, bytes, seq, text, .. } => {
                write!(f, "{offset:>10} {seq:>7} {bytes:>5} B {text}")
            }
            Self::Damage { offset, bytes, damage, count } => {
                write!(f, "{offset:>10}         DAMAGE {damage}: {bytes} bytes, {count} times")
            }
            Self::Cut { offset, bytes } => {
                write!(f, "{offset:>10}         CUT SHORT: {bytes} bytes of a frame")
            }
        }
    }
}

const fn damage(kind: DamageKind) -> &'static str {
    match kind {
        DamageKind::Hello => "hello",
        DamageKind::Overlong => "overlong",
        DamageKind::Frame(_) => "frame",
        DamageKind::Gap => "gap",
        DamageKind::Repeated => "repeated",
        DamageKind::Malformed(_) => "malformed",
        DamageKind::UnknownKind(_) => "unknown_kind",
    }
}

/// Turns what was found into items. Predicted batches refer to the batches before them.
struct Records {
    usually: Vec<Usually>,
    counts: Vec<UsualCounts>,
    format: Format,
}

impl Records {
    fn new(format: Format) -> Self {
        let places = usize::from(MAX_PERIOD);
        Self { usually: vec![UNKNOWN; places], counts: vec![UNKNOWN_COUNTS; places], format }
    }

    fn item(&mut self, found: &Found<'_>) -> Item {
        match found {
            Found::Hello(h) => {
                Item::Hello { offset: 0, wire_version: h.wire_version, agent_version: h.agent_version }
            }
            Found::Damage(d) => {
                Item::Damage { offset: d.offset, bytes: d.bytes, damage: damage(d.kind), count: d.count }
            }
            Found::Cut { offset, bytes } => Item::Cut { offset: *offset, bytes: *bytes },
            Found::Record { offset, bytes, seq, record } => {
                let text = self.text(record);
                let name = text.find(|c: char| !c.is_alphanumeric()).map_or(&*text, |end| &text[..end]);
                let name = name.to_owned();
                let content = match self.format {
                    Format::Json => serde_json::to_value(record).unwrap_or_default(),
                    Format::Text => Value::Null,
                };
                Item::Record { offset: *offset, bytes: *bytes, seq: *seq, record: name, content, text }
            }
        }
    }

    fn text(&mut self, record: &Record<'_>) -> String {
        match record {
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
                let mut batch = b.spans(&mut self.usually, &mut self.counts);
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
                format!("Tensors topology {} first {} count {}: {tensors:?}", t.topology, t.first, t.count)
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
        }
    }
}
