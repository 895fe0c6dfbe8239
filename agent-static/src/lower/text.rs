//! Strings sent once.

use std::collections::HashMap;

use profinfer_wire::record::Record;
use profinfer_wire::record::session::Text;

use crate::emit::Emitter;
use crate::link::output::Weight;

/// Strings remembered; beyond it everything is forgotten and sent again under new ids.
const MAX_TEXTS: usize = 16384;
/// Longest string in bytes: the engine's names have 63.
const MAX_LEN: usize = 255;

/// The interner.
#[derive(Debug, Default)]
pub struct Texts {
    ids: HashMap<Box<str>, u32>,
    last: u32,
}

impl Texts {
    /// The id of `text`, sending it first when it is new. The empty string is 0.
    pub fn id(&mut self, emit: &mut Emitter, text: &str) -> u32 {
        let mut text = text;
        while text.len() > MAX_LEN {
            text =
                &text[..text.char_indices().map(|(i, _)| i).take_while(|i| *i < MAX_LEN).last().unwrap_or(0)];
        }
        if text.is_empty() {
            return 0;
        }
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        if self.ids.len() >= MAX_TEXTS {
            self.ids.clear();
        }
        self.last += 1;
        if emit.emit(&Record::Text(Text { id: self.last, text }), Weight::Essential) {
            self.ids.insert(text.into(), self.last);
        }
        self.last
    }
}
