//! Where the stream goes. A link takes bytes and never blocks the drain of the kernel's ring buffer for
//! long: what a slow link cannot take is dropped in whole frames and counted.

pub mod output;
pub mod serial;
pub mod tcp;

pub use output::Output;

use crate::error::{Diagnostic, Result};

/// Where to wait for a host.
#[derive(Debug)]
pub enum Place {
    /// A port of this machine.
    Tcp(std::net::TcpListener),
    /// A serial line.
    Serial(crate::sys::serial::Port),
}

/// Opens `tcp:127.0.0.1:PORT` or `serial:DEVICE@BAUD`.
///
/// # Errors
/// When it is neither, or cannot be opened.
pub fn listen(address: &str) -> Result<Place> {
    match address.strip_prefix("serial:") {
        Some(place) => serial::open(place).map(Place::Serial),
        None if address.starts_with("tcp:") => tcp::listen(address).map(Place::Tcp),
        None => Err(Diagnostic::new(
            format!("listening at {address}"),
            "the address begins neither with `tcp:` nor with `serial:`",
            "write it like tcp:127.0.0.1:7817 or serial:/dev/ttyFIQ0@1500000",
        )),
    }
}
