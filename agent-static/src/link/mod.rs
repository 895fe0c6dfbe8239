//! The destination of the stream. A link takes bytes and never blocks the drain of the ring buffer for long. If a link
//! is too slow, whole frames are dropped and counted.

pub mod acceptor;
pub mod address;
pub mod emit;
mod handshake;
pub mod listener;
pub mod output;
mod pending;
pub mod reader;
mod sealing;
pub mod serial;
pub mod tcp;
pub mod unix;

use profinfer_secure::Key;

pub use acceptor::{Acceptor, Client};
pub use address::Address;
pub use listener::Listener;
pub use output::Output;
pub use reader::Reader;

use crate::error::{Diagnostic, Result};

/// Where to wait for a host.
#[derive(Debug)]
pub enum Place {
    /// A socket.
    Acceptor(Box<Acceptor>),
    /// A serial line.
    Serial(crate::sys::serial::Port),
}

/// Opens what [`Address`] names. With a key, who does not have it gets nothing.
///
/// # Errors
/// When the address has no known form, cannot be opened, or can be reached from the network without a key.
pub fn listen(address: &str, key: Option<Key>) -> Result<Place> {
    let keyed = key.is_some();
    let listener = match Address::parse(address)? {
        Address::Serial(_) if keyed => {
            return Err(Diagnostic::new(
                format!("listening at {address} with a key"),
                "on a serial line there is no channel: messages of the kernel come between its frames",
                "leave --key out: who holds the line's other end reads it",
            ));
        }
        Address::Serial(place) => return serial::open(&place).map(Place::Serial),
        Address::Tcp(place) => Listener::tcp(tcp::listen(&place, keyed)?),
        Address::Unix(path) => Listener::unix(unix::at_path(&path)?, Some(path)),
        Address::Abstract(name) => Listener::unix(unix::at_name(&name)?, None),
    };
    let listener = listener.map_err(|e| {
        Diagnostic::new(format!("listening at {address}"), e, "choose another address with --listen")
    })?;
    Ok(Place::Acceptor(Box::new(Acceptor::new(listener, key))))
}
