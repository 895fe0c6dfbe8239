//! The destination of the stream. A link takes bytes and never blocks the drain of the ring buffer for long. If a link
//! is too slow, whole frames are dropped and counted.

pub mod output;
pub mod serial;
pub mod tcp;

pub use output::Output;

use crate::error::{Diagnostic, Result};

/// Where to wait for a host.
#[derive(Debug)]
pub enum Place {
    /// A port of this machine's loopback address.
    Tcp(std::net::TcpListener),
    /// A serial line.
    Serial(crate::sys::serial::Port),
}

/// Opens `tcp:127.0.0.1:PORT` or `serial:DEVICE@BAUD`.
///
/// # Errors
/// When the address has neither form, or cannot be opened.
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
