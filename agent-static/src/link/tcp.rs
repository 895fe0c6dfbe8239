//! Listening for the host, on this machine only.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use crate::error::{Diagnostic, Result};

/// Listens at `tcp:HOST:PORT`.
///
/// # Errors
/// When the address does not have this form, is not a loopback address, or is in use.
pub fn listen(address: &str) -> Result<TcpListener> {
    let tried = format!("listening at {address}");
    let Some(place) = address.strip_prefix("tcp:") else {
        return Err(Diagnostic::new(
            tried,
            "the address does not begin with `tcp:`",
            "write it like tcp:127.0.0.1:7817",
        ));
    };
    let addresses: Vec<SocketAddr> = place
        .to_socket_addrs()
        .map_err(|e| Diagnostic::new(&tried, e, "write it like tcp:127.0.0.1:7817"))?
        .collect();
    if let Some(open) = addresses.iter().find(|a| !a.ip().is_loopback()) {
        return Err(Diagnostic::new(
            tried,
            format!("{} can be reached from the network, and the stream is not protected", open.ip()),
            "listen at tcp:127.0.0.1:PORT and forward it: `adb forward`, `hdc fport` or `ssh -L`",
        ));
    }
    TcpListener::bind(addresses.as_slice()).map_err(|e| {
        Diagnostic::new(
            tried,
            e,
            "end the other program at this port (another agent?), or choose another port with --listen",
        )
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn never_open_to_the_network() {
        for address in ["tcp:0.0.0.0:0", "tcp:[::]:0"] {
            let e = listen(address).unwrap_err();
            assert!(e.answer.contains("network") && e.help.contains("forward"), "{e}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(crate::link::listen("0.0.0.0:1").unwrap_err().help.contains("tcp:"));
        assert!(listen("tcp:nonsense").is_err());
        let first = listen("tcp:127.0.0.1:0").unwrap();
        let taken = format!("tcp:{}", first.local_addr().unwrap());
        assert!(listen(&taken).unwrap_err().help.contains("another port"));
    }
}
