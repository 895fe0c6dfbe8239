//! Listening at a TCP port: on a loopback address, or with a key.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use crate::error::{Diagnostic, Result};

/// Listens at `HOST:PORT`. An address that the network can reach requires a key.
///
/// # Errors
/// If the address is malformed, can be reached from the network without a key, or is in use.
pub fn listen(place: &str, keyed: bool) -> Result<TcpListener> {
    let tried = format!("listening at tcp:{place}");
    let addresses: Vec<SocketAddr> = place
        .to_socket_addrs()
        .map_err(|e| Diagnostic::new(&tried, e, "use the form tcp:127.0.0.1:7817"))?
        .collect();
    if let Some(open) = addresses.iter().find(|a| !a.ip().is_loopback() && !keyed) {
        return Err(Diagnostic::new(
            tried,
            format!("{} can be reached from the network, and no key restricts who can connect", open.ip()),
            "add `--key FILE` with a file from `profinfer-agent keygen`, or listen at tcp:127.0.0.1:PORT and forward it with \
             `adb forward`, `hdc fport` or `ssh -L`",
        ));
    }
    TcpListener::bind(addresses.as_slice()).map_err(|e| {
        Diagnostic::new(
            tried,
            e,
            "stop the other program at this port (another agent?), or choose another port with --listen",
        )
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn open_to_the_network_with_a_key_only() {
        for address in ["0.0.0.0:0", "[::]:0"] {
            let e = listen(address, false).unwrap_err();
            assert!(
                e.answer.contains("network") && e.help.contains("--key") && e.help.contains("forward"),
                "{e}"
            );
        }
        assert!(listen("0.0.0.0:0", true).is_ok() && listen("127.0.0.1:0", true).is_ok());
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(listen("nonsense", true).is_err());
        let first = listen("127.0.0.1:0", false).unwrap();
        let taken = first.local_addr().unwrap().to_string();
        assert!(listen(&taken, false).unwrap_err().help.contains("another port"));
    }
}
