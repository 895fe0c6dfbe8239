//! Prints the speed of decoding and ingest, in spans per second.
//!
//! `taskset -c 1 cargo run --release --example bench_ingest [RECORDING | SPANS]`

use std::time::{Duration, Instant};

use profinfer_trace::decode::{Decoder, Found};
use profinfer_trace::ingest::Ingest;
use profinfer_trace::test_support::session::{Size, session};

/// Bytes per read of a file or socket.
const PIECE: usize = 1 << 16;

/// The shortest of seven runs, and the last result.
fn best<T>(mut f: impl FnMut() -> T) -> (Duration, T) {
    let mut run = || {
        let start = Instant::now();
        let result = f();
        (start.elapsed(), result)
    };
    let (mut shortest, mut last) = run();
    for _ in 0..6 {
        let (time, result) = run();
        shortest = shortest.min(time);
        last = result;
    }
    (shortest, last)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted = std::env::args().nth(1).unwrap_or_else(|| "1000000".to_owned());
    let bytes = match wanted.parse::<u32>() {
        // 2 threads, 150 nodes with about 100 kernels, every other call in two splits.
        Ok(spans) => {
            session(1, Size { threads: 2, llama_calls: spans / 280 + 1, nodes: 150, views_run: false })
                .bytes()
        }
        Err(_) => std::fs::read(&wanted)?,
    };

    let (decode, records) = best(|| {
        let (mut decoder, mut records) = (Decoder::new(), 0u64);
        let mut count = |found: Found<'_>| records += u64::from(matches!(found, Found::Record { .. }));
        let fed = bytes.chunks(PIECE).try_for_each(|piece| decoder.feed(piece, &mut count));
        fed.and_then(|()| decoder.finish(&mut count)).map(|()| records)
    });
    let (both, model) = best(|| {
        let (mut decoder, mut ingest) = (Decoder::new(), Ingest::new());
        let fed =
            bytes.chunks(PIECE).try_for_each(|piece| decoder.feed(piece, &mut |found| ingest.found(&found)));
        fed.and_then(|()| decoder.finish(&mut |found| ingest.found(&found))).map(|()| ingest.finish())
    });
    let (model, records) = (model?, records?);
    let spans = model.spans.len() as f64;
    println!("{} bytes, {records} records, {spans} spans", bytes.len());
    let print = |name: &str, time: Duration| {
        let seconds = time.as_secs_f64();
        println!("{name:18}{:8.2} ms {:8.1} million spans/s", seconds * 1e3, spans / seconds / 1e6);
    };
    print("decode", decode);
    print("decode and ingest", both);
    println!("{:.2} bytes per span", model.health.span_bytes as f64 / spans.max(1.0));
    Ok(())
}
