//! A listening socket.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use nix::sys::socket::{Backlog, listen};

/// A listening socket. Its backlog is the maximum of the kernel (`net.core.somaxconn`, 4,096).
/// Dropping it removes the socket file.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    path: Option<PathBuf>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Listens at a TCP port.
    ///
    /// # Errors
    /// The error of the system.
    pub fn tcp(socket: TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        listen(&socket, Backlog::MAXALLOWABLE)?;
        Ok(Self { socket: Socket::Tcp(socket), path: None })
    }

    /// Listens at a Unix socket. `path`: the socket file to remove at the end.
    ///
    /// # Errors
    /// The error of the system.
    pub fn unix(socket: UnixListener, path: Option<PathBuf>) -> io::Result<Self> {
        let listener = Self { socket: Socket::Unix(socket), path };
        if let Socket::Unix(socket) = &listener.socket {
            socket.set_nonblocking(true)?;
            listen(socket, Backlog::MAXALLOWABLE)?;
        }
        Ok(listener)
    }

    /// The next connection, non-blocking, and its name. `None` if none waits.
    #[must_use]
    pub fn accept(&self) -> Option<(File, String)> {
        let (socket, name): (OwnedFd, _) = match &self.socket {
            Socket::Tcp(listener) => {
                let (socket, from) = listener.accept().ok()?;
                socket.set_nonblocking(true).ok()?;
                (socket.into(), format!("host {from}"))
            }
            Socket::Unix(listener) => {
                let (socket, _) = listener.accept().ok()?;
                socket.set_nonblocking(true).ok()?;
                (socket.into(), "the host".to_owned())
            }
        };
        Some((File::from(socket), name))
    }

    /// The port that the kernel chose. `None` for a Unix socket.
    #[must_use]
    pub fn port(&self) -> Option<std::net::SocketAddr> {
        match &self.socket {
            Socket::Tcp(listener) => listener.local_addr().ok(),
            Socket::Unix(_) => None,
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Tcp(listener) => listener.as_fd(),
            Socket::Unix(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}
