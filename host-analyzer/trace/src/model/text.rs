//! Interned strings.

use std::collections::HashMap;

use super::rows::rows;

/// Id of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(u32);

/// All strings of a session; id 0 is the empty string.
#[derive(Debug, Clone)]
pub struct Texts {
    strings: Vec<Box<str>>,
    ids: HashMap<Box<str>, Text>,
}

impl Default for Texts {
    fn default() -> Self {
        let mut t = Self { strings: Vec::new(), ids: HashMap::new() };
        t.intern("");
        t
    }
}

rows!(Texts, strings);

impl Texts {
    /// The id of `s`, made if it is new.
    pub fn intern(&mut self, s: &str) -> Text {
        if let Some(id) = self.ids.get(s) {
            return *id;
        }
        let id = Text(u32::try_from(self.strings.len()).unwrap_or(u32::MAX));
        self.strings.push(s.into());
        self.ids.insert(s.into(), id);
        id
    }

    /// The string.
    #[must_use]
    pub fn get(&self, id: Text) -> &str {
        self.strings.get(id.0 as usize).map_or("", |s| s)
    }

    /// The id of `s` if it is known.
    #[must_use]
    pub fn find(&self, s: &str) -> Option<Text> {
        self.ids.get(s).copied()
    }
}

impl Text {
    /// Position in the table, for arrays indexed by text.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
