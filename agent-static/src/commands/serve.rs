//! The command `serve`: sessions with one host after another.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use profinfer_secure::Refusal;

use super::{DEFAULT_NAME, check_rights, key, status};
use crate::cli::Serve;
use crate::confine;
use crate::error::{Diagnostic, Result, log};
use crate::link::output::Kind;
use crate::link::{self, Acceptor, Client, Output, Place, Reader};
use crate::request::limits;
use crate::request::plan::Plan;
use crate::session;
use crate::session::host::{Host, read_plan};
use crate::signals::Signals;
use crate::target::process::Target;

pub(super) fn serve(options: &Serve) -> Result<i32> {
    check_rights()?;
    let key = key::read(options.key.as_deref())?;
    let keyed = key.is_some();
    let mut place = link::listen(&options.listen, key)?;
    // Removed when `serve` returns, a signal included.
    let _port_file = options.port_file.as_deref().map(|path| PortFile::write(path, &place)).transpose()?;
    let signals = Signals::new()?;
    let own = options.target.target(false, &options.awaited, &options.user);
    let starts_program = own.as_ref().is_some_and(Target::starts_program);
    if !starts_program {
        let _ = confine::begin();
    }
    if keyed {
        log("only hosts with the key can connect");
    }
    log(&format!("waiting for a host at {}", place_of(&place, &options.listen)));
    loop {
        let (mut reader, sealer, name, acceptor): (_, _, _, Option<&mut Acceptor>) = match &mut place {
            Place::Acceptor(acceptor) => {
                let Some(Client { reader, sealer, name, .. }) = acceptor.wait(&signals) else { return Ok(0) };
                (reader, sealer, name, Some(&mut **acceptor))
            }
            Place::Serial(port) => {
                let line: File = port.descriptor().map(OwnedFd::into).map_err(no_link)?;
                (Reader::new(line, None), None, format!("the host at {}", options.listen), None)
            }
        };
        let kind = if acceptor.is_some() { Kind::Connection } else { Kind::Serial };
        let read =
            read_plan(&mut reader, kind, &signals).and_then(|plan| plan.map(limits::checked).transpose());
        let output = Output::new(reader.writer().map_err(no_link)?, kind, name.clone());
        let output = output.map_err(no_link)?.sealed(sealer);
        let plan = match read {
            Ok(Some(plan)) => Plan { only: options.once || starts_program, ring_bytes: options.ring, ..plan },
            Ok(None) => return Ok(0),
            Err(e) => {
                log(&e.to_string());
                if reader.came_with_key() {
                    reader.refuse(Refusal::NoKeyHere);
                } else {
                    session::refuse(output, &e, &signals);
                }
                continue;
            }
        };
        let target = own.clone().unwrap_or_else(|| {
            let name = if plan.target.is_empty() { DEFAULT_NAME.to_owned() } else { plan.target.clone() };
            Target::Name { name, restarts: options.awaited.restarts }
        });
        log(&format!("{name}: capturing"));
        let mut host = Host::new(reader, acceptor);
        let result = session::run(&plan, &target, output, &signals, &mut host);
        match &result {
            Ok(summary) => {
                log(&format!("{name}: {}", summary.line()));
                if let Some(error) = &summary.error {
                    log(&format!("{name}: {error}"));
                }
            }
            Err(e) => log(&format!("{name}: {e}")),
        }
        if options.once || starts_program || signals.asked_to_end() {
            return result.map(|s| status(&s));
        }
    }
}

/// The listen address, with the port that the kernel chose.
fn place_of(place: &Place, asked: &str) -> String {
    match place {
        Place::Acceptor(acceptor) => {
            acceptor.listener().port().map_or_else(|| asked.to_owned(), |a| format!("tcp:{a}"))
        }
        Place::Serial(port) => format!("{asked}, {} baud", port.baud()),
    }
}

fn no_link(e: std::io::Error) -> Diagnostic {
    Diagnostic::new("using the connection to the host", e, "connect again")
}

/// A file that contains the port, while it exists.
struct PortFile(PathBuf);

impl PortFile {
    /// Renames a complete file, so that a reader never sees a part of the number.
    fn write(path: &Path, place: &Place) -> Result<Self> {
        let tried = || format!("writing the port to {}", path.display());
        let port = match place {
            Place::Acceptor(acceptor) => acceptor.listener().port(),
            Place::Serial(_) => None,
        };
        let port = port.ok_or_else(|| {
            let help = "listen at tcp:HOST:PORT, or leave --port-file out";
            Diagnostic::new(tried(), "the address has no port", help)
        })?;
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".{}", std::process::id()));
        let written = fs::write(&partial, format!("{}\n", port.port()))
            .and_then(|()| fs::rename(&partial, path))
            .inspect_err(|_| drop(fs::remove_file(&partial)));
        written.map_err(|e| Diagnostic::new(tried(), e, "choose another place with --port-file"))?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for PortFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
