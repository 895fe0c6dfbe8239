//! The program of a command that the agent is to start.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Diagnostic, Result};

/// Machines by their number in an ELF header (`e_machine`).
const MACHINES: [(u16, &str); 7] = [
    (3, "32-bit x86"),
    (40, "32-bit ARM"),
    (62, "x86-64"),
    (183, "aarch64"),
    (243, "RISC-V"),
    (258, "LoongArch"),
    (8, "MIPS"),
];

/// Those that this machine can run: its own, and the 32-bit one.
const OWN: [u16; 2] = if cfg!(target_arch = "aarch64") { [183, 40] } else { [62, 3] };

/// A program for another machine would be run by the shell as a script, with an answer that names no machine.
///
/// # Errors
/// If the program is made for another machine.
pub fn check(command: &[OsString], shown: &str) -> Result<()> {
    let found = command.first().and_then(|program| find(program, env::var_os("PATH").as_deref()));
    let Some(machine) = found.and_then(|path| machine(&path)).filter(|machine| !OWN.contains(machine)) else {
        return Ok(());
    };
    let name = |number: u16| {
        MACHINES.iter().find(|(n, _)| *n == number).map_or("another machine", |(_, name)| *name)
    };
    Err(Diagnostic::new(
        format!("starting `{shown}`"),
        format!("it is a program for {}, and this machine is {}", name(machine), name(OWN[0])),
        "start the build of the engine for this machine",
    ))
}

/// The file that execvp(3) runs.
fn find(program: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(program.into());
    }
    env::split_paths(path?).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// The machine in the header of an ELF file.
fn machine(path: &Path) -> Option<u16> {
    let mut header = [0; 20];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    let number = [header[18], header[19]];
    match header {
        [0x7f, b'E', b'L', b'F', _, 1, ..] => Some(u16::from_le_bytes(number)),
        [0x7f, b'E', b'L', b'F', _, 2, ..] => Some(u16::from_be_bytes(number)),
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn programs_of_other_machines_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let program = |name: &str, machine: u8| {
            let mut header = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\0\0";
            header[18] = machine;
            let path = dir.path().join(name);
            std::fs::write(&path, header).unwrap();
            path
        };
        let refused = |path: &Path| check(&[path.into()], "x").err().map(|e| e.to_string());
        let own = u8::try_from(OWN[0]).unwrap();
        assert_eq!(refused(&program("own", own)), None);
        let said = refused(&program("riscv", 243)).unwrap();
        assert!(said.contains("RISC-V") && said.contains("starting `x`"), "{said}");
        std::fs::write(dir.path().join("script"), "#!/bin/sh\nexit 0\n").unwrap();
        assert_eq!(refused(&dir.path().join("script")), None);
        assert_eq!(refused(&dir.path().join("none")), None);
        let path = env::join_paths([Path::new("/nowhere"), dir.path()]).unwrap();
        assert_eq!(find(OsStr::new("riscv"), Some(&path)), Some(dir.path().join("riscv")));
    }
}
