//! A serial line at any speed. termios(3) has only some speeds; `termios2` of the kernel takes a
//! number.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc;

/// An open serial line in raw mode. Dropping it restores the previous settings.
#[derive(Debug)]
pub struct Port {
    file: File,
    before: libc::termios2,
    baud: u32,
}

impl Port {
    /// Opens `device` non-blocking, sets raw mode (8 data bits, no parity, no flow control) and the
    /// speed.
    ///
    /// # Errors
    /// The error of open(2) or of the terminal ioctl(2).
    pub fn open(device: &Path, baud: u32) -> io::Result<Self> {
        let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(device)?;
        let before = get(&file)?;
        let mut raw = before;
        raw.c_iflag = libc::IGNBRK | libc::IGNPAR;
        raw.c_oflag = 0;
        raw.c_lflag = 0;
        raw.c_cflag = libc::CS8 | libc::CREAD | libc::CLOCAL | libc::BOTHER;
        raw.c_ispeed = baud;
        raw.c_ospeed = baud;
        raw.c_cc[libc::VMIN] = 1;
        raw.c_cc[libc::VTIME] = 0;
        set(&file, &raw)?;
        let baud = get(&file)?.c_ospeed;
        Ok(Self { file, before, baud })
    }

    /// The speed that the driver reports.
    #[must_use]
    pub fn baud(&self) -> u32 {
        self.baud
    }

    /// A new descriptor of the line.
    ///
    /// # Errors
    /// If the process has too many descriptors.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        let _ = set(&self.file, &self.before);
    }
}

fn failed(what: &str) -> io::Error {
    let e = io::Error::last_os_error();
    io::Error::new(e.kind(), format!("{what} (ioctl): {e}; the device is not a serial line"))
}

fn get(file: &File) -> io::Result<libc::termios2> {
    let mut settings = MaybeUninit::<libc::termios2>::zeroed();
    // SAFETY: TCGETS2 fills a `termios2`, which `settings` has room for and outlives the call.
    if unsafe { libc::ioctl(file.as_raw_fd(), libc::TCGETS2, settings.as_mut_ptr()) } != 0 {
        return Err(failed("reading the settings"));
    }
    // SAFETY: The call filled it; zeroed bytes are a valid `termios2` as well.
    Ok(unsafe { settings.assume_init() })
}

fn set(file: &File, settings: &libc::termios2) -> io::Result<()> {
    // SAFETY: TCSETS2 only reads a `termios2`, which `settings` is and outlives the call.
    if unsafe { libc::ioctl(file.as_raw_fd(), libc::TCSETS2, std::ptr::from_ref(settings)) } != 0 {
        return Err(failed("changing the settings"));
    }
    Ok(())
}
