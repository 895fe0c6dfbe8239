//! The begin event of a slice, encoded once and used for every execution.

use prost::Message;

use super::intern::{Entry, Interner, Kind};
use super::message::{DebugAnnotation, EventType, TrackEvent};
use super::packet::{Bundle, Forms, annotate_bool, annotate_uint};
use crate::timeline::label::{CPU, Label, MIGRATED, Value};

/// What differs between executions of a node: sequence, CPU, and whether the thread migrated.
type Of = (u32, Option<u16>, bool);

/// Names of the arguments that differ between executions of the same node.
pub(super) struct ArgumentNames {
    pub(super) cpu: (u64, Entry),
    pub(super) migrated: (u64, Entry),
}

impl ArgumentNames {
    pub(super) fn new(texts: &mut Interner) -> Self {
        Self {
            cpu: texts.intern(Kind::ArgumentName, CPU),
            migrated: texts.intern(Kind::ArgumentName, MIGRATED),
        }
    }
}

/// An encoded `TrackEvent`, and its texts.
pub(super) struct Template {
    /// Everything after the arguments that differ between executions. Those come first: consecutive
    /// templates then often begin with the same bytes.
    track_event: Vec<u8>,
    needs: Vec<Entry>,
    /// Sequence that has all texts; 0 for none.
    sequence: u32,
    forms: Forms<Of>,
}

impl Template {
    /// `more` are the names of arguments to be added.
    pub(super) fn new(texts: &mut Interner, label: &Label, more: &[Entry]) -> Self {
        let mut needs = more.to_vec();
        let mut iid = |kind, text: &str| {
            let (iid, entry) = texts.intern(kind, text);
            needs.push(entry);
            iid
        };
        let args = label.args.iter().map(|(name, value)| annotation(&mut iid, name, value)).collect();
        let args = TrackEvent { debug_annotations: args, ..TrackEvent::default() };
        let names = TrackEvent {
            category_iids: label.categories.iter().map(|c| iid(Kind::Category, c)).collect(),
            name_iid: Some(iid(Kind::EventName, &label.name)),
            ..TrackEvent::default()
        };
        // Concatenated messages are one message in protobuf.
        let track_event = [args.encode_to_vec(), names.encode_to_vec()].concat();
        Self { track_event, needs, sequence: 0, forms: Forms::default() }
    }

    /// Begins a slice `delta` ns after the previous event; first defines texts that the sequence lacks.
    #[inline]
    pub(super) fn begin(
        &mut self,
        bundle: &mut Bundle,
        texts: &mut Interner,
        names: &ArgumentNames,
        (sequence, cpu, migrated): Of,
        delta: u64,
    ) {
        if self.sequence != sequence {
            self.sequence = sequence;
            bundle.interned(sequence, texts.define(&self.needs, sequence));
        }
        if migrated {
            bundle.interned(sequence, texts.define(&[names.migrated.1], sequence));
        }
        let rest = &self.track_event;
        bundle.event(sequence, delta, &mut self.forms, (sequence, cpu, migrated), |event| {
            event.extend_from_slice(&BEGIN);
            if let Some(cpu) = cpu {
                annotate_uint(event, names.cpu.0, u64::from(cpu));
            }
            if migrated {
                annotate_bool(event, names.migrated.0, true);
            }
            event.extend_from_slice(rest);
        });
    }
}

/// `TrackEvent { type: TYPE_SLICE_BEGIN }`.
const BEGIN: [u8; 2] = [9 << 3, EventType::SliceBegin as u8];

fn annotation(iid: &mut impl FnMut(Kind, &str) -> u64, name: &str, value: &Value) -> DebugAnnotation {
    let name_iid = Some(iid(Kind::ArgumentName, name));
    match value {
        Value::Text(text) => DebugAnnotation {
            name_iid,
            string_value_iid: Some(iid(Kind::ArgumentText, text)),
            ..DebugAnnotation::default()
        },
        Value::Number(number) => {
            DebugAnnotation { name_iid, int_value: Some(*number), ..DebugAnnotation::default() }
        }
    }
}
