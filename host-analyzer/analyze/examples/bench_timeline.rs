//! Prints the cost of the timeline files for a session of about a million spans: time, bytes, bytes
//! per slice.
//!
//! `taskset -c 1 cargo run --release --example bench_timeline [SPANS [FOLDER]]`
//!
//! With a folder, writes the files there, for a viewer.

#[path = "../../views/tests/timeline/large.rs"]
mod large;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use profinfer_analysis::{Analysis, track};
use profinfer_views::files::View;
use profinfer_views::{chrome::chrome, perfetto::perfetto, summary::summary};

/// The shortest of five runs, and the last result.
fn best<T>(mut f: impl FnMut() -> T) -> (Duration, T) {
    let mut run = || {
        let start = Instant::now();
        let result = f();
        (start.elapsed(), result)
    };
    let (mut shortest, mut last) = run();
    for _ in 0..4 {
        let (time, result) = run();
        shortest = shortest.min(time);
        last = result;
    }
    (shortest, last)
}

/// Counts the bytes, to measure the writers and not the disk.
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

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let wanted = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    let folder = arguments.next();
    let model = large::model(wanted, 2, 30);
    let (time, tracks) = best(|| track::tracks(&model));
    let slices: u64 = tracks.iter().map(|t| t.slices).sum();
    println!("{} spans, {} tracks, {slices} slices", model.spans.len(), tracks.len());
    println!("{:18}{:9.2} ms", "tracks", time.as_secs_f64() * 1e3);
    let analysis = Analysis::compute(&model);
    for (name, view) in [("timeline.json", chrome as View), ("timeline.pftrace", perfetto)] {
        let (time, bytes) = best(|| {
            let mut count = Count(0);
            view(&model, &analysis, &mut count).map(|()| count.0)
        });
        let bytes = bytes?;
        println!(
            "{name:18}{:9.2} ms  {bytes} bytes, {:.1} per slice",
            time.as_secs_f64() * 1e3,
            bytes as f64 / slices as f64
        );
        if let Some(folder) = &folder {
            view(&model, &analysis, &mut File::create(Path::new(folder).join(name))?)?;
        }
    }
    if let Some(folder) = &folder {
        summary(&model, &analysis, &mut File::create(Path::new(folder).join("summary.json"))?)?;
    }
    Ok(())
}
