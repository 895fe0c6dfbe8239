//! The port of this machine that leads to the agent.

use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::board::Board;
use super::connector::Forwarding;
use super::run::{Call, Host};
use super::state::Ports;
use crate::{Diagnostic, Result};

/// How long a connection to a forwarded port, or to a board, may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the port is forwarded to the board already.
///
/// # Errors
/// If something else uses it. That is checked before anything starts.
pub(super) fn check(board: &Board<'_>, ports: Ports) -> Result<bool> {
    let taken = match board.connector.forwarding(board.host, ports)? {
        Forwarding::Ours => return Ok(true),
        Forwarding::Taken(by) => by,
        Forwarding::None if board.host.dry || connect(here(ports), Duration::ZERO).is_none() => {
            return Ok(false);
        }
        Forwarding::None => listener(board.host, ports.here)
            .unwrap_or_else(|| "a program of this machine listens there".to_owned()),
    };
    Err(Diagnostic::new(
        format!("using port {} of this machine", ports.here),
        taken,
        "choose another one: --port N; analyze needs it too: tcp:127.0.0.1:N",
    ))
}

/// Forwards, unless it is done, and checks that the agent can be reached.
pub(super) fn forward(board: &mut Board<'_>, ports: Ports, done: bool) -> Result<()> {
    if done {
        board.host.note(&format!("port {} is forwarded already", ports.here));
        if reaches(board, here(ports), ports.there)? {
            return Ok(());
        }
        // The rule of a connection that broke carries nothing.
        board.host.note("… and leads nowhere: making it again");
        board.connector.unforward(board.host, ports)?;
    }
    let answer = board.connector.forward(board.host, ports)?;
    if !answer.ok() {
        return Err(answer.error(format!("forwarding port {}", ports.here), "choose another one: --port N"));
    }
    if reaches(board, here(ports), ports.there)? {
        return Ok(());
    }
    board.connector.unforward(board.host, ports)?;
    Err(Diagnostic::new(
        format!("connecting to the agent through port {}", ports.here),
        "the connection did not reach it",
        "allow forwarding on the board (sshd: AllowTcpForwarding; SELinux), or record without a port: --file -- COMMAND",
    ))
}

fn here(ports: Ports) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, ports.here).into()
}

/// Whether a connection to this address reaches the agent's port on the board. A forwarded port
/// accepts connections even if nothing listens on the board, so the board's kernel is asked.
fn reaches(board: &Board<'_>, address: SocketAddr, there: u16) -> Result<bool> {
    board.host.note(&format!("connecting to {address}"));
    let connection = if board.host.dry { None } else { connect(address, PATIENCE) };
    if connection.is_none() && !board.host.dry {
        return Ok(false);
    }
    // Local address with this port, remote address, state 01: established.
    let answer = board.as_root(&format!(
        "i=0; until cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qE '^ *[0-9]+: [0-9A-F]+:{there:04X} [0-9A-F:]+ 01 '; do \
         [ $((i+=1)) -lt 10 ] || exit 1; sleep 0.3; done"
    ))?;
    drop(connection);
    Ok(answer.ok())
}

/// Whether the agent answers at its network address.
pub(super) fn answers(board: &Board<'_>, address: &str, port: u16) -> Result<()> {
    let place = (address, port).to_socket_addrs().ok().and_then(|mut all| all.next());
    let reached = match place {
        Some(place) => reaches(board, place, port)?,
        None => board.host.dry,
    };
    if reached {
        return Ok(());
    }
    Err(Diagnostic::new(
        format!("connecting to the agent at {address} port {port}"),
        "the connection did not reach it",
        "name the board's address: --address HOST; let the port through its firewall, or leave --key out: the port is forwarded then",
    ))
}

/// Connects, and retries for some time.
fn connect(address: SocketAddr, patience: Duration) -> Option<TcpStream> {
    let begun = Instant::now();
    loop {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Some(stream),
            Err(_) if begun.elapsed() < patience => sleep(Duration::from_millis(200)),
            Err(_) => return None,
        }
    }
}

/// The program that listens, where the system can name it.
fn listener(host: &Host, port: u16) -> Option<String> {
    let filter = format!("sport = :{port}");
    let answer = host.run(&Call::new(["ss", "-Hltnp", &filter]).quiet()).ok()?;
    let (name, rest) = answer.text.split_once("users:((\"")?.1.split_once('"')?;
    let pid: String = rest.split_once("pid=")?.1.chars().take_while(char::is_ascii_digit).collect();
    Some(format!("{name}, process {pid}, listens there"))
}
