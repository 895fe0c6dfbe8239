//! `profinfer-faults [--schedules N] [--seed S]`: schedules S to S + N - 1; see ci/faults.sh.

use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut n, mut seed) = (1000, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let number = arguments.next().and_then(|a| a.parse().ok());
        match (argument.as_str(), number) {
            ("--schedules", Some(number)) => n = number,
            ("--seed", Some(number)) => seed = number,
            _ => {
                eprintln!("usage: profinfer-faults [--schedules N] [--seed S]");
                return ExitCode::FAILURE;
            }
        }
    }
    match profinfer_faults::run_all(seed, n) {
        Ok(sums) => {
            println!("{}", sums.table());
            ExitCode::SUCCESS
        }
        Err((seed, e)) => {
            eprintln!("FAILED: {e}\n  again: ci/faults.sh --seed {seed} --schedules 1");
            ExitCode::FAILURE
        }
    }
}
