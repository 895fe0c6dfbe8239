//! Cost of the channel: encrypts and decrypts N MB in frames as the agent makes them. Prints MB/s,
//! and the CPU time per MB of each side. Run `cargo run -p profinfer-secure --release --example
//! bench_channel [MB]`
#![expect(clippy::unwrap_used, reason = "a measurement stops where it cannot go on")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use profinfer_secure::channel::{FRAME_OVERHEAD, MAX_PLAIN};
use profinfer_secure::{Initiator, Key, Responder, Step};

fn main() {
    let mb: usize = std::env::args().nth(1).map_or(256, |mb| mb.parse().unwrap());
    let key = Key::new("bench", Key::secret().unwrap()).unwrap();
    let begun = Instant::now();
    let rounds = 200;
    for _ in 0..rounds {
        black_box(session(&key));
    }
    println!("handshake, both sides: {:.0} µs", begun.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
    for size in [256, 4096, 16 << 10, MAX_PLAIN] {
        let (mut sealer, mut opener) = session(&key);
        let (plain, mut frame) = (vec![0x5a; size], vec![0; size + FRAME_OVERHEAD]);
        let frames = mb * 1_000_000 / size;
        let (mut sealing, mut opening) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..frames {
            let begun = Instant::now();
            sealer.seal(black_box(&plain), &mut frame).unwrap();
            let sealed = Instant::now();
            let mut rest = &frame[..];
            while !rest.is_empty() {
                let room = opener.room();
                let (now, more) = rest.split_at(room.len());
                room.copy_from_slice(now);
                opener.filled(now.len()).unwrap();
                rest = more;
            }
            black_box(opener.plain());
            sealing += sealed - begun;
            opening += sealed.elapsed();
        }
        let bytes = (frames * size) as f64 / 1e6;
        println!(
            "frames of {size:5} bytes: seal {:6.1} MB/s ({:.2} ms a MB), open {:6.1} MB/s ({:.2} ms a MB), {:.2} % more bytes",
            bytes / sealing.as_secs_f64(),
            sealing.as_secs_f64() * 1e3 / bytes,
            bytes / opening.as_secs_f64(),
            opening.as_secs_f64() * 1e3 / bytes,
            FRAME_OVERHEAD as f64 * 100.0 / size as f64,
        );
    }
}

/// The sending side of the agent and the receiving side of the host.
fn session(key: &Key) -> (profinfer_secure::Sealer, profinfer_secure::Opener) {
    let (initiator, request) = Initiator::new(key, 1).unwrap();
    let mut responder = Responder::new();
    let (hello, message) = request.split_at(6);
    responder.room().copy_from_slice(hello);
    responder.filled(hello.len(), key, 1).unwrap();
    responder.room().copy_from_slice(message);
    let Step::Answer(answer) = responder.filled(message.len(), key, 1).unwrap() else { panic!("no answer") };
    let mut initiator = initiator;
    let mut rest = &answer[..];
    let host = loop {
        let room = initiator.room();
        let (now, more) = rest.split_at(room.len());
        room.copy_from_slice(now);
        rest = more;
        match initiator.filled(now.len()).unwrap() {
            Ok(connected) => break connected,
            Err(waiting) => initiator = waiting,
        }
    };
    responder.room().copy_from_slice(&host.first);
    let Step::Known(sealer, _) = responder.filled(host.first.len(), key, 1).unwrap() else {
        panic!("unknown")
    };
    (sealer, host.opener)
}
