//! Time limits: a connector that waits for a board that is gone would wait for minutes, silently.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// After this time a person wants to know what the program waits for.
const WORD_AFTER: Duration = Duration::from_secs(3);
/// Bytes per second of the slowest connection: a serial line of 921,600 baud has 92 kB/s.
const SLOWEST: u64 = 20_000;

/// The limit for a transfer of so many bytes.
pub(super) fn for_bytes(limit: Duration, bytes: u64) -> Duration {
    limit + Duration::from_secs(bytes / SLOWEST)
}

/// Waits for the end of a program. `None` if the limit passed; the program is ended then. `waiting`
/// is called from time to time, with the elapsed time.
pub(super) fn within(
    child: &mut Child,
    limit: Duration,
    mut waiting: impl FnMut(Duration),
) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    let mut word_at = WORD_AFTER;
    let mut step = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let elapsed = begun.elapsed();
        if elapsed >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        if elapsed >= word_at {
            waiting(elapsed);
            word_at = elapsed + WORD_AFTER;
        }
        sleep(step.min(limit - elapsed));
        step = (step * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::{for_bytes, within};

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("there is a sleep");
        let begun = Instant::now();
        let mut words = 0;
        let status = within(&mut child, Duration::from_millis(3300), |_| words += 1);
        assert_eq!(status.expect("it can be waited for"), None);
        assert!(begun.elapsed() < Duration::from_secs(20) && words == 1, "{words} words");
        assert!(child.try_wait().expect("it can be waited for").is_some());
    }

    #[test]
    fn a_status_in_time() {
        let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn().expect("there is a sh");
        let status = within(&mut child, Duration::from_secs(60), |_| {}).expect("it can be waited for");
        assert_eq!(status.and_then(|s| s.code()), Some(3));
        assert_eq!(for_bytes(Duration::from_secs(30), 2_000_000), Duration::from_secs(130));
    }
}
