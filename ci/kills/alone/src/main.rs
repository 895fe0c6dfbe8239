//! `direct-alone PID [--duty]`: puts the agent's direct probes into an engine, reads what they write, and takes them out at SIGINT.
//!
//! A whole agent opens uprobes too, and the kernel takes a second or more to release those of one that was killed. This one has none:
//! ci/direct-kills.sh kills thousands of it. With `--duty` recording begins and ends all the time.

use std::fs::File;
use std::process::ExitCode;
use std::time::Duration;

use profinfer_agent::direct::Reader;
use profinfer_agent::operators::{Operators, Wish};
use profinfer_agent::signals::Signals;
use profinfer_agent::sys::file::map;
use profinfer_agent::target::maps::code_files;
use profinfer_agent::target::watch::Watch;
use profinfer_engine::{EnginePlan, Image, examine, is_engine_part};

/// Slots of threads; more are asked for in vain.
const SLOTS: usize = 64;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let pid = arguments.next().and_then(|a| a.parse().ok());
    let done = pid.ok_or_else(|| "usage: direct-alone PID [--duty]".to_owned());
    match done.and_then(|pid| run(pid, arguments.next().is_some())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("direct-alone: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(pid: u32, duty: bool) -> Result<(), String> {
    let signals = Signals::new().map_err(|e| e.to_string())?;
    let mapped = code_files(pid);
    let opened = mapped.iter().map(|f| File::open(&f.open_path).and_then(|o| map(&o)));
    let bytes: Vec<_> = opened.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let mut images = Vec::new();
    let mut files = Vec::new();
    for (file, bytes) in mapped.iter().zip(&bytes) {
        if let Ok(image) = Image::parse(&file.path, bytes)
            && is_engine_part(&image, &[])
        {
            images.push(image);
            files.push(file.clone());
        }
    }
    let plan: EnginePlan = examine(&images, &[]);
    let mut watch = Watch::default();
    let done = Operators::new(&Wish::Direct(None)).put_in(pid, &plan, &files, None, &mut watch);
    let (done, _) = done.ok_or("no operators")?.map_err(|e| e.to_string())?;
    if done.repaired.done > 0 {
        eprintln!("{} places put back first", done.repaired.done);
    }
    eprintln!("the probes are in");
    let (mut reader, installed) = (done.reader, done.installed);
    for round in 0u64.. {
        if signals.asked_to_end() {
            break;
        }
        drain(&mut reader);
        if duty && round.is_multiple_of(2) {
            installed.pause();
        } else if duty {
            installed.resume();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    installed.take_out(&mut watch).map_err(|e| e.to_string())?;
    drain(&mut reader);
    Ok(())
}

fn drain(reader: &mut Reader) {
    for slot in 0..SLOTS {
        for _ in 0..reader.waiting(slot) {
            let _ = reader.oldest(slot);
            reader.next(slot);
        }
        reader.give_back(slot);
    }
    reader.free();
}
