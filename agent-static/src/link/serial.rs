//! A serial line: `serial:/dev/ttyFIQ0@1500000`.

use std::path::Path;

use crate::error::{Diagnostic, Result};
use crate::sys::serial::Port;

/// Opens `DEVICE@BAUD` in raw mode: 8 data bits, no parity, no flow control.
///
/// # Errors
/// If the device does not exist, or its driver does not support the speed.
pub fn open(place: &str) -> Result<Port> {
    let tried = format!("opening serial:{place}");
    let form = "use the form serial:/dev/ttyFIQ0@1500000";
    let Some((device, baud)) = place.rsplit_once('@') else {
        return Err(Diagnostic::new(tried, "the speed is missing", form));
    };
    let Some(baud) = baud.parse::<u32>().ok().filter(|b| *b > 0) else {
        return Err(Diagnostic::new(tried, format!("`{baud}` is not a speed"), form));
    };
    let port = Port::open(Path::new(device), baud).map_err(|e| {
        let help = "`ls /dev/tty*` lists the serial devices, /proc/consoles names the console; run the agent as root";
        Diagnostic::new(&tried, e, help)
    })?;
    // A driver chooses the nearest speed that its clock can produce. Both ends tolerate 3 %.
    let actual = port.baud();
    if actual.abs_diff(baud) > baud / 33 {
        let answer = format!("the driver set {actual} baud");
        return Err(Diagnostic::new(tried, answer, "use a speed that the driver supports, on both ends"));
    }
    Ok(port)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::open;

    #[test]
    fn says_what_is_wrong() {
        for (place, said) in [
            ("/dev/ttyS0", "speed"),
            ("/dev/ttyS0@fast", "`fast`"),
            ("/dev/ttyS0@0", "`0`"),
            ("/nowhere@9600", "No such file"),
        ] {
            let e = open(place).unwrap_err();
            assert!(e.answer.contains(said) && e.tried.contains(place) && !e.help.is_empty(), "{place}: {e}");
        }
        let e = open("/dev/null@9600").unwrap_err();
        assert!(e.answer.contains("ioctl"), "{e}");
    }

    #[test]
    fn any_speed_and_the_old_settings_afterwards() {
        let pty = nix::pty::openpty(None, None).unwrap();
        let path = nix::unistd::ttyname(&pty.slave).unwrap();
        let before = nix::sys::termios::tcgetattr(&pty.slave).unwrap();
        for baud in [9600, 921_600, 1_500_000, 1_234_567] {
            let port = open(&format!("{}@{baud}", path.display())).unwrap();
            assert_eq!(port.baud(), baud);
            let raw = nix::sys::termios::tcgetattr(&pty.slave).unwrap();
            assert!(
                raw.local_flags.is_empty()
                    && raw.output_flags.is_empty()
                    && raw.input_flags != before.input_flags
            );
            drop(port);
            let after = nix::sys::termios::tcgetattr(&pty.slave).unwrap();
            assert_eq!((after.local_flags, after.output_flags), (before.local_flags, before.output_flags));
        }
    }
}
