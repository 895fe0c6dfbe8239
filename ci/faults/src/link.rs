//! Links on which the host requests again: the unchanged receiver of `analyze`, against an agent
//! that still has all frames. Whatever a line visibly destroys, and wherever a connection breaks,
//! everything arrives in the end.

use std::time::{Duration, Instant};

use profinfer_wire::hello::HELLO_LEN;

use crate::check::{Outcome, Reader};
use crate::fault::Fault;
use crate::random::Random;
use crate::session::Sent;
use receive::{Next, Receiver};

// A private module of the command line, used here without it.
#[expect(dead_code, reason = "what only the messages of the command line use")]
#[path = "../../../host-analyzer/analyze/src/capture/receive.rs"]
mod receive;

/// Faults of one line. A host requests a frame eight times; fewer faults cannot exhaust that.
const FAULTS: usize = 6;

/// Longest delay of the next bytes before the host requests again; the host's limit is two seconds.
const SILENCE: Duration = Duration::from_millis(2100);

/// A connection that breaks at random bytes, also in the hello.
pub(crate) fn broken(sent: &Sent, random: &mut Random) -> Result<Outcome, String> {
    let (now, mut receiver) = (Instant::now(), Receiver::new(false, Instant::now()));
    let mut reader = Reader::new(sent);
    let mut left = random.below(6);
    let mut begun = false;
    for _ in 0..100 {
        // After a break the agent sends the hello again, and all frames from the requested one on.
        let from = if begun { reader.decoder.next_seq() as usize } else { 0 };
        let mut bytes = sent.hello.clone();
        sent.frames.iter().skip(from).for_each(|f| bytes.extend_from_slice(&f.encoded));
        let breaks = left > 0;
        if breaks {
            left -= 1;
            // A host that does not know the session's nonce cannot request it.
            let at_least = if begun { 0 } else { HELLO_LEN };
            bytes.truncate(at_least + random.below(bytes.len() - at_least));
        }
        if begun {
            receiver.reconnected();
        }
        for piece in pieces(&bytes, random) {
            let next = receiver.take(piece, now, &mut |clean| reader.feed(clean));
            if next != Next::Listen {
                return Err(format!("on a connection the host wants {next:?}"));
            }
        }
        begun = true;
        if !breaks {
            break;
        }
        reader.decoder.forget_partial();
    }
    everything(reader.finish(false, false)?, "over a connection that broke")
}

/// A serial line with faults that are visible as noise.
pub(crate) fn serial(sent: &Sent, random: &mut Random) -> Result<Outcome, String> {
    let mut now = Instant::now();
    let mut receiver = Receiver::new(true, now);
    let mut reader = Reader::new(sent);
    let mut left = random.below(FAULTS + 1);
    // The agent sends the hello and then frame after frame; after a request, from the requested one
    // on.
    let (mut hello, mut at) = (true, 0);
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        if std::mem::take(&mut hello) {
            bytes.extend_from_slice(&sent.hello);
        }
        for frame in sent.frames.iter().skip(at).take(1 + random.below(4)) {
            bytes.push(0);
            bytes.extend_from_slice(&frame.encoded);
            at += 1;
        }
        if left > 0 && !bytes.is_empty() && random.once_in(3) {
            left -= 1;
            let fault = Fault::REPAIRABLE[random.below(Fault::REPAIRABLE.len())];
            fault.apply(&mut bytes, 0, &mut Vec::new(), random);
        }
        now += if bytes.is_empty() { SILENCE } else { Duration::from_millis(1) };
        let mut next = receiver.ask(now);
        for piece in pieces(&bytes, random) {
            let after = receiver.take(piece, now, &mut |clean| reader.feed(clean));
            next = if after == Next::Listen { next } else { after };
        }
        match next {
            Next::Ask(seq) => at = seq as usize,
            Next::OtherSession => return Err("the host takes the session for another one".to_owned()),
            // Without a hello the host repeats its request, and the agent starts again.
            Next::Listen if receiver.nonce().is_none() && at >= sent.frames.len() => (hello, at) = (true, 0),
            Next::Listen => {}
        }
        if reader.ended() {
            break;
        }
    }
    let line = (receiver.noise, receiver.repairs, receiver.overheard.clone(), receiver.heard());
    let outcome = reader.finish(false, false).map_err(|e| format!("{e}; the line: {line:?}"))?;
    everything(outcome, "over a serial line whose host asks again")
}

/// Bytes in the pieces in which they arrive.
fn pieces<'b>(bytes: &'b [u8], random: &mut Random) -> Vec<&'b [u8]> {
    let (mut rest, mut all) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(1 + random.below(rest.len().min(4096)));
        all.push(piece);
        rest = after;
    }
    all
}

fn everything(outcome: Outcome, how: &str) -> Result<Outcome, String> {
    if outcome.arrived == outcome.sent {
        return Ok(outcome);
    }
    Err(format!("{} of {} frames arrived {how}", outcome.arrived, outcome.sent))
}
