//! Sends each string once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use profinfer_wire::record::Record;
use profinfer_wire::record::session::Text;

use crate::link::emit::Emitter;
use crate::link::output::Weight;

/// Most strings remembered. After that, all are dropped and sent again under new ids. A graph of
/// 15,000 nodes has 20,000 names; this is the most that fits a hash table of 32,768 places.
const MAX_TEXTS: usize = 28_672;
/// Longest string in bytes: the engine's names have 63.
const MAX_LEN: usize = 255;

#[derive(Debug, Default)]
pub struct Texts {
    /// Ids by hash, which needs a third of the memory of the strings. Its keys are random, so that
    /// nobody can choose two strings with the same hash.
    ids: HashMap<u64, u32>,
    hasher: RandomState,
    last: u32,
}

impl Texts {
    /// The id of `text`, which is sent first if it is new. The empty string is 0.
    pub fn id(&mut self, emit: &mut Emitter, text: &str) -> u32 {
        let mut text = text;
        while text.len() > MAX_LEN {
            text =
                &text[..text.char_indices().map(|(i, _)| i).take_while(|i| *i < MAX_LEN).last().unwrap_or(0)];
        }
        if text.is_empty() {
            return 0;
        }
        let hash = self.hasher.hash_one(text);
        if let Some(id) = self.ids.get(&hash) {
            return *id;
        }
        if self.ids.len() >= MAX_TEXTS {
            self.ids.clear();
        }
        if let Some(id) = self.fresh(emit, text) {
            self.ids.insert(hash, id);
        }
        self.last
    }

    /// Sends a short text under a new id and does not remember it, so that nothing is allocated.
    /// `None` if it could not be sent.
    pub fn fresh(&mut self, emit: &mut Emitter, text: &str) -> Option<u32> {
        self.last += 1;
        let sent = emit.emit(&Record::Text(Text { id: self.last, text }), Weight::Essential);
        sent.then_some(self.last)
    }
}
