//! Sends facts into the stream.

use profinfer_wire::record::Record;
use profinfer_wire::record::fact::{Fact, FactScope, FactValue};

use crate::clock;
use crate::link::emit::Emitter;
use crate::link::output::Weight;

/// Longest text of a fact, in bytes. A cut text would be a different fact, so a longer text is
/// absent.
const MAX_TEXT: usize = 1000;
/// Longest name, and longest reason of an absence, in bytes; both are cut.
const MAX_NAME: usize = 100;
const MAX_WHY: usize = 300;

/// Sends facts that are read at the same time.
#[derive(Debug)]
pub(super) struct Sender<'e> {
    emit: &'e mut Emitter,
    at_ns: u64,
    weight: Weight,
}

impl<'e> Sender<'e> {
    pub(super) fn now(emit: &'e mut Emitter, weight: Weight) -> Self {
        Self { emit, at_ns: clock::monotonic_ns(), weight }
    }

    /// The same for facts that nothing may drop: they are sent once.
    pub(super) fn essential(&mut self) -> Sender<'_> {
        Sender { emit: self.emit, at_ns: self.at_ns, weight: Weight::Essential }
    }

    /// False if it was dropped.
    fn send(&mut self, scope: FactScope, name: &str, value: FactValue<'_>) -> bool {
        let name = &name[..name.floor_char_boundary(MAX_NAME)];
        self.emit.emit(&Record::Fact(Fact { at_ns: self.at_ns, scope, name, value }), self.weight)
    }

    pub(super) fn number(&mut self, scope: FactScope, name: &str, number: u64) {
        self.send(scope, name, FactValue::Number(number));
    }

    pub(super) fn text(&mut self, scope: FactScope, name: &str, text: &str) {
        if text.len() > MAX_TEXT {
            return self.absent(scope, name, "the text is longer than 1000 bytes");
        }
        self.send(scope, name, FactValue::Text(text));
    }

    pub(super) fn absent(&mut self, scope: FactScope, name: &str, why: &str) {
        self.send(scope, name, FactValue::Absent(&why[..why.floor_char_boundary(MAX_WHY)]));
    }

    /// A number, or why there is none.
    pub(super) fn number_or(&mut self, scope: FactScope, name: &str, number: Result<u64, String>) {
        match number {
            Ok(number) => self.number(scope, name, number),
            Err(why) => self.absent(scope, name, &why),
        }
    }

    /// A text, or why there is none.
    pub(super) fn text_or(&mut self, scope: FactScope, name: &str, text: Result<String, String>) {
        match text {
            Ok(text) => self.text(scope, name, &text),
            Err(why) => self.absent(scope, name, &why),
        }
    }
}

/// A number that is sent only when it has changed since it was last sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Changing(Option<u64>);

impl Changing {
    /// `None` is not sent: a value that has become unreadable has ended.
    pub(super) fn send(&mut self, out: &mut Sender<'_>, scope: FactScope, name: &str, value: Option<u64>) {
        if let Some(value) = value.filter(|v| self.0 != Some(*v))
            && out.send(scope, name, FactValue::Number(value))
        {
            self.0 = Some(value);
        }
    }

    /// Sends the first value, or why there is none.
    pub(super) fn begin(
        &mut self,
        out: &mut Sender<'_>,
        scope: FactScope,
        name: &str,
        value: Result<u64, String>,
    ) {
        self.0 = value.as_ref().ok().copied();
        out.number_or(scope, name, value);
    }
}
