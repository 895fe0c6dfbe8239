//! Texts that are sent once per sequence and then referred to by number.

use std::collections::HashMap;

use prost::Message;

use super::message::{InternedData, InternedString};

/// The use of a text; each use has separate numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Category,
    EventName,
    ArgumentName,
    ArgumentText,
}

/// Position in [`Interner::entries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(usize);

/// All texts. A text has the same number in every sequence, but each sequence must define it.
#[derive(Default)]
pub(super) struct Interner {
    known: HashMap<(Kind, String), (u64, Entry)>,
    used: [u64; 4],
    entries: Vec<Definition>,
    /// Kept to reuse the allocation.
    message: Vec<u8>,
}

struct Definition {
    /// The `InternedData` message that defines it.
    message: Vec<u8>,
    /// Sequence that has the definition; 0 for none. Sequences are written one after another.
    sequence: u32,
}

impl Interner {
    /// The number of `text`; a new text gets a new number.
    pub(super) fn intern(&mut self, kind: Kind, text: &str) -> (u64, Entry) {
        let key = (kind, text.to_owned());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let used = &mut self.used[kind as usize];
        *used += 1;
        let new = (*used, Entry(self.entries.len()));
        self.entries.push(Definition { message: definition(kind, new.0, text), sequence: 0 });
        self.known.insert(key, new);
        new
    }

    /// The `InternedData` with the definitions that `sequence` does not have yet.
    pub(super) fn define(&mut self, needed: &[Entry], sequence: u32) -> &[u8] {
        self.message.clear();
        for Entry(i) in needed {
            let definition = &mut self.entries[*i];
            if definition.sequence != sequence {
                definition.sequence = sequence;
                self.message.extend_from_slice(&definition.message);
            }
        }
        &self.message
    }
}

fn definition(kind: Kind, iid: u64, text: &str) -> Vec<u8> {
    let one = vec![InternedString { iid: Some(iid), text: Some(text.to_owned()) }];
    let mut data = InternedData::default();
    *match kind {
        Kind::Category => &mut data.event_categories,
        Kind::EventName => &mut data.event_names,
        Kind::ArgumentName => &mut data.debug_annotation_names,
        Kind::ArgumentText => &mut data.debug_annotation_string_values,
    } = one;
    // Concatenated messages are one message in protobuf: repeated fields add up.
    data.encode_to_vec()
}
