//! The budget of real runs: a disturbance from outside appears in its class, and little time is
//! unknown.

use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_analysis::budget::{Budget, Class};
use profinfer_analysis::phase::{Phase, Phases};
use profinfer_trace::model::Model;

use crate::support::{engine, model, parts, read, record, signal, started, try_signal};

fn budget(m: &Model) -> Budget {
    Budget::compute(m, &Phases::compute(m))
}

/// Share of the decode time in a class.
fn share(b: &Budget, class: Class) -> f64 {
    let decode = b.phase(Phase::Decode).expect("tokens were decoded");
    decode.wall.get(class) as f64 / decode.time_ns as f64
}

/// At most 5 % of a small real model's decode time is unknown.
#[test]
fn little_is_unknown() {
    let (Some(parts), Some(bin)) = (parts(), engine("PROFINFER_ENGINE_DIR")) else { return };
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "smollm2"));
    let command = [driver.to_str().unwrap(), "-m", &gguf, "-t", "2", "-p", "8", "-n", "48"];
    let b = budget(&record(&parts, &[], &command).0);
    assert!(b.scheduler);
    let unknown = share(&b, Class::Unknown);
    println!("unknown: {:.3} %", unknown * 100.0);
    assert!(unknown < 0.05);
}

const STOPS: u32 = 40;
const STOP: Duration = Duration::from_millis(5);

/// Stops the engine again and again while it decodes: the time of the stops is `blocked`, and no
/// other class grows by it.
#[test]
fn stops_are_blocked_time() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("trace.pfi");
    let (driver, gguf) = (bin.join("nodes"), model(&parts, "smollm2"));
    let mut command = Command::new(&parts.agent);
    command
        .args([
            "record",
            "--full",
            "--out",
            out.to_str().unwrap(),
            "--",
            driver.to_str().unwrap(),
            "-m",
            &gguf,
        ])
        .args(["-t", "1", "-p", "8", "-n", "400"]);
    let (mut agent, engine) = started(&mut command, &out, 200_000);
    let mut stopped = Duration::ZERO;
    for _ in 0..STOPS {
        let since = Instant::now();
        try_signal(engine.pid(), Signal::SIGSTOP).expect("the engine runs until the last stop");
        std::thread::sleep(STOP);
        signal(engine.pid(), Signal::SIGCONT);
        stopped += since.elapsed();
        std::thread::sleep(STOP);
    }
    assert!(agent.wait().unwrap().success());
    let b = budget(&read(&out));
    let decode = b.phase(Phase::Decode).unwrap();
    let blocked = decode.wall.get(Class::Blocked) as f64;
    let planted = stopped.as_nanos() as f64;
    println!("stopped for {:.1} ms, blocked {:.1} ms", planted / 1e6, blocked / 1e6);
    assert!((0.7..1.3).contains(&(blocked / planted)), "{blocked} of {planted}: {decode:?}");
    // No other class has as much: the stops would be two thirds of it. The application's has sampling, too, whose
    // time is that of the machine.
    let others = [Class::Throttled, Class::Waking, Class::Unknown];
    for class in others {
        assert!((decode.wall.get(class) as f64) < planted / 3.0, "{class:?}: {decode:?}");
    }
}
