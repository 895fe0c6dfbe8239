//! `direct-alone PID [--duty | --each]`: puts the agent's direct probes into an engine, reads what they write, and takes them out at SIGINT.
//!
//! A whole agent opens uprobes too, and the kernel takes a second or more to release those of one that was killed. This one has none:
//! ci/direct-kills.sh kills thousands of it. With `--duty` recording begins and ends all the time. With `--each` the engine's files are
//! read once: for each byte of standard input a copy of this process does what `PID` alone (`.`) or with `--duty` (`d`) would, and
//! says its process id.

use std::fs::File;
use std::io::{BufReader, Read};
use std::process::ExitCode;
use std::time::Duration;

use profinfer_agent::direct::Reader;
use profinfer_agent::probes::operators::{Operators, ProbeMode};
use profinfer_agent::signals::Signals;
use profinfer_agent::sys::file::map;
use profinfer_agent::sys::spawn::orphan;
use profinfer_agent::target::files::{MappedFile, code_files};
use profinfer_agent::target::watch::Watch;
use profinfer_engine::{EnginePlan, Image, examine, is_engine_part};

/// Thread slots; requests for more fail.
const SLOTS: usize = 64;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let pid = arguments.next().and_then(|a| a.parse().ok());
    let how = arguments.next();
    let done = match (pid, how.as_deref()) {
        (Some(pid), None) => run(pid, |ready| ready.capture(false)),
        (Some(pid), Some("--duty")) => run(pid, |ready| ready.capture(true)),
        (Some(pid), Some("--each")) => run(pid, |ready| ready.each()),
        _ => Err("usage: direct-alone PID [--duty | --each]".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("direct-alone: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Facts about an engine, before it is changed.
struct Ready<'a> {
    pid: u32,
    /// Of whichever process reads them: a copy reads its own.
    signals: Signals,
    plan: &'a EnginePlan,
    files: &'a [MappedFile],
}

fn run(pid: u32, then: impl FnOnce(&Ready<'_>) -> Result<(), String>) -> Result<(), String> {
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
    then(&Ready { pid, signals, plan: &examine(&images, &[]), files: &files })
}

impl Ready<'_> {
    /// One capture in a separate process per byte of standard input.
    fn each(&self) -> Result<(), String> {
        for byte in BufReader::new(std::io::stdin()).bytes() {
            let duty = byte.map_err(|e| e.to_string())? == b'd';
            if orphan().map_err(|e| e.to_string())? {
                println!("{}", std::process::id());
                return self.capture(duty);
            }
        }
        Ok(())
    }

    fn capture(&self, duty: bool) -> Result<(), String> {
        let mut watch = Watch::default();
        let done = Operators::new(&ProbeMode::Direct(None))
            .put_in(self.pid, self.plan, self.files, None, &mut watch);
        let (done, _) = done.ok_or("no operators")?.map_err(|e| e.to_string())?;
        if done.repaired.done > 0 {
            eprintln!("{} places put back first", done.repaired.done);
        }
        eprintln!("the probes are in");
        let (mut reader, installed) = (done.reader, done.installed);
        for round in 0u64.. {
            if self.signals.asked_to_end() {
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
