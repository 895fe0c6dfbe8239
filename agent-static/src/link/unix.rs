//! Listening at a Unix socket: a socket file for its owner only, or an abstract socket.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;

use nix::sys::stat::{Mode, umask};

use crate::error::{Diagnostic, Result};

/// Listens at a path, with mode 0600. Replaces a socket at which no program listens.
///
/// # Errors
/// If the path is another kind of file, a program listens there, or the folder cannot be written.
pub fn at_path(path: &Path) -> Result<UnixListener> {
    let failed = |e: &dyn std::fmt::Display| {
        Diagnostic::new(
            format!("listening at unix:{}", path.display()),
            e,
            "stop the other program at this socket (another agent?), or choose another path with --listen",
        )
    };
    if let Ok(meta) = path.symlink_metadata() {
        if !meta.file_type().is_socket() {
            return Err(failed(&"the path is a file, not a socket"));
        }
        match UnixStream::connect(path) {
            Ok(_) => return Err(failed(&"another program listens there")),
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(|e| failed(&e))?;
            }
            Err(e) => return Err(failed(&e)),
        }
    }
    // The umask sets the mode when the socket is created, not afterwards.
    let before = umask(Mode::from_bits_truncate(0o177));
    let listener = UnixListener::bind(path);
    umask(before);
    listener.map_err(|e| failed(&e))
}

/// Listens at an abstract socket. As with a loopback port, every user of this machine can connect.
///
/// # Errors
/// If the name is in use or too long.
pub fn at_name(name: &str) -> Result<UnixListener> {
    SocketAddr::from_abstract_name(name).and_then(|address| UnixListener::bind_addr(&address)).map_err(|e| {
        Diagnostic::new(
            format!("listening at unix:@{name}"),
            e,
            "stop the other program at this socket (another agent?), or choose another name with --listen",
        )
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn for_its_owner_alone_and_over_a_dead_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent.sock");
        let first = at_path(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
        assert!(at_path(&path).unwrap_err().answer.contains("listens"), "it lives");
        drop(first);
        assert!(at_path(&path).is_ok(), "it is dead");
        let file = dir.path().join("file");
        std::fs::write(&file, "precious").unwrap();
        assert!(at_path(&file).unwrap_err().answer.contains("a file"));
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");
        assert!(at_path(Path::new("/nowhere/agent.sock")).is_err());
    }

    #[test]
    fn a_name_is_taken_once() {
        let name = format!("profinfer-test-{}", std::process::id());
        let first = at_name(&name).unwrap();
        assert!(at_name(&name).unwrap_err().help.contains("--listen"));
        drop(first);
        assert!(at_name(&name).is_ok());
        assert!(at_name(&"n".repeat(200)).is_err());
    }
}
