//! Prints what the agent would probe in an engine, from its files alone: `plan FILE...`.

use profinfer_agent::engine::elf::Image;
use profinfer_agent::engine::{describe, examine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let bytes = paths.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let images = paths.iter().zip(&bytes).map(|(p, b)| Image::parse(p, b)).collect::<Result<Vec<_>, _>>()?;
    let start = std::time::Instant::now();
    let plan = examine(&images);
    let took = start.elapsed();
    print!("{}", describe(&plan, &images));
    println!("time     {:.1} ms", took.as_secs_f64() * 1e3);
    Ok(())
}
