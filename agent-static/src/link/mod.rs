//! The destination of the stream. A link accepts bytes and never blocks the drain of the ring
//! buffer for long. If a link is too slow, complete frames are dropped and counted.

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

/// Where hosts connect.
#[derive(Debug)]
pub enum Place {
    Acceptor(Box<Acceptor>),
    Serial(crate::sys::serial::Port),
}

/// Opens an [`Address`]. With a key, only hosts that hold it get a session.
///
/// # Errors
/// If the address is malformed, cannot be opened, or can be reached from the network without a key.
pub fn listen(address: &str, key: Option<Key>) -> Result<Place> {
    let keyed = key.is_some();
    let listener = match Address::parse(address)? {
        Address::Serial(_) if keyed => {
            return Err(Diagnostic::new(
                format!("listening at {address} with a key"),
                "a serial line cannot be encrypted: kernel messages appear between its frames",
                "omit --key: whoever holds the other end of the line can read it",
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
