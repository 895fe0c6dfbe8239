//! Collects and proves the places of one file.

use super::entered;
use super::places::{DirectPlace, DirectPlaces, DirectRole, NoDirect, Proof};
use super::{moved, whole};
use crate::code::function::Function;
use crate::code::instruction::{Flow, Instruction};
use crate::code::movable::JUMP;
use crate::file::elf::Machine;
use crate::probes::dispatch::Dispatcher;
use crate::probes::operators::Operators;
use crate::symbols::calls::Calls;

/// The places in the file with this index, whose operators were found as given.
pub(crate) fn find(
    calls: &Calls<'_, '_>,
    file: usize,
    operators: &Operators,
    has_phase: bool,
) -> Result<DirectPlaces, NoDirect> {
    let machine = calls.image.machine;
    let mut found = DirectPlaces { file, machine, has_phase, places: Vec::new(), proof: Proof::default() };
    for dispatcher in &operators.loops {
        found.add_loop(calls, dispatcher)?;
    }
    let mut followed = None;
    for (body, call) in whole::calls_of(calls, &operators.functions, &mut found.proof.references)? {
        if followed.replace(body.start) != Some(body.start) {
            entered::follow(calls, &body, &mut found.proof)?;
        }
        found.add(calls, &body, &call, |callee| DirectRole::Whole { callee })?;
    }
    found.places.sort_unstable_by_key(|place| place.offset);
    let overlap =
        found.places.windows(2).find(|two| two[0].offset + two[0].bytes.len() as u64 > two[1].offset);
    match overlap {
        Some(two) => Err(NoDirect::Misplaced(two[1].address)),
        None => Ok(found),
    }
}

impl DirectPlaces {
    fn add_loop(&mut self, calls: &Calls<'_, '_>, dispatcher: &Dispatcher) -> Result<(), NoDirect> {
        let body = &dispatcher.body;
        entered::follow(calls, body, &mut self.proof)?;
        let starts = dispatcher.starts.iter().map(|s| (s, false));
        for (start, fused) in starts.chain(dispatcher.fused.iter().map(|s| (s, true))) {
            let call = body.at(start.address).ok_or(NoDirect::NotACall(start.address))?;
            self.add(calls, body, call, |callee| DirectRole::Start { fused, callee })?;
        }
        let end = moved::end(calls, dispatcher)?;
        self.place(calls, end, DirectRole::End)
    }

    /// Adds a call of an address.
    fn add(
        &mut self,
        calls: &Calls<'_, '_>,
        body: &Function,
        call: &Instruction,
        role: impl FnOnce(u64) -> DirectRole,
    ) -> Result<(), NoDirect> {
        let length = if calls.image.machine == Machine::X86_64 { JUMP } else { 4 };
        match call.flow {
            // With a prefix it would be longer.
            Flow::Call(callee) if call.length == length => {
                entered::led_into(calls, body, call)?;
                self.place(calls, call, role(callee))
            }
            _ => Err(NoDirect::NotACall(call.address)),
        }
    }

    fn place(&mut self, calls: &Calls<'_, '_>, i: &Instruction, role: DirectRole) -> Result<(), NoDirect> {
        let image = calls.image;
        let place = image.file_offset(i.address).zip(image.bytes(i.address, i.length.into()));
        let (offset, bytes) = place.ok_or(NoDirect::Misplaced(i.address))?;
        self.places.push(DirectPlace { offset, address: i.address, bytes: bytes.to_vec(), role });
        Ok(())
    }
}
