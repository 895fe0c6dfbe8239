//! The acceptor at which hosts arrive.
//!
//! ```text
//! listener ─▶ pending (with a key: until a request is whole) ─▶ handshake (one handshake at a time) ─▶ client, who waits until
//! somebody looks ─▶ session
//! ```
//! Nothing here waits: a running session looks at the acceptor in its own loop, and who is not known changes nothing for it.

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

/// Connections that are taken in or turned away in one look at the acceptor.
const AT_ONCE: u32 = 64;
/// Who is there is looked at so often while somebody is.
const SHORTLY: Duration = Duration::from_millis(20);
/// Time between two lines about who was turned away.
const QUIET: Duration = Duration::from_secs(1);

/// A acceptor, and who is at it.
#[derive(Debug)]
pub struct Acceptor {
    listener: Listener,
    key: Option<Key>,
    pending: PendingConnections,
    knocking: Option<Handshake>,
    client: Option<Client>,
    turned_away: u64,
    said: Option<Instant>,
}

/// A host that may come in.
#[derive(Debug)]
pub struct Client {
    /// What comes from it.
    pub reader: Reader,
    /// What goes to it, if there is a key.
    pub sealer: Option<Sealer>,
    /// Its name.
    pub name: String,
    /// When it came.
    pub since: Instant,
}

impl Client {
    fn new(link: File, name: String, channel: Option<(Sealer, profinfer_secure::Opener)>) -> Self {
        let (sealer, opener) = channel.unzip();
        Self { reader: Reader::new(link, opener), sealer, name, since: Instant::now() }
    }
}

impl Acceptor {
    /// Who comes to the listener may come in, if there is a key only with it.
    #[must_use]
    pub fn new(listener: Listener, key: Option<Key>) -> Self {
        Self {
            listener,
            key,
            pending: PendingConnections::new(),
            knocking: None,
            client: None,
            turned_away: 0,
            said: None,
        }
    }

    /// The socket.
    #[must_use]
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// The host that waits inside.
    pub fn client(&mut self) -> &mut Option<Client> {
        &mut self.client
    }

    /// Looks who is there. Does not wait.
    pub fn look(&mut self) {
        if let Some(key) = self.key.take() {
            self.look_for(&key);
            self.key = Some(key);
        } else if self.client.is_none() {
            self.client = self.listener.accept().map(|(link, name)| Client::new(link, name, None));
        }
    }

    /// Looks who has the key.
    fn look_for(&mut self, key: &Key) {
        for _ in 0..AT_ONCE {
            if self.client.is_some() {
                return;
            }
            let Some(handshake) = self.knocking.take().or_else(|| self.pending.ready().map(Handshake::new))
            else {
                if !self.admit() {
                    return;
                }
                continue;
            };
            match handshake.step(key) {
                HandshakeStep::Waiting(handshake) => {
                    self.knocking = Some(handshake);
                    return;
                }
                HandshakeStep::Known { link, name, sealer, opener } => {
                    self.client = Some(Client::new(link, name, Some((sealer, opener))));
                }
                HandshakeStep::Gone { name, why } => self.turn_away(&name, &why),
            }
        }
    }

    /// The next connection comes into the pending, whose places are given to those who came last. False if there is none.
    fn admit(&mut self) -> bool {
        let Some((link, name)) = self.listener.accept() else { return false };
        if self.pending.full()
            && let Some(oldest) = self.pending.oldest()
        {
            self.turn_away(&oldest.name, "it said nothing whole, and others came");
        }
        self.pending.admit(link, name);
        true
    }

    /// One line a second at most: who knocks often must not fill the board's log.
    fn turn_away(&mut self, name: &str, why: &str) {
        self.turned_away += 1;
        if self.said.is_none_or(|said| said.elapsed() > QUIET) {
            log(&format!("{name}: not let in: {why} (turned away so far: {})", self.turned_away));
            self.said = Some(Instant::now());
        }
    }

    /// Waits for a host. `None` if a signal asks the agent to end.
    pub fn wait(&mut self, signals: &Signals) -> Option<Client> {
        loop {
            if signals.asked_to_end() {
                return None;
            }
            self.look();
            if let Some(client) = self.client.take() {
                return Some(client);
            }
            let waiting = self.knocking.as_ref().map(Handshake::as_fd).or_else(|| self.pending.newest());
            match waiting {
                Some(link) => signals.wait(link, Some(SHORTLY)),
                None => signals.wait(self.listener.as_fd(), None),
            }
        }
    }
}
