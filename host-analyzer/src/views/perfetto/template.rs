//! A slice's beginning, encoded once and used for every execution.

use prost::Message;

use super::intern::{Entry, Interner, Kind};
use super::message::{DebugAnnotation, EventType, TrackEvent};
use crate::views::timeline::label::{Label, Value};

/// An encoded `TrackEvent`, and the texts that it refers to.
pub(super) struct Template {
    /// The message; debug annotations may be appended.
    pub(super) track_event: Vec<u8>,
    needs: Vec<Entry>,
    /// Sequence that has all of them; 0 for none.
    sequence: u32,
    /// What the latest packet of that sequence had behind its time, and on which CPU: mostly the next one has the same.
    pub(super) tail: Vec<u8>,
    pub(super) tail_of: Option<(u32, Option<u16>)>,
}

impl Template {
    /// `more` are names of arguments that will be appended.
    pub(super) fn new(texts: &mut Interner, label: &Label, more: &[Entry]) -> Self {
        let mut needs = more.to_vec();
        let mut iid = |kind, text: &str| {
            let (iid, entry) = texts.intern(kind, text);
            needs.push(entry);
            iid
        };
        let event = TrackEvent {
            category_iids: label.categories.iter().map(|c| iid(Kind::Category, c)).collect(),
            r#type: Some(EventType::SliceBegin as i32),
            name_iid: Some(iid(Kind::EventName, &label.name)),
            debug_annotations: label
                .args
                .iter()
                .map(|(name, value)| annotation(&mut iid, name, value))
                .collect(),
            ..TrackEvent::default()
        };
        Self { track_event: event.encode_to_vec(), needs, sequence: 0, tail: Vec::new(), tail_of: None }
    }

    /// Appends to `interned` the definitions that `sequence` still needs.
    #[inline]
    pub(super) fn define(&mut self, texts: &mut Interner, sequence: u32, interned: &mut Vec<u8>) {
        if self.sequence != sequence {
            self.sequence = sequence;
            texts.define(&self.needs, sequence, interned);
        }
    }
}

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
