//! Accepts the connections of hosts.
//!
//! ```text
//! listener ─▶ pending (with a key: until a request is complete) ─▶ handshake (one at a time)
//!          ─▶ client, which waits for the next check ─▶ session
//! ```
//! Nothing here blocks. A running session checks the acceptor in its loop. A connection without the
//! key does not affect it.

use std::fs::File;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use profinfer_secure::{Key, Sealer};

use super::Listener;
use super::handshake::{Handshake, HandshakeStep};
use super::pending::PendingConnections;
use super::reader::Reader;
use crate::error::log;
use crate::signals::Signals;

/// Maximum number of connections that one check accepts or rejects.
const AT_ONCE: u32 = 64;
/// Poll interval while a connection is pending.
const SHORTLY: Duration = Duration::from_millis(20);
/// Minimum time between two log lines about rejected connections.
const QUIET: Duration = Duration::from_secs(1);

/// A listener with its pending connections and the accepted host.
#[derive(Debug)]
pub struct Acceptor {
    listener: Listener,
    key: Option<Key>,
    pending: PendingConnections,
    handshake: Option<Handshake>,
    client: Option<Client>,
    rejected: u64,
    logged: Option<Instant>,
}

/// An accepted host.
#[derive(Debug)]
pub struct Client {
    /// Reads its bytes.
    pub reader: Reader,
    /// Encrypts the bytes to it, with a key.
    pub sealer: Option<Sealer>,
    pub name: String,
    /// Time of its acceptance.
    pub since: Instant,
}

impl Client {
    fn new(link: File, name: String, channel: Option<(Sealer, profinfer_secure::Opener)>) -> Self {
        let (sealer, opener) = channel.unzip();
        Self { reader: Reader::new(link, opener), sealer, name, since: Instant::now() }
    }
}

impl Acceptor {
    /// With a key, accepts only hosts that hold it.
    #[must_use]
    pub fn new(listener: Listener, key: Option<Key>) -> Self {
        Self {
            listener,
            key,
            pending: PendingConnections::new(),
            handshake: None,
            client: None,
            rejected: 0,
            logged: None,
        }
    }

    #[must_use]
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// The accepted host that waits for a session.
    pub fn client(&mut self) -> &mut Option<Client> {
        &mut self.client
    }

    /// Checks for new connections. Does not block.
    pub fn look(&mut self) {
        if let Some(key) = self.key.take() {
            self.look_for(&key);
            self.key = Some(key);
        } else if self.client.is_none() {
            self.client = self.listener.accept().map(|(link, name)| Client::new(link, name, None));
        }
    }

    /// Advances the handshakes.
    fn look_for(&mut self, key: &Key) {
        for _ in 0..AT_ONCE {
            if self.client.is_some() {
                return;
            }
            let Some(handshake) = self.handshake.take().or_else(|| self.pending.ready().map(Handshake::new))
            else {
                if !self.admit() {
                    return;
                }
                continue;
            };
            match handshake.step(key) {
                HandshakeStep::Waiting(handshake) => {
                    self.handshake = Some(handshake);
                    return;
                }
                HandshakeStep::Known { link, name, sealer, opener } => {
                    self.client = Some(Client::new(link, name, Some((sealer, opener))));
                }
                HandshakeStep::Gone { name, why } => self.reject(&name, &why),
            }
        }
    }

    /// Moves the next connection to the pending ones. If they are full, the oldest one is rejected.
    /// False if there is no connection.
    fn admit(&mut self) -> bool {
        let Some((link, name)) = self.listener.accept() else { return false };
        if self.pending.full()
            && let Some(oldest) = self.pending.oldest()
        {
            self.reject(&oldest.name, "it sent no complete request, and newer connections arrived");
        }
        self.pending.admit(link, name);
        true
    }

    /// At most one line per second: a host that connects often must not fill the log of the board.
    fn reject(&mut self, name: &str, why: &str) {
        self.rejected += 1;
        if self.logged.is_none_or(|at| at.elapsed() > QUIET) {
            log(&format!("{name}: rejected: {why} (rejected so far: {})", self.rejected));
            self.logged = Some(Instant::now());
        }
    }

    /// Waits for a host. `None` if a signal ends the agent.
    pub fn wait(&mut self, signals: &Signals) -> Option<Client> {
        loop {
            if signals.asked_to_end() {
                return None;
            }
            self.look();
            if let Some(client) = self.client.take() {
                return Some(client);
            }
            let waiting = self.handshake.as_ref().map(Handshake::as_fd).or_else(|| self.pending.newest());
            match waiting {
                Some(link) => signals.wait(link, Some(SHORTLY)),
                None => signals.wait(self.listener.as_fd(), None),
            }
        }
    }
}
