//! One schedule: a session, its faults, and the properties of what arrives. Everything comes from
//! one number.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::check::{Outcome, Reader};
use crate::fault::Fault;
use crate::link;
use crate::random::Random;
use crate::session::session;

/// Sums over schedules.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// Schedules that ran.
    pub schedules: u64,
    /// Of these, over a connection that breaks, and over a serial line whose host requests again.
    pub repaired: u64,
    /// Faults injected, by the order of their kinds.
    pub faults: [u64; Fault::ALL.len()],
    /// Frames: sent, arrived, in gaps, after the end of a cut stream, and in refused streams.
    pub frames: [u64; 5],
    /// Spans sent, arrived, and missing by the agent's totals.
    pub spans: [u64; 3],
    /// Places of damage.
    pub damaged: u64,
}

impl Sums {
    /// Adds those of other schedules.
    pub fn add(&mut self, other: &Self) {
        let each = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        self.schedules += other.schedules;
        self.repaired += other.repaired;
        self.damaged += other.damaged;
        each(&mut self.faults, &other.faults);
        each(&mut self.frames, &other.frames);
        each(&mut self.spans, &other.spans);
    }

    fn count(&mut self, o: &Outcome) {
        self.schedules += 1;
        self.damaged += o.damaged;
        let each = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        each(&mut self.frames, &[o.sent, o.arrived, o.gaps, o.cut, o.refused]);
        each(&mut self.spans, &[o.spans_sent, o.spans_arrived, o.spans_accounted]);
    }

    /// The figures, for people.
    #[must_use]
    pub fn table(&self) -> String {
        let [sent, arrived, gaps, cut, refused] = self.frames;
        let [spans, here, accounted] = self.spans;
        let faults = Fault::ALL.iter().zip(self.faults).map(|(f, n)| format!("{} {n}", f.name()));
        format!(
            "{} schedules, {} of them with a host that asks again\n\
             faults: {}; {} places of damage\n\
             frames: {sent} sent = {arrived} arrived + {gaps} in counted gaps + {cut} after a cut + {refused} of streams refused by their hello\n\
             spans: {spans} sent, {here} arrived as sent, {accounted} missing by the agent's totals, {} of streams that were cut or refused",
            self.schedules,
            self.repaired,
            faults.collect::<Vec<_>>().join(", "),
            self.damaged,
            spans - here - accounted,
        )
    }
}

/// Runs the schedule of a seed and adds it to `sums`.
///
/// # Errors
/// The violation of the property; a panic is one.
pub fn run(seed: u64, sums: &mut Sums) -> Result<(), String> {
    let done = catch_unwind(AssertUnwindSafe(|| one(seed, sums)));
    done.unwrap_or_else(|_| Err("it panicked, see above".to_owned()))
}

fn one(seed: u64, sums: &mut Sums) -> Result<(), String> {
    let random = &mut Random::new(seed);
    let sent = session(random);
    let outcome = match random.below(8) {
        0 => link::broken(&sent, random),
        1 => link::serial(&sent, random),
        _ => {
            let outcome = plain(&sent, random, sums)?;
            sums.count(&outcome);
            return Ok(());
        }
    }?;
    sums.repaired += 1;
    sums.count(&outcome);
    Ok(())
}

/// A link without repeated requests, like the copy of a recording.
fn plain(sent: &crate::session::Sent, random: &mut Random, sums: &mut Sums) -> Result<Outcome, String> {
    let whole = sent.stream();
    let (mut bytes, mut stalls) = (whole.clone(), Vec::new());
    let hello = sent.hello.len();
    // The hello is 64 bytes of thousands. It is hit on purpose, but rarely, because nothing after a
    // destroyed hello can be read.
    if random.once_in(20) {
        let mut head = bytes[..hello].to_vec();
        let kind = random.below(Fault::ALL.len());
        Fault::ALL[kind].apply(&mut head, 0, &mut stalls, random);
        sums.faults[kind] += 1;
        bytes.splice(..hello, head);
    }
    for _ in 0..random.below(9) {
        let kind = random.below(Fault::ALL.len());
        // One cut ends the rest. Cuts are rare enough for the other faults to be seen.
        if Fault::ALL[kind] == Fault::Cut && !random.once_in(4) {
            continue;
        }
        Fault::ALL[kind].apply(&mut bytes, hello, &mut stalls, random);
        sums.faults[kind] += 1;
    }
    stalls.sort_unstable();
    let mut reader = Reader::new(sent);
    let (mut rest, mut done) = (&bytes[..], 0);
    while !rest.is_empty() {
        let piece = 1 + random.below(rest.len().min(4096));
        let next = stalls.iter().find(|s| **s > done && **s < done + piece).map_or(piece, |s| s - done);
        let (now, after) = rest.split_at(next);
        reader.feed(now);
        // Woken without reason.
        reader.feed(&[]);
        (rest, done) = (after, done + next);
    }
    let hello_hit = bytes.get(..hello) != Some(&sent.hello[..]);
    reader.finish(hello_hit, bytes != whole)
}
