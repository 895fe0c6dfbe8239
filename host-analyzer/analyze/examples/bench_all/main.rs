//! Prints the cost of a session from the stream to all default files: million spans per second of
//! each step, and bytes of memory per span, on one core.
//!
//! `taskset -c 1 cargo run --release --example bench_all [SPANS [FILE] | RECORDING]`; default: ten
//! million spans. With a file, only writes the synthetic session there, for other programs.

mod stream;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use profinfer_analysis::Analysis;
use profinfer_scratch::Allocator;
use profinfer_trace::decode::{Decoder, OpenError};
use profinfer_trace::ingest::Ingest;
use profinfer_trace::model::Model;
use profinfer_trace::test_support::tables as synthetic;
use profinfer_views::files::VIEWS;

/// The allocator of `analyze`.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Bytes per read of a file or socket.
const PIECE: usize = 1 << 16;
/// Number of runs per step; the shortest time counts.
const RUNS: usize = 3;

/// Counts the bytes, so that the writers are measured and not the disk.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Memory of this process in bytes, from the kernel: `VmRSS` now, or `VmHWM`, the peak since
/// [`forget_most`].
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn forget_most() {
    // Without it, the peak is that of the complete run.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The shortest time, the peak memory above the start, and a result.
fn measure<T>(mut f: impl FnMut() -> T) -> (Duration, u64, T) {
    let before = resident("VmRSS");
    forget_most();
    let mut once = || {
        let start = Instant::now();
        let result = f();
        (start.elapsed(), result)
    };
    let (mut shortest, mut last) = once();
    let most = resident("VmHWM").saturating_sub(before);
    for _ in 1..RUNS {
        drop(last);
        let (time, result) = once();
        shortest = shortest.min(time);
        last = result;
    }
    (shortest, most, last)
}

fn ingest(bytes: &[u8]) -> Result<Model, OpenError> {
    let (mut decoder, mut ingest) = (Decoder::new(), Ingest::new());
    bytes.chunks(PIECE).try_for_each(|piece| decoder.feed(piece, &mut |found| ingest.found(&found)))?;
    decoder.finish(&mut |found| ingest.found(&found))?;
    Ok(ingest.finish())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let wanted = arguments.next().unwrap_or_else(|| "10000000".to_owned());
    let bytes = match wanted.parse::<u32>() {
        // 16 layers of 13 operators, 2 threads.
        Ok(spans) => {
            let tokens = spans / (16 * 13 * 2);
            stream::bytes(&synthetic::model(&synthetic::Spec { layers: 16, tokens, ..Default::default() }))
        }
        Err(_) => std::fs::read(&wanted)?,
    };
    if let Some(file) = arguments.next() {
        return Ok(std::fs::write(file, &bytes)?);
    }
    let empty = resident("VmRSS");
    let (ingested, tables_most, model) = measure(|| ingest(&bytes));
    let model = model?;
    let spans = model.spans.len() as f64;
    println!("{} bytes of stream, {spans} spans in {} token calls", bytes.len(), model.llama_calls.len());
    println!("{:22}{:>10}{:>16}", "", "ms/million", "million spans/s");
    let print = |name: &str, time: Duration| {
        let seconds = time.as_secs_f64();
        println!("{name:22}{:10.1}{:16.2}", seconds * 1e9 / spans, spans / seconds / 1e6);
    };
    print("= bytes to tables", ingested);
    let tables = resident("VmRSS").saturating_sub(empty);
    let (analysed, analyses_most, analysis) = measure(|| Analysis::compute(&model));
    print("= all analyses", analysed);
    let with_results = resident("VmRSS").saturating_sub(empty);
    let (mut written, mut views_most) = (Duration::ZERO, 0_u64);
    for (name, view) in VIEWS {
        let (time, most, done) = measure(|| {
            let mut count = Count(0);
            view(&model, &analysis, &mut count).map(|()| count.0)
        });
        done?;
        print(name, time);
        written += time;
        views_most = views_most.max(most);
    }
    print("= default views", written);
    print("= everything", ingested + analysed + written);
    let print = |name: &str, bytes: u64| println!("{name:38}{:8.1} bytes a span", bytes as f64 / spans);
    print("tables", tables);
    print("most while they are made", tables_most);
    print("most while they are analysed", tables + analyses_most);
    print("most while views are written", with_results + views_most);
    Ok(())
}
