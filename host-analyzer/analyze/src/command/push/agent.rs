//! The agent's file: which one, and on the board.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::board::Board;
use super::run::Answer;
use super::wait;
use crate::{Diagnostic, Result};

/// Names a folder of agents.
const VARIABLE: &str = "PROFINFER_AGENTS";

/// The files of an agent on the board. Each is in the folder that the user can choose.
pub(super) struct Files {
    pub(super) dir: String,
}

impl Files {
    pub(super) fn agent(&self) -> String {
        format!("{}/profinfer-agent", self.dir)
    }

    pub(super) fn key(&self) -> String {
        format!("{}/profinfer-agent.key", self.dir)
    }

    pub(super) fn recording(&self) -> String {
        format!("{}/profinfer-agent.pfi", self.dir)
    }
}

/// The agent for this machine.
pub(crate) fn here() -> Result<PathBuf> {
    find(None, env::consts::ARCH, false)
}

/// The agent for a machine: the named file, else the first that exists.
pub(super) fn find(named: Option<&PathBuf>, machine: &str, dry: bool) -> Result<PathBuf> {
    let candidates = match named {
        Some(path) => vec![path.clone()],
        None => candidates(machine, &|name| env::var_os(name).map(PathBuf::from), env::current_exe().ok()),
    };
    let found = candidates.iter().find(|path| path.is_file());
    let Some(path) = found else {
        if dry && let Some(first) = candidates.last() {
            return Ok(first.clone());
        }
        let looked: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
        return Err(Diagnostic::new(
            format!("looking for the agent for {machine}"),
            format!("there is none at {}", looked.join(", ")),
            format!(
                "from a checkout, build it with scripts/build-agent.sh --arch {machine}, and give no --agent; else give its file with --agent"
            ),
        ));
    };
    if !dry {
        check(path, machine)?;
    }
    Ok(path.clone())
}

/// Where the agent may be: the folder of the variable; else those of a release in the folder of this program,
/// and the one of scripts/build-agent.sh.
fn candidates(
    machine: &str,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    exe: Option<PathBuf>,
) -> Vec<PathBuf> {
    let name = format!("profinfer-agent-{machine}");
    if let Some(folder) = variable(VARIABLE).filter(|folder| !folder.as_os_str().is_empty()) {
        return vec![folder.join(name)];
    }
    // A link to the program, as package managers make them, is not in the folder of the agents.
    let exe = exe.map(|path| path.canonicalize().unwrap_or(path));
    let folder = exe.as_deref().and_then(Path::parent);
    let released = folder.into_iter().flat_map(|dir| {
        let lib = dir.parent().map(|above| above.join("lib/profinfer/agents").join(&name));
        [dir.join("agents").join(&name)].into_iter().chain(lib)
    });
    let cache = variable("PROFINFER_CACHE").or_else(|| Some(variable("HOME")?.join(".cache/profinfer")));
    let built = cache.map(|cache| cache.join("out").join(machine).join("profinfer-agent"));
    released.chain(built).collect()
}

/// Checks that the file is a program for the machine.
fn check(path: &Path, machine: &str) -> Result<()> {
    let tried = || format!("reading the agent {}", path.display());
    let build = format!("give one made for the board: scripts/build-agent.sh --arch {machine} builds it");
    let bytes = fs::read(path).map_err(|e| Diagnostic::new(tried(), e, "check that it can be read"))?;
    match kind(&bytes) {
        None => Err(Diagnostic::new(tried(), "it is no program (not an ELF file)", build)),
        Some(number) if Some(number) == number_of(machine) => Ok(()),
        Some(number) => Err(Diagnostic::new(
            tried(),
            format!("the board is {machine}, and the file is made for another machine (ELF number {number})"),
            build,
        )),
    }
}

/// The machine in an ELF header; both machines with an agent are little-endian.
fn kind(bytes: &[u8]) -> Option<u16> {
    let machine = bytes.strip_prefix(b"\x7fELF")?.get(14..16)?;
    Some(u16::from_le_bytes([machine[0], machine[1]]))
}

fn number_of(machine: &str) -> Option<u16> {
    match machine {
        "aarch64" => Some(183),
        "x86_64" => Some(62),
        _ => None,
    }
}

/// Whether a file of the board is equal to one of this machine. A board without `sha256sum` compares the
/// size, which is enough for a file that was just sent.
pub(super) fn is_same(board: &Board<'_>, here: &Path, there: &str, just_sent: bool) -> Result<bool> {
    let answer = board.there(&format!("sha256sum <{there} 2>/dev/null || wc -c <{there}"))?;
    let bytes = fs::read(here).unwrap_or_default();
    Ok(answer.ok() && equal(&answer, &bytes, just_sent))
}

fn equal(answer: &Answer, bytes: &[u8], just_sent: bool) -> bool {
    let Some(word) = answer.text.split_whitespace().next() else { return false };
    if word.len() == 2 * Sha256::output_size() {
        let digest = Sha256::digest(bytes);
        return word == digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    }
    just_sent && word.parse() == Ok(bytes.len() as u64)
}

/// Copies the agent, unless the board has this file already.
pub(super) fn copy(board: &Board<'_>, agent: &Path, files: &Files) -> Result<()> {
    let path = files.agent();
    if !board.host.dry && is_same(board, agent, &path, false)? {
        board.host.note("the board has this file already");
    } else {
        send(board, agent, files)?;
    }
    let made = board.there(&format!("chmod 755 {path}"))?;
    if made.ok() { Ok(()) } else { Err(made.error(format!("making {path} executable"), ANOTHER_DIR)) }
}

const ANOTHER_DIR: &str = "choose another folder: --dir DIR";

fn send(board: &Board<'_>, agent: &Path, files: &Files) -> Result<()> {
    let (dir, path) = (&files.dir, files.agent());
    let made = board.there(&format!("mkdir -p {dir}"))?;
    if !made.ok() {
        return Err(made.error(
            format!("making the folder {dir} on the board"),
            "choose one that can be written to: --dir DIR",
        ));
    }
    let size = fs::metadata(agent).map_or(0, |m| m.len());
    let limit = wait::for_bytes(board.host.limit(), size);
    let sent = board.connector.put(board.host, agent, &format!("{path}.new"), limit)?;
    if !sent.ok() {
        let left = board.there(&format!("rm -f {path}.new; df {dir}"))?;
        let full = sent.says("o space");
        let said = Answer { text: format!("{}\n{}", sent.text, left.text), status: sent.status };
        return Err(if full {
            said.error(
                format!("copying the agent ({size} bytes) to {dir}, which has no room"),
                "delete what is not needed there, or choose another folder: --dir DIR",
            )
        } else {
            said.error(
                format!("copying the agent to {dir}"),
                "check that the folder is writable and has room, or choose another one: --dir DIR",
            )
        });
    }
    if !board.host.dry && !is_same(board, agent, &format!("{path}.new"), true)? {
        return Err(Diagnostic::new(
            format!("checking the copy {path}.new"),
            "it is not the file that was sent",
            "run this again; if it happens again, the link or the board's memory is at fault",
        ));
    }
    let moved = board.there(&format!("mv {path}.new {path}"))?;
    if moved.ok() { Ok(()) } else { Err(moved.error(format!("replacing {path}"), ANOTHER_DIR)) }
}

/// Runs `--version` on the board.
pub(super) fn try_it(board: &Board<'_>, files: &Files) -> Result<()> {
    let answer = board.as_root(&format!("{} --version", files.agent()))?;
    if !answer.ok() {
        return Err(cannot_run(board, files, answer));
    }
    if !board.host.dry {
        board.host.note(&answer.text);
    }
    Ok(())
}

/// Finds out why the copied program does not run.
fn cannot_run(board: &Board<'_>, files: &Files, mut said: Answer) -> Diagnostic {
    let ask = |line: &str| board.as_root(line).ok().filter(Answer::ok).map(|a| a.text).unwrap_or_default();
    let dir = &files.dir;
    let tried = |why: &str| format!("running the agent from {dir}{why}");
    let mount =
        ask(&format!("df {dir} | tail -n 1")).split_whitespace().next_back().unwrap_or_default().to_owned();
    let mounts = ask("cat /proc/mounts");
    let noexec = mounts.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.nth(1) == Some(mount.as_str())
            && words.nth(1).is_some_and(|o| o.split(',').any(|o| o == "noexec"))
    });
    if said.says("Permission denied") && noexec {
        return said.error(
            tried(", which is mounted noexec"),
            "choose another folder (mount lists them): --dir DIR",
        );
    }
    let format = ["xec format", "not executable", "not found", "syntax error"];
    if format.iter().any(|part| said.says(part)) {
        let help = "the board's kernel cannot run a program of this format: take the static build for this machine, and leave --agent out";
        return said.error(tried(""), help);
    }
    let enforce = ask("getenforce");
    let denied = ask("dmesg | grep 'avc: *denied' | grep profinfer | tail -n 1");
    for (what, text) in [("getenforce", &enforce), ("dmesg", &denied)] {
        if !text.is_empty() {
            said.text.push_str(&format!("\n{what}: {text}"));
        }
    }
    if enforce == "Enforcing" {
        let help = "run setenforce 0 as root on the board (until the next boot), or choose a folder whose label allows programs: --dir DIR";
        return said.error(tried(", which SELinux may forbid"), help);
    }
    said.error(tried(""), format!("try it on the board by hand: {} --version", files.agent()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::{Answer, candidates, equal, kind};

    #[test]
    fn places_of_the_agent() {
        let of = |variables: &[(&str, &str)], exe: &str| {
            let variables: BTreeMap<String, PathBuf> =
                variables.iter().map(|(k, v)| ((*k).to_owned(), PathBuf::from(v))).collect();
            let found = candidates("aarch64", &|name| variables.get(name).cloned(), Some(exe.into()));
            found.iter().map(|p| p.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            of(&[("HOME", "/h")], "/opt/profinfer/bin/analyze"),
            [
                "/opt/profinfer/bin/agents/profinfer-agent-aarch64",
                "/opt/profinfer/lib/profinfer/agents/profinfer-agent-aarch64",
                "/h/.cache/profinfer/out/aarch64/profinfer-agent",
            ]
        );
        assert_eq!(of(&[("PROFINFER_AGENTS", "/a"), ("HOME", "/h")], "/x"), ["/a/profinfer-agent-aarch64"]);
        let built = of(&[("PROFINFER_CACHE", "/c"), ("PROFINFER_AGENTS", "")], "/x");
        assert_eq!(built.last().map(String::as_str), Some("/c/out/aarch64/profinfer-agent"));
    }

    /// The digest is the one that `sha256sum` of coreutils 9.1 prints.
    #[test]
    fn files_that_are_equal() {
        const DIGEST: &str = "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225";
        let of = |text: &str, sent| equal(&Answer { text: text.to_owned(), status: 0 }, b"123456789", sent);
        assert!(of(&format!("{DIGEST}  -"), false) && of(DIGEST, true));
        assert!(!of(&DIGEST.replace("15e2", "15e3"), true));
        assert!(of("9", true) && !of("9", false) && !of("8", true));
        assert!(!of("", true) && !of("sha256sum: not found", true));
    }

    #[test]
    fn machines_of_programs() {
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(18, 0);
        assert_eq!(kind(&elf), None);
        elf.extend([183, 0]);
        assert_eq!(kind(&elf), Some(183));
        assert_eq!(kind(b"#!/bin/sh\nexit 0 # long enough"), None);
    }
}
