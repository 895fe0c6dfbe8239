//! The meaning of `prev_state` of sched_switch, from its print format: the bits changed between
//! releases.

use profinfer_wire::sched::Left;

use super::format::{Format, NotUsable, number, symbols};

/// The state bits of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct States {
    /// The task was still runnable, whatever the other bits.
    pub preempted: u32,
    /// The task has ended.
    pub dead: u32,
    letters: Vec<(u64, u8)>,
}

impl States {
    /// Reads the bits from the format of sched_switch.
    ///
    /// # Errors If the kernel prints states in an unknown way.
    pub fn new(switch: &Format) -> Result<Self, NotUsable> {
        let letters: Vec<(u64, u8)> = symbols(&switch.print)
            .into_iter()
            .filter_map(|(bits, name)| Some((bits, *name.as_bytes().first()?)))
            .filter(|(bits, _)| *bits != 0)
            .collect();
        let has = |letter| letters.iter().any(|(_, l)| *l == letter);
        if !has(b'S') || !has(b'D') {
            return Err(NotUsable::States("which states are sleep"));
        }
        let preempted = plus(&switch.print).ok_or(NotUsable::States("which state is preempted"))?;
        // A single bit above the others.
        if !preempted.is_power_of_two() || letters.iter().any(|(bits, _)| *bits >= preempted) {
            return Err(NotUsable::States("which state is preempted"));
        }
        let ended =
            letters.iter().filter(|(_, l)| matches!(l, b'X' | b'Z')).fold(0, |all, (bits, _)| all | bits);
        let narrow = |bits: u64| u32::try_from(bits).map_err(|_| NotUsable::States("its states in 32 bits"));
        Ok(Self { preempted: narrow(preempted)?, dead: narrow(ended)?, letters })
    }

    /// Why a task in that state left its CPU.
    #[must_use]
    pub fn left(&self, state: u64) -> Left {
        if state == 0 {
            return Left::Yielded;
        }
        if state & u64::from(self.preempted) != 0 {
            return Left::Preempted;
        }
        let letter = self.letters.iter().find(|(bits, _)| state & bits == *bits);
        match letter.map(|(_, letter)| letter) {
            Some(b'S') => Left::Sleeping,
            Some(b'D' | b'I') => Left::Blocked,
            Some(b'T' | b't') => Left::Stopped,
            Some(b'X' | b'Z' | b'x') => Left::Ended,
            _ => Left::Other,
        }
    }
}

/// The bit for which a `+` is printed: `REC->prev_state & 256 ? "+"`, or the kernel's expression
/// for it, `(((0x0 | 0x1 | …) + 1) << 1)`.
fn plus(print: &str) -> Option<u64> {
    let (before, _) = print.split_once("? \"+\"")?;
    let (_, mask) = before.rsplit_once("REC->prev_state &")?;
    let numbers = mask.split(['(', ')', '|', ' ']).filter(|t| !t.is_empty());
    match mask.split_once(')') {
        None => number(mask.trim_start_matches(['(', ' '])),
        Some((bits, rest)) => {
            let all: Option<Vec<u64>> =
                bits.split(['(', '|', ' ']).filter(|t| !t.is_empty()).map(number).collect();
            let or = all?.into_iter().fold(0, |all, bits| all | bits);
            match numbers.skip_while(|t| number(t).is_some()).collect::<Vec<_>>().as_slice() {
                [] if rest.trim_matches([')', ' ']).is_empty() => Some(or),
                ["+", "1", "<<", "1"] => or.checked_add(1)?.checked_mul(2),
                _ => None,
            }
        }
    }
}
